// SPDX-License-Identifier: MIT
//
// elog print: prints a recording as text.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cli/complaints.hpp"
#include "cli/damage_check.hpp"
#include "cli/line_output.hpp"
#include "cli/pager.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "file/file_reader.hpp"
#include "file/recording_follower.hpp"
#include "live/filtered_records.hpp"
#include "output/json_lines_writer.hpp"
#include "output/text_writer.hpp"
#include "recorder/omitted_events.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

// Bounds the delay of a signal.
constexpr std::chrono::milliseconds pipe_wait{50};

struct print_arguments {
    record_selection choice;
    line_arguments line;
    bool follow = false;
    bool json = false;
};

text_options make_options(const print_arguments& arguments) {
    text_options options = make_text_options(arguments.line);
    options.utc = arguments.choice.times.utc;
    options.clock = parse_clock(arguments.choice.times);
    return options;
}

void check_options(const text_options& options, const provider_map& providers) {
    as_usage_error([&] { check_fields(options, providers); });
}

std::unique_ptr<record_writer> make_writer(const print_arguments& arguments,
                                           const text_options& options) {
    if (arguments.json) {
        return std::make_unique<json_lines_writer>(STDOUT_FILENO, options.clock);
    }
    return std::make_unique<text_writer>(STDOUT_FILENO, options);
}

/// On standard error, as elog record does. Text only: the lines of JSON are events and losses.
void print_notes(const print_arguments& arguments, const recording_notes& notes) {
    if (arguments.json) {
        return;
    }
    for (const std::string& line : note_lines(notes)) {
        print_note("elog: {}", line);
    }
}

void print_file(const print_arguments& arguments, const text_options& options,
                record_selection choice) {
    choice.open();
    file_reader file(choice.readable_path(), choice.range());
    const std::unique_ptr<record_writer> writer = make_writer(arguments, options);
    filtered_records output(choice, file.providers(), file.shared_ring(), *writer, false);
    output.skip_to_tail(choice, file);
    output.add_marks(file.marks());
    check_options(options, file.providers());
    start_pager();
    read_with_progress(
        file, choice, concurrent_output::records,
        [&](const merged_record& record) { output.write(record, file.clock()); },
        [&] { return output.is_full(); });
    output.finish(file.losses(), file.clock());
    print_notes(arguments, file.notes());
    output.print_type_mismatches();
    choice.complain(file);
    output.check_names();
    check_options(options, file.providers());
}

/// Reports damage of earlier files of the recording, and files that were removed before they were
/// read. After --limit the end has not been looked for.
void fail_if_files_damaged(const recording_follower& recording, const std::string& name,
                           bool has_read_all) {
    print_complaints(recording.damages());
    if (recording.missed() != 0) {
        print_diagnostic("elog: {} files of the recording were removed before they could be shown.",
                         recording.missed());
    }
    if (has_read_all || !recording.file().damages().empty()) {
        fail_if_damaged(recording.file(), name);
    }
    if (!recording.damages().empty()) {
        throw user_error("The recording is damaged; everything else in it has been shown.");
    }
}

/// Prints what the follower passes. `name`: of a pipe; nothing: that of the last file.
void print_followed(const print_arguments& arguments, const text_options& options,
                    const record_selection& choice, recording_follower& recording,
                    const std::optional<std::string>& name, const std::function<bool()>& stop) {
    const std::unique_ptr<record_writer> writer = make_writer(arguments, options);
    filtered_records output(choice, recording.providers(), recording.shared_ring(), *writer, true);
    catch_stop_signals();
    recording.follow(
        [&](const merged_record& record, const clock_converter& clock) {
            output.add_marks(recording.take_marks());
            output.write(record, clock);
        },
        [&] {
            output.add_marks(recording.take_marks());
            output.write_marks(recording.file().watermark(), recording.file().clock());
            output.flush();
        },
        stop, [&] { return output.is_full(); });
    output.finish(recording.file().losses(), recording.file().clock());
    print_notes(arguments, recording.file().notes());
    output.print_type_mismatches();
    fail_if_files_damaged(recording, name.value_or(recording.path()), !output.is_full());
    output.check_names();
    check_options(options, recording.providers());
}

/// The name of the file that standard input reads, so that the parts behind it are found.
std::string name_of_standard_input(const std::string& descriptor_path) {
    std::error_code error;
    std::string name = std::filesystem::read_symlink(descriptor_path, error).string();
    // A file that was removed, or lies in another file system tree, has only its descriptor.
    return !error && std::filesystem::equivalent(name, descriptor_path, error) && !error
               ? name
               : descriptor_path;
}

void follow(const print_arguments& arguments, const text_options& options,
            const record_selection& choice, const std::string& path) {
    if (detect_recorder(path) != recorder::elog) {
        throw usage_error("--follow is for a recording that elog writes: print {} when it is "
                          "complete.",
                          path);
    }
    recording_follower recording(path);
    print_followed(arguments, options, choice, recording, std::nullopt,
                   [] { return stop_requested().count != 0; });
}

/// A terminal signals all commands of a pipeline: the recorder ends the pipe soon.
bool should_stop_stream() {
    const stop_request request = stop_requested();
    return request.count > 1 || (request.count == 1 && !request.by_terminal);
}

/// Prints a pipe while it is written.
void print_pipe(const print_arguments& arguments, const text_options& options) {
    record_selection choice = arguments.choice;
    choice.open(pipe_copy::growing);
    seekable_input& input = choice.recording().source();
    if (!input.is_copy() && arguments.follow) {
        follow(arguments, options, choice, name_of_standard_input(input.path()));
        return;
    }
    if (!input.is_copy() || choice.recording().import_details()) {
        print_file(arguments, options, std::move(choice));
        return;
    }
    recording_follower recording(
        choice.readable_path(),
        [&] {
            input.release(recording.first_unread());
            input.grow(pipe_wait);
        },
        [&] { return input.is_growing(); });
    print_followed(arguments, options, choice, recording, input.name(), should_stop_stream);
}

/// Times are found, and the last events counted, in a whole recording.
bool needs_whole_recording(const record_selection& choice) noexcept {
    return choice.times.has_range() || choice.tail;
}

void run_print(const print_arguments& arguments) {
    const text_options options = make_options(arguments);
    if (is_pipe(arguments.choice.path) && !needs_whole_recording(arguments.choice)) {
        print_pipe(arguments, options);
    } else if (arguments.follow) {
        follow(arguments, options, arguments.choice, arguments.choice.path);
    } else {
        print_file(arguments, options, arguments.choice);
    }
}

}  // namespace

void add_print(command_line& line) {
    subcommand command = line.add_subcommand("print", "Print a recording as text");
    const auto arguments = std::make_shared<print_arguments>();
    const selection_options selected = add_selection_options(command, arguments->choice);
    const std::vector<command_option> contents = add_line_options(command, arguments->line);
    command
        .add_flag("-f,--follow", arguments->follow, "Continue as long as the recording is written")
        .excludes(selected.since)
        .excludes(selected.until)
        .excludes(selected.tail);
    command_option json = command.add_flag("-j,--json", arguments->json,
                                           "Print JSON Lines, as elog convert --to jsonl does");
    for (const command_option& option : contents) {
        json.excludes(option);
    }
    command.footer("Examples:\n"
                   "  elog print run.elog --where 'items > 2 && customer ~ \"a*\"'\n"
                   "  elog print run.elog --since 14:03:00 --until 14:04:30 --delta\n"
                   "  ssh host \"elog record -e 'shop:*' -o -\" | elog print -\n"
                   "  elog print run.elog --format '{date} {time} {comm}\\t{customer}'");
    command.action([arguments] { run_print(*arguments); });
}

}  // namespace elog
