// SPDX-License-Identifier: MIT
//
// Writes times of lines of text, to the microsecond.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace elog {

/// Caches the text of the last second: consecutive times usually share it.
class time_of_day {
  public:
    enum class zone { local, utc, none };

    /// local time; UTC, followed by a Z; or the time of a clock without a zone. `today`: see
    /// append_dated.
    explicit time_of_day(zone shown = zone::local,
                         std::optional<std::int64_t> today = std::nullopt) noexcept;

    /// Appends 14:03:07.123456, of nanoseconds since 1970.
    void append_to(fmt::memory_buffer& out, std::int64_t nanoseconds);
    /// The same, but from the first time on that is not on the day of `today`, with the date:
    /// 2026-11-21 14:03:07.123456. Without `today` never with the date.
    void append_dated(fmt::memory_buffer& out, std::int64_t nanoseconds);
    /// Appends 2026-11-21, the day of that time.
    void append_date(fmt::memory_buffer& out, std::int64_t nanoseconds);

  private:
    static constexpr std::size_t date_size = 32;

    void update_cache(std::int64_t seconds) noexcept;
    void append_cached(fmt::memory_buffer& out, std::int64_t nanoseconds) const;

    zone zone_;
    bool shows_date_ = false;
    char today_[date_size] = {};       // YYYY-MM-DD, or empty
    std::int64_t second_ = INT64_MIN;  // the second of both texts
    char clock_text_[16] = {};         // HH:MM:SS
    char date_text_[date_size] = {};   // YYYY-MM-DD
};

/// Appends seconds to the microsecond, 12.000034, right-aligned to `width` columns.
void append_seconds(fmt::memory_buffer& out, std::int64_t nanoseconds, std::size_t width = 0);

}  // namespace elog
