// SPDX-License-Identifier: MIT
//
// Bounds of the loss counts in a file. Larger ones are damage: they are reported and left out, in
// all readers alike.
//
// - A count is at most the number of nanoseconds from the start of the machine to the last clock
//   reading, for each ring: an event takes longer than a nanosecond of a CPU.
// - The losses before a record are numbers of the ring, behind those of the record before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/nanoseconds.hpp"
#include "file/file_format.hpp"
#include "record/clock_converter.hpp"
#include "record/loss.hpp"

namespace elog {

/// The largest possible count. Readings of a damaged file may have any value.
[[nodiscard]] inline std::uint64_t largest_loss(std::uint64_t uptime,
                                                std::uint32_t ring_count) noexcept {
    constexpr std::uint64_t largest = std::uint64_t{1} << 60U;  // 36 years of one CPU
    const std::uint64_t rings = std::max<std::uint32_t>(ring_count, 1);
    // The last losses may follow the reading.
    return (std::min(uptime, largest / rings - one_second) + one_second) * rings;
}

[[nodiscard]] inline std::uint64_t largest_loss(const clock_converter& clock,
                                                std::uint32_t ring_count) noexcept {
    return largest_loss(clock.empty() ? 0 : clock.pairs().back().monotonic, ring_count);
}

/// Sets the counts above `largest` to 0. Returns whether there were any.
[[nodiscard]] inline bool drop_impossible_counts(loss_report& loss,
                                                 std::uint64_t largest) noexcept {
    bool found = false;
    for (std::uint64_t* const count :
         {&loss.full, &loss.too_large, &loss.busy, &loss.unattached, &loss.refused, &loss.no_memory,
          &loss.damaged, &loss.overwritten, &loss.unwritten}) {
        found = found || *count > largest;
        *count = *count > largest ? 0 : *count;
    }
    return found;
}

/// Of the losses that a block states before its records, the possible ones. `next`: the number
/// behind the ring's records before these; 0: unknown.
[[nodiscard]] inline std::uint64_t possible_losses(const records_block& block, std::uint64_t next,
                                                   std::uint64_t largest) noexcept {
    // With a number before that of earlier records, one of the two numbers is damaged.
    const std::uint64_t numbers = block.sequence - (block.sequence < next ? 0 : next);
    const std::uint64_t possible = std::min<std::uint64_t>(block.lost_before, numbers);
    return possible > largest ? 0 : possible;
}

/// The number behind the records of a block, for possible_losses().
[[nodiscard]] inline std::uint64_t number_after(const records_block& block, std::uint64_t records,
                                                std::uint64_t next,
                                                std::uint64_t largest) noexcept {
    return (block.sequence > largest ? next : block.sequence) + records;
}

}  // namespace elog
