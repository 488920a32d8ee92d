// SPDX-License-Identifier: MIT
#include "base/test_override.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/user_error.hpp"

namespace elog {

std::uint64_t test_override(const char* name, std::uint64_t usual, std::uint64_t least,
                            std::uint64_t most) {
    const char* const text = ::secure_getenv(name);
    if (text == nullptr) {
        return usual;
    }
    const std::string_view digits = text;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value);
    if (error != std::errc{} || end != digits.end() || value < least || value > most) {
        throw user_error(
            "The variable {} in the environment is '{}', and not a number from {} to {}. "
            "Unset it.",
            name, digits, least, most);
    }
    return value;
}

}  // namespace elog
