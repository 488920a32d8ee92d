// SPDX-License-Identifier: MIT
#include "kernel/kernel_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <system_error>

namespace eventlog::tracefs {

std::optional<std::string> take(char* text) {
    if (text == nullptr) {
        return std::nullopt;
    }
    std::string taken = text;
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): allocated in C
    return taken;
}

std::string_view take_line(std::string_view& text) noexcept {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::optional<std::uint64_t> leading_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), number);
    return mistake == std::errc{} ? std::optional(number) : std::nullopt;
}

std::uint64_t find_number(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        if (line.starts_with(name) && line.substr(name.size()).starts_with(": ")) {
            return leading_number(line.substr(name.size() + 2)).value_or(0);
        }
    }
    return 0;
}

}  // namespace eventlog::tracefs
