// SPDX-License-Identifier: MIT
//
// Converts a region's clock into time of the system clocks.
//
// Input is untrusted: a damaged file may contain any pair and any time. No conversion overflows,
// and a later clock value never yields an earlier time.
#pragma once

#include <linux/eventlog.h>

#include <cstdint>
#include <vector>

namespace elog {

/// Offsets of two further clocks, valid from a time on.
struct clock_offsets {
    std::uint64_t clock = 0;    // that time, on the region's clock
    std::int64_t boottime = 0;  // CLOCK_BOOTTIME - CLOCK_MONOTONIC, nanoseconds
    std::int64_t tai = 0;       // CLOCK_TAI - CLOCK_REALTIME, nanoseconds
};

/// Interpolates between pairs of readings, and extrapolates before and behind them with the average
/// rate: the clocks may drift against each other, but slowly.
class clock_converter {
  public:
    explicit clock_converter(std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC) noexcept
        : clock_(clock) {}

    /// Adds readings in the order in which they were taken. Ignores one that goes backwards.
    void add(const eventlog_clock_sample& pair);
    void add_offsets(const clock_offsets& offsets);

    [[nodiscard]] std::uint32_t clock() const noexcept { return clock_; }
    [[nodiscard]] bool empty() const noexcept { return pairs_.empty(); }

    /// CLOCK_REALTIME: nanoseconds since 1970.
    [[nodiscard]] std::int64_t realtime(std::uint64_t clock) const noexcept;
    /// CLOCK_MONOTONIC.
    [[nodiscard]] std::int64_t monotonic(std::uint64_t clock) const noexcept;

    /// CLOCK_BOOTTIME, and CLOCK_TAI since 1970. Meaningful only if there are offsets.
    [[nodiscard]] std::int64_t boottime(std::uint64_t clock) const noexcept;
    [[nodiscard]] std::int64_t tai(std::uint64_t clock) const noexcept;

    /// The offsets that were not ignored, in order.
    [[nodiscard]] const std::vector<clock_offsets>& offsets() const noexcept { return offsets_; }
    /// The readings that were not ignored, in order.
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
