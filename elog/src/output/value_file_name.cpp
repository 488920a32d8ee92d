// SPDX-License-Identifier: MIT
#include "output/value_file_name.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace elog {
namespace {

constexpr std::size_t name_max = 40;
constexpr std::size_t value_max = 90;

bool is_plain(char each) noexcept {
    return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
           (each >= '0' && each <= '9') || each == '_' || each == '-' || each == '+';
}

bool is_plain_at(std::string_view value, std::size_t at) noexcept {
    return at < value.size() && is_plain(value[at]);
}

}  // namespace

std::string value_file_name(std::string_view name, std::string_view value, std::size_t number) {
    std::string encoded;
    std::size_t at = 0;
    for (; at < value.size() && encoded.size() <= value_max; ++at) {
        const char each = value[at];
        const bool is_inner_point =
            each == '.' && at != 0 && is_plain_at(value, at - 1) && is_plain_at(value, at + 1);
        if (is_plain(each) || is_inner_point) {
            encoded += each;
        } else {
            encoded += fmt::format("%{:02X}", static_cast<std::uint8_t>(each));
        }
    }
    const bool is_long = at < value.size() || encoded.size() > value_max;
    return fmt::format("{}={}{}.elog", name.substr(0, name_max), encoded,
                       is_long ? fmt::format("~{}", number) : "");
}

}  // namespace elog
