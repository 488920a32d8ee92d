// SPDX-License-Identifier: MIT
//
// elog doctor: checks the requirements of recording; with --all, or as elog features, lists all
// features of the kernel and user space that eventlog uses.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "base/output.hpp"
#include "commands.hpp"
#include "doctor/view.hpp"
#include "terminal/wrapped_text.hpp"
#include "text/escaped_text.hpp"

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

std::string as_text(const std::vector<finding>& findings) {
    fmt::memory_buffer text;
    for (const finding& each : findings) {
        // With paths, which may have any characters.
        std::string row = fmt::format(
            "{:<8} {:<17} {}", doctor::requirements_view.name_of(each.state), each.name, each.text);
        if (!each.repair.empty()) {
            row += fmt::format(" {}: {}", each.as_root ? "As root" : "Run", each.repair);
        }
        append_visible(text, row);
        text.push_back('\n');
    }
    return fmt::to_string(text);
}

void run_doctor(bool json) {
    const std::vector<finding> findings = doctor::find_rows(doctor::requirements_view);
    const auto missing = std::count_if(findings.begin(), findings.end(), [](const finding& each) {
        return each.state == check_state::missing;
    });
    const char* head = missing == 0 ? "  \"healthy\": true,\n" : "  \"healthy\": false,\n";
    write_all(STDOUT_FILENO, json ? doctor::rows_as_json(doctor::requirements_view, findings, head)
                                  : as_text(findings));
    if (missing != 0) {
        throw user_error(
            "{} of {} items are missing. Run the commands after them, then elog doctor again.",
            missing, findings.size());
    }
}

}  // namespace

void add_doctor(command_line& line) {
    subcommand command =
        line.add_subcommand("doctor", "Check the requirements of recording, and name repairs");
    const auto all = std::make_shared<bool>(false);
    const auto json = std::make_shared<bool>(false);
    command.add_flag("--all", *all, "List all features, also those that recording does not need");
    command.add_flag("-j,--json", *json, "Write a JSON object");
    command.footer("The exit status is 1 if a requirement is missing; notes and features do not "
                   "count.\n"
                   "Examples:\n"
                   "  elog doctor || elog doctor --json | jq -r '.checks[].remedy'\n"
                   "  elog doctor --all");
    command.action([all, json] { *all ? run_features(*json) : run_doctor(*json); });
}

void add_features(command_line& line) {
    subcommand command = line.add_hidden("features");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Write a JSON object");
    command.footer("The same as elog doctor --all.\n"
                   "Examples:\n"
                   "  elog features\n"
                   "  elog features --json | jq -r '.checks[].name'");
    command.action([json] { run_features(*json); });
}

}  // namespace elog
