// SPDX-License-Identifier: MIT
#include "base/proc_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace elog {

std::optional<std::string> read_text(const eventlog::core::unique_fd& file, std::size_t size_max) {
    std::string text;
    std::array<char, 16384> part{};
    while (file && text.size() < size_max) {
        const ssize_t size = ::read(file.get(), part.data(), part.size());
        if (size == 0) {
            return text;
        }
        if (size < 0 && errno != EINTR) {
            return std::nullopt;
        }
        text.append(part.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    return file ? std::optional(text) : std::nullopt;
}

std::string_view take_until(std::string_view& text, char end) noexcept {
    const std::string_view taken = text.substr(0, text.find(end));
    text.remove_prefix(std::min(taken.size() + 1, text.size()));
    return taken;
}

std::string_view status_value(std::string_view status, std::string_view label) {
    while (!status.empty()) {
        std::string_view line = take_until(status, '\n');
        if (line.starts_with(label)) {
            line.remove_prefix(label.size());
            return line;
        }
    }
    return {};
}

std::vector<unsigned> status_numbers(std::string_view status, std::string_view label) {
    std::vector<unsigned> numbers;
    const std::string_view line = status_value(status, label);
    for (const char* next = line.data(); next != line.data() + line.size();) {
        unsigned number = 0;
        const auto [parsed, wrong] = std::from_chars(next, line.data() + line.size(), number);
        if (wrong == std::errc()) {
            numbers.push_back(number);
            next = parsed;
        } else {
            ++next;
        }
    }
    return numbers;
}

std::string unescape_octal(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned number = 0;
        const char* const end = text.data() + std::min<std::size_t>(text.size(), 4);
        const bool is_escaped = text.front() == '\\' && text.size() >= 4 &&
                                std::from_chars(text.data() + 1, end, number, 8).ptr == end;
        plain += is_escaped ? static_cast<char>(number) : text.front();
        text.remove_prefix(is_escaped ? 4 : 1);
    }
    return plain;
}

}  // namespace elog
