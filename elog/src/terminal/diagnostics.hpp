// SPDX-License-Identifier: MIT
//
// Writes messages for the user to standard error.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace elog {

/// Erases the progress line and writes a line to standard error. Escapes control characters: names
/// of files and patterns are untrusted. Ignores errors of writing.
void print_diagnostic_line(std::string_view line) noexcept;

template <class... Arguments>
void print_diagnostic(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    print_diagnostic_line(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Suppresses print_note and progress lines from now on (--quiet). Call before there are threads.
void set_quiet(bool quiet) noexcept;
[[nodiscard]] bool is_quiet() noexcept;

/// Like print_diagnostic, for information that is neither an error nor a loss: summaries, hints.
template <class... Arguments>
void print_note(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (!is_quiet()) {
        print_diagnostic_line(fmt::format(format, std::forward<Arguments>(arguments)...));
    }
}

}  // namespace elog
