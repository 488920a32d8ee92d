// SPDX-License-Identifier: MIT
#include "text/append_format.hpp"

#include <iterator>

namespace elog {

void append_formatted(fmt::memory_buffer& out, fmt::string_view format,
                      fmt::format_args arguments) {
    fmt::vformat_to(std::back_inserter(out), format, arguments);
}

}  // namespace elog
