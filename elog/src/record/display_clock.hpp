// SPDX-License-Identifier: MIT
//
// On which clock times are shown.
#pragma once

#include <cstdint>

#include <fmt/format.h>

#include "record/clock_converter.hpp"
#include "text/utc_text.hpp"

namespace elog {

enum class display_clock : std::uint8_t { realtime, monotonic, boottime, tai };

/// Whether its times are days and hours, and not seconds since the machine was started.
[[nodiscard]] constexpr bool has_days(display_clock which) noexcept {
    return which == display_clock::realtime || which == display_clock::tai;
}

/// A record's time on that clock, in nanoseconds. Throws failure if the recording does not say what
/// that clock was.
[[nodiscard]] std::int64_t to_display_time(display_clock which, const clock_converter& clock,
                                           std::uint64_t time);

/// For programs, to the nanosecond: ISO 8601, or seconds. One after the other, as utc_text.
class display_time {
  public:
    explicit display_time(display_clock which) noexcept
        : which_(which), days_(which == display_clock::realtime) {}

    void append_to(fmt::memory_buffer& out, const clock_converter& clock, std::uint64_t time);

  private:
    display_clock which_;
    utc_text days_;
};

}  // namespace elog
