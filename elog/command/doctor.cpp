// SPDX-License-Identifier: MIT
//
// elog doctor: checks the requirements of recording.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/output.hpp"
#include "commands.hpp"
#include "doctor/view.hpp"

namespace elog {
namespace {

using doctor::check_state;
using doctor::finding;

std::string as_text(const std::vector<finding>& findings) {
    std::string text;
    for (const finding& each : findings) {
        text += fmt::format("{:<8} {:<17} {}", doctor::requirements_view.name_of(each.state),
                            each.name, each.text);
        if (!each.repair.empty()) {
            text += fmt::format(" {}: {}", each.as_root ? "As root" : "Run", each.repair);
        }
        text += '\n';
    }
    return text;
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
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Write a JSON object");
    command.footer("The exit status is 1 if something is missing; notes do not count.\n"
                   "Example:\n  elog doctor || elog doctor --json | jq -r '.checks[].remedy'");
    command.action([json] { run_doctor(*json); });
}

}  // namespace elog
