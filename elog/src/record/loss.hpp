// SPDX-License-Identifier: MIT
//
// Losses that no run of records carries: those at the end of a ring, and those that a provider
// counted. struct loss_block is part of the .elog file (file_format.hpp).
#pragma once

#include <cstdint>

namespace elog {

enum class loss_scope : std::uint32_t {
    ring = 1,      // lost at the end of the ring, behind its last record
    provider = 2,  // counted by a provider and by no ring
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

/// What a loss block adds to the events lost: what a provider lost for want of room is in its
/// rings' numbers.
constexpr std::uint64_t lost_count(const loss_block& loss) noexcept {
    return static_cast<loss_scope>(loss.scope) == loss_scope::ring ? loss.full + loss.damaged
                                                                   : loss.too_large + loss.busy;
}

/// Of what a ring is missing at its end: not lost, but overwritten, see records_overwritten. Only a
/// note, too. A damaged file may say anything.
constexpr std::uint64_t overwritten_count(const loss_block& loss) noexcept {
    const bool is_of_ring = static_cast<loss_scope>(loss.scope) == loss_scope::ring;
    return !is_of_ring ? 0 : loss.too_large < loss.full ? loss.too_large : loss.full;
}

/// What is missing at the end of a ring: `missing` events, of which some were overwritten.
constexpr loss_block trailing_loss(std::uint32_t ring, std::uint64_t missing,
                                   std::uint64_t overwritten, std::uint64_t damaged) noexcept {
    return {static_cast<std::uint32_t>(loss_scope::ring), ring, missing, overwritten, 0, damaged};
}

/// Calls visit(number, reason) for each reason for which a ring, or a provider, has lost events.
/// What of a provider found no room is among what the rings have lost.
template <class Visitor>
void for_each_loss_reason(const loss_block& loss, Visitor&& visit) {
    const auto visit_any = [&visit](std::uint64_t number, const char* reason) {
        if (number != 0) {
            visit(number, reason);
        }
    };
    if (static_cast<loss_scope>(loss.scope) == loss_scope::ring) {
        visit_any(loss.full - overwritten_count(loss), "no room");
        visit_any(overwritten_count(loss), "overwritten");
        visit_any(loss.damaged, "damaged");
    } else {
        visit_any(loss.too_large, "too large");
        visit_any(loss.busy, "shared ring busy");
    }
}

}  // namespace elog
