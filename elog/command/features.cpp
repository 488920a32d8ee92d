// SPDX-License-Identifier: MIT
//
// elog features: every ability of the kernel and of user space that eventlog uses where it is
// found, why one is missing, and what would bring it. elog doctor is for permissions.
#include "doctor/features.hpp"

#include <unistd.h>

#include <memory>

#include "base/output.hpp"
#include "commands.hpp"
#include "terminal/wrapped_text.hpp"
#include "text/append_format.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

constexpr std::size_t state_column = 14;
constexpr std::size_t value_column = 23;

const char* name_of_availability(availability state) {
    switch (state) {
        case availability::yes:
            return "yes";
        case availability::limited:
            return "limited";
        case availability::no:
            return "no";
    }
    return "";
}

paint paint_of_availability(availability state) {
    switch (state) {
        case availability::yes:
            return paint::plain;
        case availability::limited:
            return paint::magenta;
        case availability::no:
            return paint::red;
    }
    return paint::plain;
}

void append_text(fmt::memory_buffer& out, const feature& each, const terminal_style& style) {
    {
        wrapped_line line(out, style, 0, value_column);
        line.add(each.name, paint::strong);
        line.fill_to(state_column);
        line.add(name_of_availability(each.state), paint_of_availability(each.state));
        line.fill_to(value_column);
        line.add_words(each.value);
    }
    if (!each.remedy.empty()) {
        wrapped_line line(out, style, value_column, value_column);
        line.add_words(each.remedy, paint::faint);
    }
}

std::string as_text(const std::vector<feature>& features) {
    fmt::memory_buffer out;
    for (const feature& each : features) {
        append_text(out, each, style_of(STDOUT_FILENO));
    }
    return fmt::to_string(out);
}

std::string as_json(const std::vector<feature>& features) {
    fmt::memory_buffer out;
    append_format(out, "{{\n  \"features\": [");
    const char* separator = "\n";
    for (const feature& each : features) {
        append_format(out, "{}    {{", separator);
        append_json_member(out, "name", each.name);
        append_format(out, ", ");
        append_json_member(out, "state", name_of_availability(each.state));
        append_format(out, ", ");
        append_json_member(out, "value", each.value);
        append_format(out, ", ");
        append_json_member(out, "remedy", each.remedy);
        append_format(out, "}}");
        separator = ",\n";
    }
    append_format(out, "\n  ]\n}}\n");
    return fmt::to_string(out);
}

void run_features(bool json) {
    std::vector<feature> features;
    find_memory_features(features);
    find_kernel_features(features);
    find_output_features(features);
    write_all(STDOUT_FILENO, json ? as_json(features) : as_text(features));
}

}  // namespace

void add_features(command_line& line) {
    subcommand command = line.add_subcommand(
        "features", "Say what this machine offers to events, and what would bring the rest");
    const auto json = std::make_shared<bool>(false);
    command.add_flag("-j,--json", *json, "Say it as JSON, for programs");
    command.footer(
        "Nothing of what is missing is needed: elog doctor says what is. The exit status "
        "is 0.\n"
        "Example:\n  elog features --json | jq -r '.features[] | select(.state != "
        "\"yes\") | .remedy'");
    command.action([json] { run_features(*json); });
}

}  // namespace elog
