// SPDX-License-Identifier: MIT
//
// Formats text into a buffer.
//
// Replaces the template fmt::format_to, which instantiates fmt's formatting in every source that
// calls it and costs seconds of compile time each.
#pragma once

#include <fmt/format.h>

namespace elog {

void append_formatted(fmt::memory_buffer& out, fmt::string_view format, fmt::format_args arguments);

/// The compiler checks the format.
template <class... Arguments>
void append_format(fmt::memory_buffer& out, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
    append_formatted(out, format, fmt::make_format_args(arguments...));
}

}  // namespace elog
