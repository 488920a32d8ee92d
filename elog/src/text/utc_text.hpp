// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace elog {

/// ISO 8601, UTC, to the nanosecond.
void append_realtime(fmt::memory_buffer& out, std::int64_t nanoseconds);

/// Times as ISO 8601, to the nanosecond: one after the other, of which most have their second in
/// common.
class utc_text {
  public:
    /// UTC, with a Z behind them; or of another clock, without.
    explicit utc_text(bool has_zone = true) noexcept : has_zone_(has_zone) {}

    void append_to(fmt::memory_buffer& out, std::int64_t nanoseconds);

  private:
    bool has_zone_;
    std::int64_t second_ = INT64_MIN;
    fmt::memory_buffer text_;  // of second_, up to the point
};

/// One time alone, in UTC: nanoseconds since 1970.
[[nodiscard]] std::string as_utc_text(std::int64_t nanoseconds);

}  // namespace elog
