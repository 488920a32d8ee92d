// SPDX-License-Identifier: MIT
//
// Checks of programs that work with eventlog, and of what the output can show.
#include <unistd.h>
#include <zstd.h>

#include <utility>

#include <fmt/core.h>

#include "base/zstd_frames.hpp"
#include "doctor/check.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"

namespace elog::doctor {
namespace {

check_result check_program(const char* name, const char* package) {
    if (has_program(name)) {
        return {good, fmt::format("{} is installed.", name)};
    }
    finding absent{
        limited,
        fmt::format("{} is not installed. It can record events that go through the kernel.", name)};
    if (has_program("apt-get")) {
        absent.repair = fmt::format("apt-get install {}", package);
        absent.as_root = true;
    }
    return {std::move(absent), {}};
}

}  // namespace

check_result check_perf_program(const machine_facts& /*machine*/) {
    return check_program("perf", "linux-perf");
}

check_result check_trace_cmd(const machine_facts& /*machine*/) {
    return check_program("trace-cmd", "trace-cmd");
}

check_result check_compression(const machine_facts& /*machine*/) {
    return {good, fmt::format("{}, levels {} to {}", ::ZSTD_versionString(), compression_level_min,
                              compression_level_max)};
}

check_result check_terminal(const machine_facts& /*machine*/) {
    const terminal_style style = style_of(STDOUT_FILENO);
    if (::isatty(STDOUT_FILENO) != 1) {
        return {
            missing, "the output is no terminal",
            fmt::format("Run elog on a terminal: otherwise lines have {} columns and no colours.",
                        style.width)};
    }
    if (!style.has_colours) {
        return {limited, fmt::format("{} columns, no colours", style.width),
                "Unset NO_COLOR, and set TERM to the type of the terminal."};
    }
    return {good, fmt::format("{} columns, colours", style.width)};
}

check_result check_character_encoding(const machine_facts& /*machine*/) {
    const locale_choice chosen = character_locale();
    if (chosen.is_utf8()) {
        return {good, fmt::format("{} ({})", chosen.name, chosen.variable)};
    }
    return {missing,
            chosen.variable == nullptr ? std::string("no locale is chosen")
                                       : fmt::format("{} ({})", chosen.name, chosen.variable),
            "Set LC_ALL=C.UTF-8, if the terminal shows UTF-8. Until then bars are of plain "
            "characters."};
}

}  // namespace elog::doctor
