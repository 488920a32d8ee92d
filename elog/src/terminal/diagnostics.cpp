// SPDX-License-Identifier: MIT
#include "terminal/diagnostics.hpp"

#include <unistd.h>

#include <exception>

#include <fmt/format.h>

#include "terminal/progress_line.hpp"
#include "text/escaped_text.hpp"

namespace elog {

namespace {

bool quiet_requested = false;

void write_line(std::string_view line) {
    fmt::memory_buffer out;
    append_visible(out, line);
    out.push_back('\n');
    erase_progress();
    // With one write, so that lines of several processes do not mix.
    static_cast<void>(!::write(STDERR_FILENO, out.data(), out.size()));
}

}  // namespace

void set_quiet(bool quiet) noexcept {
    quiet_requested = quiet;
}

bool is_quiet() noexcept {
    return quiet_requested;
}

void print_diagnostic_line(std::string_view line) noexcept {
    try {
        write_line(line);
    } catch (const std::exception&) {
        constexpr std::string_view instead = "elog: There is no memory to say what happened.\n";
        static_cast<void>(!::write(STDERR_FILENO, instead.data(), instead.size()));
    }
}

}  // namespace elog
