// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace elog {

/// Lines about one kind of mistake: a program that attaches again and again must not fill the
/// terminal.
inline constexpr std::size_t diagnostics_max = 20;

/// Writes a line to standard error. What a terminal would obey is escaped: names of files and
/// patterns are anyone's text. That it cannot be written is no reason to fail.
void print_diagnostic_line(std::string_view line) noexcept;

template <class... Arguments>
void print_diagnostic(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_diagnostic_line(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace elog
