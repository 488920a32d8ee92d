// SPDX-License-Identifier: MIT
//
// elog repair: copies the valid parts of a damaged recording to a new one.
#include <unistd.h>

#include <memory>

#include "base/atomic_file.hpp"
#include "base/output.hpp"
#include "cli/complaints.hpp"
#include "cli/output_file.hpp"
#include "cli/reading_progress.hpp"
#include "commands.hpp"
#include "file/file_repair.hpp"
#include "import/seekable_input.hpp"
#include "live/copying.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct repair_arguments {
    std::string from;
    output_arguments output;
    bool json = false;
};

std::string as_json(const repair_summary& summary, const std::string& path) {
    return versioned_object()
        .add("file", path)
        .add("file_bytes", summary.size)
        .add("events", summary.records)
        .add("lost_in_damage", summary.missing)
        .add("had_end", summary.had_end)
        .add("had_segment", !summary.is_without_segment)
        .add("raw_times", summary.has_raw_times)
        .add("damages", summary.damages)
        .line();
}

repair_summary repair(const seekable_input& source, const repair_arguments& arguments) {
    check_not_same_file(arguments.from, arguments.output.path);
    output_file output(arguments.output);
    const reading_progress progress({arguments.from});
    repair_summary summary = repair_file(source.path(), output.path());
    output.finish();
    return summary;
}

void run_repair(const repair_arguments& arguments) {
    check_description(arguments.output, arguments.json);
    const seekable_input source(arguments.from);
    const repair_summary summary = repair(source, arguments);
    print_complaints(source.name(), summary.damages);
    if (!summary.had_end) {
        print_diagnostic("elog: {} had no end; losses after its last block are unknown.",
                         source.name());
    }
    if (summary.is_without_segment) {
        print_diagnostic(
            "elog: {} had no block left that states the clock of its records; {}.", source.name(),
            summary.has_raw_times ? "their times in the new file are the raw values of that clock"
                                  : "the new file has the clock that the readings in it show");
    } else if (summary.has_raw_times && summary.records != 0) {
        print_diagnostic("elog: {} had no clock reading left; the times in the new file are the "
                         "raw values of the clock.",
                         source.name());
    }
    if (summary.missing != 0) {
        print_diagnostic("elog: {} records were in omitted blocks, and count as lost.",
                         summary.missing);
    }
    if (arguments.json) {
        write_all(STDOUT_FILENO, as_json(summary, arguments.output.path));
    } else {
        print_note("{} records, {} bytes, in {}", summary.records, summary.size,
                   arguments.output.is_standard_output() ? "standard output"
                                                         : arguments.output.path);
    }
}

}  // namespace

void add_repair(command_line& line) {
    subcommand command = line.add_subcommand("repair", "Recover a damaged recording");
    const auto arguments = std::make_shared<repair_arguments>();
    command
        .add_option("FILE", arguments->from,
                    "Recording made by elog record -o; - is standard input")
        .required()
        .completes_as(value_kind::file);
    add_output_options(command, arguments->output,
                       "The new file; FILE does not change; - is standard output")
        .required();
    add_mode_option(command, arguments->output.mode);
    command.add_flag("-j,--json", arguments->json, "Describe the new file as a JSON object");
    command.footer("Examples:\n"
                   "  elog repair run.elog -o sound.elog\n"
                   "  elog repair run.elog -o - | elog stat -");
    command.action([arguments] { run_repair(*arguments); });
}

}  // namespace elog
