// SPDX-License-Identifier: MIT
#include "text/utc_text.hpp"

#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "base/nanoseconds.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"

namespace elog {

void append_realtime(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    const std::time_t seconds = whole_seconds(nanoseconds);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        append_format(out, "{}ns", nanoseconds);
        return;
    }
    append_format(out, "{}.{:09}Z", static_cast<const char*>(text.data()),
                  rest_of_second(nanoseconds));
}

void utc_text::append_to(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    constexpr std::size_t digits_and_zone = 10;
    const std::int64_t seconds = whole_seconds(nanoseconds);
    if (seconds != second_) {
        text_.clear();
        append_realtime(text_, nanoseconds);
        second_ = seconds;
        // A time without calendar text ("...ns") is not cached.
        if (text_[text_.size() - 1] != 'Z') {
            second_ = INT64_MIN;
            append(out, {text_.data(), text_.size()});
            return;
        }
        text_.resize(text_.size() - digits_and_zone);
    }
    append(out, {text_.data(), text_.size()});
    append_format(out, "{:09}{}", rest_of_second(nanoseconds), has_zone_ ? "Z" : "");
}

std::string as_utc_text(std::int64_t nanoseconds) {
    fmt::memory_buffer out;
    utc_text().append_to(out, nanoseconds);
    return fmt::to_string(out);
}

}  // namespace elog
