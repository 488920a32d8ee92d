// SPDX-License-Identifier: MIT
//
// Turning a region's clock into time.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <vector>

namespace elog {

/// What two more clocks say beside the others, from a time on.
struct clock_offsets {
    std::uint64_t clock = 0;    // that time, on the region's clock
    std::int64_t boottime = 0;  // CLOCK_BOOTTIME less CLOCK_MONOTONIC, nanoseconds
    std::int64_t tai = 0;       // CLOCK_TAI less CLOCK_REALTIME, nanoseconds
};

/// Pairs of readings, between which time is interpolated, and beyond which it is extrapolated with
/// the rate of the whole: the clocks may drift against each other, but slowly.
class clock_converter {
  public:
    explicit clock_converter(std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC) noexcept
        : clock_(clock) {}

    /// In the order in which they were read; one that goes backwards is ignored.
    void add(const eventlog_clock_sample& pair);
    void add_offsets(const clock_offsets& offsets);

    [[nodiscard]] std::uint32_t clock() const noexcept { return clock_; }
    [[nodiscard]] bool empty() const noexcept { return pairs_.empty(); }

    /// Nanoseconds since 1970.
    [[nodiscard]] std::int64_t realtime(std::uint64_t clock) const noexcept;
    /// The same on CLOCK_MONOTONIC.
    [[nodiscard]] std::int64_t monotonic(std::uint64_t clock) const noexcept;

    /// The same on CLOCK_BOOTTIME, and on CLOCK_TAI since 1970. Only if there are offsets.
    [[nodiscard]] std::int64_t boottime(std::uint64_t clock) const noexcept;
    [[nodiscard]] std::int64_t tai(std::uint64_t clock) const noexcept;

    /// In their order, as the readings below.
    [[nodiscard]] const std::vector<clock_offsets>& offsets() const noexcept { return offsets_; }
    /// The readings that were not ignored, in their order.
    [[nodiscard]] const std::vector<eventlog_clock_sample>& pairs() const noexcept {
        return pairs_;
    }

  private:
    [[nodiscard]] std::int64_t convert(std::uint64_t clock,
                                       __u64 eventlog_clock_sample::*to) const noexcept;
    [[nodiscard]] clock_offsets offsets_at(std::uint64_t clock) const noexcept;
    [[nodiscard]] double nanoseconds_per_tick(std::size_t first, std::size_t last) const noexcept;

    std::uint32_t clock_;
    std::vector<eventlog_clock_sample> pairs_;
    std::vector<clock_offsets> offsets_;
};

}  // namespace elog
