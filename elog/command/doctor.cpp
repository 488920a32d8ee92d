// SPDX-License-Identifier: MIT
//
// elog doctor: what recording takes, and whether this machine has it for this user.
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/output.hpp"
#include "commands.hpp"
#include "doctor/health.hpp"
#include "text/append_format.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

const char* name_of_condition(condition state) {
    switch (state) {
        case condition::good:
            return "ok";
        case condition::note:
            return "note";
        case condition::missing:
            return "missing";
    }
    return "";
}

std::string as_text(const std::vector<finding>& findings) {
    std::string text;
    for (const finding& each : findings) {
        text += fmt::format("{:<8} {:<17} {}", name_of_condition(each.state), each.item, each.text);
        if (!each.repair.empty()) {
            text += fmt::format(" {}: {}", each.as_root ? "As root" : "Run", each.repair);
        }
        text += '\n';
    }
    return text;
}

std::string as_json(const std::vector<finding>& findings, bool healthy) {
    fmt::memory_buffer out;
    append_format(out, "{{\n  \"healthy\": {},\n  \"items\": [", healthy);
    const char* separator = "\n";
    for (const finding& each : findings) {
        append_format(out, "{}    {{", separator);
        append_json_member(out, "item", each.item);
        append_format(out, ", ");
        append_json_member(out, "state", name_of_condition(each.state));
        append_format(out, ", ");
        append_json_member(out, "text", each.text);
        append_format(out, ", ");
        append_json_member(out, "repair", each.repair);
        append_format(out, ", \"as_root\": {}}}", each.as_root);
        separator = ",\n";
    }
    append_format(out, "\n  ]\n}}\n");
    return fmt::to_string(out);
}

void run_doctor(bool json) {
    std::vector<finding> findings;
    examine_memory(findings);
    examine_kernel(findings);
    examine_tools(findings);
    const auto missing = std::count_if(findings.begin(), findings.end(), [](const finding& each) {
        return each.state == condition::missing;
    });
    write_all(STDOUT_FILENO, json ? as_json(findings, missing == 0) : as_text(findings));
    if (missing != 0) {
        throw user_error(
            "{} of {} items are missing. Run what stands behind them, then elog doctor "
            "again.",
            missing, findings.size());
    }
}

}  // namespace

void add_doctor(command_line& line) {
    subcommand command = line.add_subcommand(
        "doctor", "Say what is missing on this machine for this user, and what repairs it");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Say it as JSON, for programs");
    command.footer("The exit status is 1 if something is missing; notes do not count.\n"
                   "Example:\n  elog doctor || elog doctor --json | jq -r '.items[].repair'");
    command.action([json] { run_doctor(*json); });
}

}  // namespace elog
