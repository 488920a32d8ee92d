// SPDX-License-Identifier: MIT
//
// Writes times as ISO 8601, to the nanosecond.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace elog {

/// Appends one time in UTC, of nanoseconds since 1970.
void append_realtime(fmt::memory_buffer& out, std::int64_t nanoseconds);

/// Caches the text of the last second: consecutive times usually share it.
class utc_text {
  public:
    /// With a Z at the end for UTC; without one for another clock.
    explicit utc_text(bool has_zone = true) noexcept : has_zone_(has_zone) {}

    void append_to(fmt::memory_buffer& out, std::int64_t nanoseconds);

  private:
    bool has_zone_;
    std::int64_t second_ = INT64_MIN;
    fmt::memory_buffer text_;  // of second_, with the point
};

/// The text of one time in UTC, of nanoseconds since 1970.
[[nodiscard]] std::string as_utc_text(std::int64_t nanoseconds);

}  // namespace elog
