// SPDX-License-Identifier: MIT
//
// elog repair: copies the valid parts of a damaged recording to a new one.
#include <unistd.h>

#include <memory>

#include "base/output.hpp"
#include "cli/common_options.hpp"
#include "cli/complaints.hpp"
#include "cli/reading_progress.hpp"
#include "commands.hpp"
#include "file/file_repair.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct repair_arguments {
    std::string from;
    std::string to;
    bool json = false;
};

std::string as_json(const repair_summary& summary, const std::string& path) {
    return versioned_object()
        .add("file", path)
        .add("file_bytes", summary.size)
        .add("events", summary.records)
        .add("lost_in_damage", summary.missing)
        .add("had_end", summary.had_end)
        .add("damages", summary.damages)
        .line();
}

repair_summary repair(const repair_arguments& arguments) {
    const reading_progress progress({arguments.from});
    return repair_file(arguments.from, arguments.to);
}

void run_repair(const repair_arguments& arguments) {
    const repair_summary summary = repair(arguments);
    print_complaints(arguments.from, summary.damages);
    if (!summary.had_end) {
        print_diagnostic("elog: {} had no end; losses after its last block are unknown.",
                         arguments.from);
    }
    if (summary.missing != 0) {
        print_diagnostic("elog: {} records were in omitted blocks, and count as lost.",
                         summary.missing);
    }
    if (arguments.json) {
        write_all(STDOUT_FILENO, as_json(summary, arguments.to));
    } else {
        print_diagnostic("{} records, {} bytes, in {}", summary.records, summary.size,
                         arguments.to);
    }
}

}  // namespace

void add_repair(command_line& line) {
    subcommand command = line.add_subcommand("repair", "Recover a damaged recording");
    const auto arguments = std::make_shared<repair_arguments>();
    command.add_option("FILE", arguments->from, "Recording made by elog record -o")
        .required()
        .completes_as(value_kind::file);
    add_output_option(command, arguments->to, "The new file; FILE does not change").required();
    command.add_flag("-j,--json", arguments->json, "Describe the new file as a JSON object");
    command.footer("Example:\n"
                   "  elog repair run.elog -o sound.elog");
    command.action([arguments] { run_repair(*arguments); });
}

}  // namespace elog
