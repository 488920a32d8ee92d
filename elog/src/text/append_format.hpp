// SPDX-License-Identifier: MIT
//
// Formatting into a buffer. fmt::format_to would do; but it is a template, and has the compiler
// make all of fmt's formatting anew in every file that calls it, which takes it seconds.
#pragma once

#include <fmt/format.h>

namespace elog {

void append_formatted(fmt::memory_buffer& out, fmt::string_view format, fmt::format_args arguments);

/// The format is checked when this is compiled.
template <class... Arguments>
void append_format(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
    append_formatted(out, format, fmt::make_format_args(arguments...));
}

}  // namespace elog
