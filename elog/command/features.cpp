// SPDX-License-Identifier: MIT
//
// elog features: lists features of the kernel and user space that eventlog uses.
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "base/output.hpp"
#include "commands.hpp"
#include "doctor/view.hpp"
#include "terminal/wrapped_text.hpp"

namespace elog {
namespace {

using doctor::check_state;
using doctor::finding;

constexpr std::size_t state_column = 14;
constexpr std::size_t value_column = 23;

paint paint_of(check_state state) {
    switch (state) {
        case check_state::good:
            return paint::plain;
        case check_state::limited:
            return paint::magenta;
        case check_state::missing:
            return paint::red;
    }
    return paint::plain;
}

void append_text(fmt::memory_buffer& out, const finding& each, const terminal_style& style) {
    {
        wrapped_line line(out, style, 0, value_column);
        line.add(each.name, paint::strong);
        line.fill_to(state_column);
        line.add(doctor::features_view.name_of(each.state), paint_of(each.state));
        line.fill_to(value_column);
        line.add_words(each.text);
    }
    if (!each.repair.empty()) {
        wrapped_line line(out, style, value_column, value_column);
        line.add_words(each.repair, paint::faint);
    }
}

void run_features(bool json) {
    const std::vector<finding> found = doctor::find_rows(doctor::features_view);
    if (json) {
        write_all(STDOUT_FILENO, doctor::rows_as_json(doctor::features_view, found));
        return;
    }
    fmt::memory_buffer out;
    for (const finding& each : found) {
        append_text(out, each, style_of(STDOUT_FILENO));
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()});
}

}  // namespace

void add_features(command_line& line) {
    subcommand command = line.add_subcommand(
        "features", "List features of this machine, and remedies for missing ones");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Write a JSON object");
    command.footer(
        "Recording works without most features: elog doctor checks the requirements.\n"
        "Example:\n"
        "  elog features --json | jq -r '.checks[] | select(.state != \"yes\") | .remedy'");
    command.action([json] { run_features(*json); });
}

}  // namespace elog
