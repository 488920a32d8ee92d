// SPDX-License-Identifier: MIT
#include "live/copying.hpp"

#include <unistd.h>

#include "base/output.hpp"
#include "record/loss_names.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

std::string as_json(const copy_summary& summary, const std::string& path,
                    const std::vector<std::string>& damages) {
    return versioned_object()
        .add("file", path)
        .add("file_bytes", summary.size)
        .add("events", summary.records)
        .add("lost", summary.lost)
        .add(loss_name::overwritten, summary.overwritten)
        .add("lost_left_out", summary.left_out)
        .add("damages", damages)
        .line();
}

}  // namespace

void add_copy_options(subcommand& command, copy_arguments& arguments) {
    add_output_options(command, arguments.output, "The new file; - is standard output").required();
    add_mode_option(command, arguments.output.mode);
    add_compress_option(command, arguments.compression);
    command.add_flag("-j,--json", arguments.json, "Describe the new file as a JSON object");
}

void check_description(const output_arguments& output, bool json) {
    if (json && output.is_standard_output()) {
        throw usage_error("With -o - standard output is the recording: leave --json out, or give a "
                          "name with -o.");
    }
}

void print_copy_summary(const copy_summary& summary, const copy_arguments& arguments,
                        const std::vector<std::string>& damages) {
    const output_arguments& output = arguments.output;
    const std::string path = output.is_standard_output() ? "standard output" : output.path;
    if (arguments.json) {
        write_all(STDOUT_FILENO, as_json(summary, path, damages));
    } else if (summary.lost != 0 || !is_quiet()) {
        // Not as in the summary of a recording, whose bytes are those of the events.
        print_diagnostic("{} events, {} lost, in {} ({} bytes)", summary.records, summary.lost,
                         path, summary.size);
    }
    if (summary.overwritten != 0) {
        print_diagnostic("elog: {} older events had been overwritten by newer ones in the buffers.",
                         summary.overwritten);
    }
    if (summary.left_out != 0) {
        print_diagnostic(
            "elog: {} of the lost events were left out, because nothing describes them.",
            summary.left_out);
    }
}

}  // namespace elog
