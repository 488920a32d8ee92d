// SPDX-License-Identifier: MIT
#include "tell.hpp"

#include <unistd.h>

#include "value_text.hpp"

namespace elog {

void tell_line(std::string_view line) noexcept {
    fmt::memory_buffer out;
    append_visible(out, line);
    out.push_back('\n');
    // In one piece, so that lines of several processes do not mix.
    static_cast<void>(!::write(STDERR_FILENO, out.data(), out.size()));
}

}  // namespace elog
