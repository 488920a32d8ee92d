// SPDX-License-Identifier: MIT
//
// Losses that belong to no run of records: at the end of a ring, or counted by a provider.
//
// struct loss_block is part of the .elog file (file_format.hpp). Its values are untrusted.
#pragma once

#include <cstdint>

#include "record/loss_names.hpp"

namespace elog {

enum class loss_scope : std::uint32_t {
    ring = 1,      // at the end of the ring, behind its last record
    provider = 2,  // counted by a provider, and by no ring
};

struct loss_block {
    std::uint32_t scope;
    std::uint32_t index;  // of ring or provider
    std::uint64_t full;
    std::uint64_t too_large;  // of a ring: see overwritten_count
    std::uint64_t busy;
    std::uint64_t damaged;
};

static_assert(sizeof(loss_block) == 40);

/// The number of lost events that a block adds. Events of a provider that found its ring full are
/// counted by the ring.
constexpr std::uint64_t lost_count(const loss_block& loss) noexcept {
    return static_cast<loss_scope>(loss.scope) == loss_scope::ring ? loss.full + loss.damaged
                                                                   : loss.too_large + loss.busy;
}

/// The part of the events missing at a ring's end that were recorded and then overwritten (see
/// records_overwritten), limited to the missing ones.
constexpr std::uint64_t overwritten_count(const loss_block& loss) noexcept {
    const bool is_of_ring = static_cast<loss_scope>(loss.scope) == loss_scope::ring;
    return !is_of_ring ? 0 : loss.too_large < loss.full ? loss.too_large : loss.full;
}

/// The block of a ring that misses `missing` events at its end, `overwritten` of them overwritten.
constexpr loss_block trailing_loss(std::uint32_t ring, std::uint64_t missing,
                                   std::uint64_t overwritten, std::uint64_t damaged) noexcept {
    return {static_cast<std::uint32_t>(loss_scope::ring), ring, missing, overwritten, 0, damaged};
}

/// Calls visit(number, reason) for each reason for which events of the ring or provider are
/// missing. The reasons are those of loss_names.hpp. A provider's events that found a ring full are
/// visited with the ring's block.
template <class Visitor>
void for_each_loss_reason(const loss_block& loss, Visitor&& visit) {
    const auto visit_any = [&visit](std::uint64_t number, const char* reason) {
        if (number != 0) {
            visit(number, reason);
        }
    };
    if (static_cast<loss_scope>(loss.scope) == loss_scope::ring) {
        visit_any(loss.full - overwritten_count(loss), loss_name::full);
        visit_any(overwritten_count(loss), loss_name::overwritten);
        visit_any(loss.damaged, loss_name::damaged);
    } else {
        visit_any(loss.too_large, loss_name::too_large);
        visit_any(loss.busy, loss_name::busy);
    }
}

}  // namespace elog
