// SPDX-License-Identifier: MIT
#include "recorder/recording_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>

#include "cli/output_file.hpp"
#include "cli/quantities.hpp"
#include "file/rotated_files.hpp"
#include "recorder/split_recording.hpp"

namespace elog {
namespace {

constexpr const char* standard_output_name = "standard output";

/// A size or a duration, distinguished by the unit.
void parse_rotation(const std::string& text, rotation_options& rotation) {
    try {
        rotation.time = parse_duration(text);
        if (text.find_first_not_of("0123456789.") != std::string::npos &&
            rotation.time >= std::chrono::seconds(1)) {
            return;
        }
        rotation.time = {};
    } catch (const usage_error&) {
        try {
            rotation.size = parse_size(text);
        } catch (const usage_error&) {
            rotation.size = 0;
        }
    }
    if (rotation.size < rotation_options::size_min) {
        throw usage_error(
            "'{}' is no size from 1MiB, no duration from 1s and not reopen: write for "
            "example 64MiB or 10s.",
            text);
    }
}

void check_no_terminal(int descriptor, const std::string& name) {
    if (::isatty(descriptor) == 1) {
        throw usage_error("{} is a terminal, which cannot show an .elog file. Redirect it to a "
                          "command or file, or give a name with -o.",
                          name == standard_output_name ? "Standard output" : name);
    }
}

void check_open_output(const file_sink_options& options, const std::string& name) {
    if (options.rotation.is_wanted()) {
        throw usage_error("--rotate and --max-total write several files, and {} is one: give a "
                          "name with -o.",
                          name);
    }
    if (options.descriptor < 0) {
        return;  // open_recording_stream() checks it
    }
    check_descriptor(options.descriptor, name);
    check_no_terminal(options.descriptor, name);
    // A command must neither write into its recording nor keep the reader of a pipe waiting. What
    // a command gets as its standard streams is decided where it starts.
    if (options.descriptor > STDERR_FILENO) {
        static_cast<void>(::fcntl(options.descriptor, F_SETFD, FD_CLOEXEC));
    }
}

}  // namespace

void add_recording_file_options(subcommand& command, recording_file_arguments& arguments) {
    command
        .add_option("-o,--output FILE", arguments.output,
                    "Write an .elog file instead of text; - is standard output")
        .completes_as(value_kind::new_file);
    command.add_flag("--force", arguments.force, "Replace an existing file");
    add_mode_option(command, arguments.mode);
    add_compress_option(command, arguments.compression);
    command.add_option("--rotate WHEN", arguments.rotate,
                       "New file FILE-000001.elog each 64MiB or 10s; reopen: FILE, when moved");
    command.add_option("--keep NUMBER", arguments.keep, "Keep that many files, the newest")
        .range(1, 1'000'000);
    command.add_option("--max-total SIZE", arguments.max_total,
                       "Keep as many files as fit into that size");
    command.add_option("--split-by NAME", arguments.split_by,
                       "Write a file for each session or value of a field, below -o DIR/");
}

file_sink_options make_file_options(const recording_file_arguments& arguments) {
    file_sink_options options{*arguments.output, arguments.compression};
    rotation_options& rotation = options.rotation;
    if (arguments.is_reopened() && (arguments.is_open_or_stream() || arguments.max_total)) {
        throw usage_error("--rotate reopen is for one file with a name: leave out {}.",
                          arguments.max_total ? "--max-total" : *arguments.output);
    }
    if (arguments.rotate && !arguments.is_reopened()) {
        parse_rotation(*arguments.rotate, rotation);
    }
    if (arguments.max_total) {
        rotation.total = parse_size(*arguments.max_total);
        if (rotation.total < 4 * rotation_options::size_min) {
            throw usage_error("All files together have at least 4MiB; '{}' is less.",
                              *arguments.max_total);
        }
    }
    rotation.keep = arguments.keep.value_or(0);
    if (arguments.keep && !rotation.is_wanted()) {
        throw usage_error("--keep is for several files: add --rotate.");
    }
    options.existing = arguments.force ? existing_file::replace : existing_file::reject;
    options.mode = mode_or(arguments.mode, private_mode);
    if (arguments.mode && arguments.is_open_or_stream()) {
        throw usage_error("With -o {} the output is no new file and keeps its mode: leave --mode "
                          "out.",
                          *arguments.output);
    }
    if (const std::optional<int> descriptor = arguments.descriptor()) {
        if (arguments.is_standard_output()) {
            options.path = "on standard output";
        }
        options.descriptor = *descriptor;
    }
    return options;
}

void check_recording_file(const recording_file_arguments& arguments) {
    if (!arguments.output) {
        if (arguments.compression != 0 || arguments.rotate || arguments.keep ||
            arguments.max_total || arguments.split_by || arguments.force || arguments.mode) {
            throw usage_error("--compress, --rotate, --keep, --max-total, --split-by, --force and "
                              "--mode are for files: add -o FILE.");
        }
        return;
    }
    const file_sink_options options = make_file_options(arguments);
    if (arguments.split_by) {
        check_split(arguments);
        return;
    }
    if (arguments.output->ends_with('/')) {
        throw usage_error("{} is a directory: name a file with -o, or add --split-by to write a "
                          "file for each session or value of a field.",
                          *arguments.output);
    }
    if (arguments.is_open_or_stream()) {
        check_open_output(options, arguments.is_standard_output() ? standard_output_name
                                                                  : *arguments.output);
    } else if (!options.rotation.is_wanted()) {
        check_may_replace({*arguments.output, arguments.force, {}});
    }
}

void open_recording_stream(recording_file_arguments& arguments) {
    if (!arguments.descriptor() && arguments.is_open_or_stream()) {
        arguments.stream = open_stream(*arguments.output);
        check_no_terminal(arguments.stream.get(), *arguments.output);
    }
}

std::optional<std::string> name_of_recording(const recording_file_arguments& arguments) {
    if (!arguments.output || arguments.descriptor()) {
        return std::nullopt;
    }
    if (arguments.split_by) {
        return split_glob(arguments);
    }
    return make_file_options(arguments).rotation.is_wanted() ? rotation_glob(*arguments.output)
                                                             : *arguments.output;
}

}  // namespace elog
