// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace elog {

/// Times as lines of text have them, to the microsecond: one after the other, of which most have
/// their second in common.
class time_of_day {
  public:
    enum class zone { local, utc, none };

    /// In local time; in UTC, with a Z behind it; or of a clock that belongs to no zone.
    explicit time_of_day(zone shown = zone::local) noexcept : zone_(shown) {}

    /// 14:03:07.123456, of nanoseconds since 1970.
    void append_to(fmt::memory_buffer& out, std::int64_t nanoseconds);
    /// 2026-11-21, the day of that time.
    void append_date(fmt::memory_buffer& out, std::int64_t nanoseconds);

  private:
    void update_cache(std::int64_t seconds) noexcept;

    zone zone_;
    std::int64_t second_ = INT64_MIN;  // whose texts are these
    char clock_text_[16] = {};         // HH:MM:SS
    char date_text_[32] = {};          // YYYY-MM-DD
};

/// 12.000034, in seconds to the microsecond, with blanks in front up to that width.
void append_seconds(fmt::memory_buffer& out, std::int64_t nanoseconds, std::size_t width = 0);

}  // namespace elog
