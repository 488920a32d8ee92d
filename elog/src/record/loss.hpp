// SPDX-License-Identifier: MIT
//
// Losses that belong to no run of records: at the end of a ring, or counted by a provider.
//
// Counts of a ring or provider are totals: a later report replaces an earlier one. Values read from
// a file are untrusted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/saturating.hpp"
#include "record/loss_names.hpp"

namespace elog {

enum class loss_scope : std::uint8_t {
    ring = 1,      // at the end of the ring, behind its last record
    provider = 2,  // counted by a provider, and by no ring
};

struct loss_report {
    loss_scope scope = loss_scope::ring;
    std::uint32_t index = 0;      // of ring or provider
    std::uint64_t full = 0;       // no room; of a provider: also counted by the rings
    std::uint64_t too_large = 0;  // of a provider, as the next one
    std::uint64_t busy = 0;
    std::uint64_t unattached = 0;
    std::uint64_t refused = 0;      // by the kernel
    std::uint64_t no_memory = 0;    // of the provider's `full`
    std::uint64_t damaged = 0;      // of a ring, as the next ones
    std::uint64_t overwritten = 0;  // of `full`: see overwritten_count
    std::uint64_t unwritten = 0;    // read from the ring, but not written, or in a removed file
    // Of a provider, where the names are known. Without a process number: of other processes.
    std::uint32_t pid = 0;
    std::uint64_t start_time = 0;  // see provider_instance
    std::string process{};
    std::string provider{};
};

/// The name of the process in reports of processes whose names are not known.
inline constexpr const char* other_processes = "other processes";

/// The number of lost events that a report adds. Events of a provider that found its ring full are
/// counted by the ring.
[[nodiscard]] inline std::uint64_t lost_count(const loss_report& loss) noexcept {
    return loss.scope == loss_scope::ring
               ? saturating_sum(loss.full, loss.damaged, loss.unwritten)
               : saturating_sum(loss.too_large, loss.busy, loss.unattached, loss.refused);
}

/// The part of the events missing at a ring's end that were recorded and then overwritten (see
/// record_run), limited to the missing ones.
[[nodiscard]] inline std::uint64_t overwritten_count(const loss_report& loss) noexcept {
    return loss.scope == loss_scope::ring ? std::min(loss.overwritten, loss.full) : 0;
}

/// Numbers of missing events.
struct missing_count {
    std::uint64_t lost = 0;
    std::uint64_t overwritten = 0;  // not lost: newer records replaced them

    void add(const missing_count& other) noexcept {
        add_saturating(lost, other.lost);
        add_saturating(overwritten, other.overwritten);
    }
};

/// Those that a report adds.
[[nodiscard]] inline missing_count missing_of(const loss_report& loss) noexcept {
    const std::uint64_t overwritten = overwritten_count(loss);
    return {lost_count(loss) - overwritten, overwritten};
}

/// The report of a ring that misses `missing` events at its end, `overwritten` of them overwritten.
[[nodiscard]] inline loss_report trailing_loss(std::uint32_t ring, std::uint64_t missing,
                                               std::uint64_t overwritten = 0,
                                               std::uint64_t damaged = 0) {
    loss_report loss;
    loss.index = ring;
    loss.full = missing;
    loss.damaged = damaged;
    loss.overwritten = overwritten;
    return loss;
}

/// The report of a provider, without names.
[[nodiscard]] inline loss_report provider_loss(std::uint32_t provider, std::uint64_t full,
                                               std::uint64_t too_large, std::uint64_t busy) {
    loss_report loss;
    loss.scope = loss_scope::provider;
    loss.index = provider;
    loss.full = full;
    loss.too_large = too_large;
    loss.busy = busy;
    return loss;
}

/// Calls visit(number, reason) for each reason for which events of the ring or provider are
/// missing. The reasons are those of loss_names.hpp. A provider's events that found a ring full are
/// visited with the ring's report.
template <class Visitor>
void for_each_loss_reason(const loss_report& loss, Visitor&& visit) {
    const auto visit_any = [&visit](std::uint64_t number, const char* reason) {
        if (number != 0) {
            visit(number, reason);
        }
    };
    if (loss.scope == loss_scope::ring) {
        visit_any(loss.full - overwritten_count(loss), loss_name::full);
        visit_any(overwritten_count(loss), loss_name::overwritten);
        visit_any(loss.damaged, loss_name::damaged);
        visit_any(loss.unwritten, loss_name::unwritten);
    } else {
        visit_any(loss.too_large, loss_name::too_large);
        visit_any(loss.busy, loss_name::busy);
        visit_any(loss.unattached, loss_name::unattached);
        visit_any(loss.refused, loss_name::refused);
    }
}

}  // namespace elog
