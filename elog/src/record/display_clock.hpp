// SPDX-License-Identifier: MIT
//
// Converts times of records to the clock that the user wants to see.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "record/clock_converter.hpp"
#include "text/utc_text.hpp"

namespace elog {

enum class display_clock : std::uint8_t { realtime, monotonic, boottime, tai };

/// Whether times on the clock are dates, not seconds since the machine's start.
[[nodiscard]] constexpr bool has_days(display_clock which) noexcept {
    return which == display_clock::realtime || which == display_clock::tai;
}

/// The name of the clock in options: "monotonic".
[[nodiscard]] const char* name_of(display_clock which) noexcept;
/// The clock of that name; nullopt if there is none.
[[nodiscard]] std::optional<display_clock> clock_of(std::string_view name) noexcept;

/// A record's time on that clock, in nanoseconds. Throws user_error if the recording has no offsets
/// of that clock.
[[nodiscard]] std::int64_t to_display_time(display_clock which, const clock_converter& clock,
                                           std::uint64_t time);

/// Writes times for programs, to the nanosecond: ISO 8601, or seconds. Caches as utc_text does.
class display_time {
  public:
    explicit display_time(display_clock which) noexcept
        : which_(which), days_(which == display_clock::realtime) {}

    void append_to(fmt::memory_buffer& out, const clock_converter& clock, std::uint64_t time);
    /// Appends a time that to_display_time returned.
    void append_to(fmt::memory_buffer& out, std::int64_t nanoseconds);

  private:
    display_clock which_;
    utc_text days_;
};

}  // namespace elog
