// SPDX-License-Identifier: MIT
//
// A string as a template argument: provider<"tcp", ...>.
#pragma once

#include <cstddef>
#include <string_view>

namespace eventlog {
inline namespace v0 {
namespace detail {

template <std::size_t Size>
struct fixed_string {
    char characters[Size] = {};

    // Implicit on purpose: the conversion turns a literal into the template argument.
    consteval fixed_string(const char (&literal)[Size]) noexcept {
        for (std::size_t i = 0; i < Size; ++i) {
            characters[i] = literal[i];
        }
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return {characters, Size - 1};
    }
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
