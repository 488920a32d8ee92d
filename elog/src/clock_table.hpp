// SPDX-License-Identifier: MIT
//
// Turning a region's clock into time.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <vector>

namespace elog {

/// Pairs of readings, between which time is interpolated, and beyond which it is extrapolated with
/// the rate of the whole: the clocks may drift against each other, but slowly.
class clock_table {
  public:
    explicit clock_table(std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC) noexcept : clock_(clock) {}

    /// In the order in which they were read; one that goes backwards is ignored.
    void add(const eventlog_clock_pair& pair);

    [[nodiscard]] std::uint32_t clock() const noexcept { return clock_; }
    [[nodiscard]] bool empty() const noexcept { return pairs_.empty(); }

    /// Nanoseconds since 1970.
    [[nodiscard]] std::int64_t realtime(std::uint64_t clock) const noexcept;
    /// The same on CLOCK_MONOTONIC.
    [[nodiscard]] std::int64_t monotonic(std::uint64_t clock) const noexcept;

    /// The readings that were not ignored, in their order.
    [[nodiscard]] const std::vector<eventlog_clock_pair>& pairs() const noexcept { return pairs_; }

  private:
    [[nodiscard]] std::int64_t convert(std::uint64_t clock,
                                       __u64 eventlog_clock_pair::*to) const noexcept;
    [[nodiscard]] double nanoseconds_per_tick(std::size_t first, std::size_t last) const noexcept;

    std::uint32_t clock_;
    std::vector<eventlog_clock_pair> pairs_;
};

}  // namespace elog
