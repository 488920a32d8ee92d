// SPDX-License-Identifier: MIT
#include "text/utc_text.hpp"

#include <array>
#include <cstddef>
#include <ctime>
#include <string_view>

#include "text/append_format.hpp"
#include "text/escaped_text.hpp"

namespace elog {

void append_realtime(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t rest = (nanoseconds % second + second) % second;
    const std::time_t seconds = nanoseconds / second - (nanoseconds % second < 0 ? 1 : 0);
    std::tm parts{};
    std::array<char, 32> text{};
    if (::gmtime_r(&seconds, &parts) == nullptr ||
        std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts) == 0) {
        append_format(out, "{}ns", nanoseconds);
        return;
    }
    append_format(out, "{}.{:09}Z", static_cast<const char*>(text.data()), rest);
}

void utc_text::append_to(fmt::memory_buffer& out, std::int64_t nanoseconds) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::size_t digits_and_zone = 10;
    const std::int64_t rest = (nanoseconds % second + second) % second;
    const std::int64_t begun = nanoseconds / second - (nanoseconds % second < 0 ? 1 : 0);
    if (begun != second_) {
        text_.clear();
        append_realtime(text_, nanoseconds);
        second_ = begun;
        // A time without calendar text ("...ns") is not cached.
        if (text_[text_.size() - 1] != 'Z') {
            second_ = INT64_MIN;
            append(out, {text_.data(), text_.size()});
            return;
        }
        text_.resize(text_.size() - digits_and_zone);
    }
    append(out, {text_.data(), text_.size()});
    append_format(out, "{:09}{}", rest, has_zone_ ? "Z" : "");
}

std::string as_utc_text(std::int64_t nanoseconds) {
    fmt::memory_buffer out;
    utc_text().append_to(out, nanoseconds);
    return fmt::to_string(out);
}

}  // namespace elog
