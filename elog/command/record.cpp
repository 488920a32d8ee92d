// SPDX-License-Identifier: MIT
//
// elog record: prints events of running programs or writes them to a file.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/line_output.hpp"
#include "cli/quantities.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "live/listening.hpp"
#include "live/live_recording.hpp"
#include "live/recording_route.hpp"
#include "live/sampling.hpp"
#include "live/state_request.hpp"
#include "live/where.hpp"
#include "predicate/filtering_sink.hpp"
#include "recorder/child_process.hpp"
#include "recorder/command_processes.hpp"
#include "recorder/default_events.hpp"
#include "recorder/pause_signals.hpp"
#include "recorder/recorded_command.hpp"
#include "recorder/recording_file.hpp"
#include "recorder/recording_output.hpp"
#include "recorder/recording_progress.hpp"
#include "recorder/split_recording.hpp"
#include "recorder/summary.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct record_arguments {
    listening_arguments listening;
    recording_file_arguments file;
    line_arguments line;
    std::optional<std::string> duration;
    std::optional<std::string> latency;
    std::optional<std::uint64_t> limit;
    std::optional<std::string> where;
    std::optional<std::string> max_rate;
    route_arguments route;
    bool explain = false;
    bool all_processes = false;
    bool state = false;
    bool exit_status = false;
    bool fail_on_loss = false;
    bool json = false;
};

std::chrono::nanoseconds parse_latency(const std::string& text) {
    const std::chrono::nanoseconds latency = parse_duration(text);
    if (latency < std::chrono::milliseconds(1) || latency > std::chrono::seconds(10)) {
        throw usage_error("--latency is from 1ms to 10s, and not '{}'.", text);
    }
    return latency;
}

constexpr missing_events no_events{
    "elog record has no events to record. Select some with -e, or record a program with: elog "
    "record -- ./program",
    "elog record --help"};

/// Rejects options that contradict --overwrite, which reads nothing before the recording ends.
void check_overwrite(const record_arguments& arguments) {
    if (arguments.limit) {
        throw usage_error("With --overwrite nothing is read before the recording ends, so no "
                          "number of events can end it: leave out --limit or --overwrite.");
    }
    if (arguments.latency) {
        throw usage_error("With --overwrite nothing is printed before the recording ends: leave "
                          "out --latency or --overwrite.");
    }
}

/// With a command its processes are recorded, unless others are asked for.
bool is_limited_to_command(const record_arguments& arguments,
                           const std::vector<std::string>& command) {
    return !command.empty() && !arguments.all_processes && arguments.listening.pids.empty();
}

std::unique_ptr<record_sink> make_sink(const record_arguments& arguments, recorded_command& command,
                                       const std::vector<std::string>& words, file_connection& file,
                                       line_name_check& names) {
    if (!arguments.file.output) {
        return make_line_sink(
            arguments.json, make_text_options(arguments.line),
            [&command] { return command.should_stop(); }, &names);
    }
    // The rest of a recording that has ended is not dropped because its reader is slow.
    return make_file_sink(
        arguments.file, fmt::format("{}", fmt::join(words, " ")),
        [&command] { return command.is_interrupted(); }, file);
}

/// Rejects a predicate that does not fit the schemas, before anything is recorded.
void check_where(const record_arguments& arguments, const subscription_options& options,
                 const live_recording& process, bool all_are_known, record_filter& filter) {
    const std::vector<provider_instance> found = process.found();
    check_found(make_live_filter(arguments.where, options.patterns).get(), nullptr, found,
                all_are_known);
    add_found_providers(filter, found);
}

/// Adds the events that exist before the recording. Unknown names in --fields and --format are a
/// mistake then if all are known.
void check_lines(const record_arguments& arguments, const live_recording& process,
                 bool all_are_known, line_name_check& names) {
    if (!arguments.line.fields && !arguments.line.line) {
        return;
    }
    for (const provider_instance& provider : process.found()) {
        names.add(provider.schema);
    }
    if (all_are_known) {
        check_names(names);
    }
}

/// The filter before the sink; nullptr if all records pass.
std::unique_ptr<filtering_sink> make_selection(const record_arguments& arguments,
                                               record_filter* filter, record_sampler* sampler,
                                               record_sink& sink) {
    if (filter == nullptr && sampler == nullptr && !arguments.limit) {
        return nullptr;
    }
    auto selection = std::make_unique<filtering_sink>(
        filter, sink, arguments.limit.value_or(UINT64_MAX), print_mismatch);
    selection->sample_with(sampler);
    return selection;
}

/// Whether events or providers are missing, or may be.
bool has_loss(const recording_summary& summary) noexcept {
    return summary.lost != 0 || summary.providers_refused != 0 || summary.has_impossible_counts ||
           summary.has_unread_losses;
}

/// Without a file, standard output has only events, and the summary is text. Returns whether it
/// could be written.
bool print_recording_summary(const record_arguments& arguments, const recording_summary& summary,
                             const filtering_sink* selection, const record_sampler* sampler,
                             const command_processes& processes, std::uint64_t moved) {
    summary_notes notes;
    notes.output = name_of_recording(arguments.file);
    notes.moved = moved;
    if (arguments.where) {
        notes.passed = selection->wanted();
    }
    if (arguments.limit) {
        notes.kept = selection->passed();
    }
    if (sampler != nullptr) {
        notes.omitted = sampler->report();
    }
    bool is_reported = true;
    if (arguments.json && arguments.file.output) {
        notes.command = processes.as_json();
        is_reported = print_summary_as_json({}, summary, notes);
    } else {
        print_summary(summary, notes);
    }
    processes.print_counts();
    return is_reported;
}

/// No progress line with a command, whose output would overwrite it.
recording_summary run(live_recording& process, const record_arguments& arguments, bool is_alone,
                      record_sink& sink, const std::function<bool()>& stop) {
    std::optional<recording_progress> progress;
    if (is_alone) {
        progress.emplace(arguments.file.output ? concurrent_output::nothing
                                               : concurrent_output::records,
                         arguments.listening.overwrite);
    }
    return process.run(
        sink,
        [&] {
            apply_pause_request(process);
            if (progress) {
                progress->update(process);
            }
            return stop();
        },
        arguments.latency ? parse_latency(*arguments.latency) : recording::default_latency);
}

void explain(const record_arguments& arguments, const live_recording& process,
             const subscription_options& options, const std::vector<std::string>& words) {
    write_all(STDOUT_FILENO, process.explain() + explain_sampling(options));
    if (is_limited_to_command(arguments, words)) {
        write_all(STDOUT_FILENO, explanation_of_command_scope);
    }
}

/// Waits for the command if its status is wanted, and reports a failure.
void finish_command(const record_arguments& arguments, recorded_command& command) {
    if (arguments.exit_status) {
        command.wait();
    }
    command.print_status();
}

/// A pattern without a match does not replace the status of the command that is asked for.
void check_patterns_after_command(const record_arguments& arguments,
                                  const live_recording& process) {
    try {
        process.check_patterns_after_command();
    } catch (const user_error& error) {
        if (!arguments.exit_status) {
            throw;
        }
        print_diagnostic("elog: {}", error.what());
    }
}

/// Starts the command. If that fails, nothing remains of the file, which was made before.
void start_or_undo(const record_arguments& arguments, recorded_command& command,
                   const std::vector<std::string>& words, file_connection& file) {
    try {
        command.start(words, arguments.file.is_standard_output() ? command_output::to_standard_error
                                                                 : command_output::inherited);
    } catch (...) {
        file.undo();
        throw;
    }
}

/// Records, until the command ends if there is one. Returns whether events were lost.
bool record(const requested_route& route, const record_arguments& arguments,
            subscription_options& options, recorded_command& command,
            const std::vector<std::string>& words) {
    const std::unique_ptr<record_filter> filter =
        make_live_filter(arguments.where, options.patterns);
    const bool is_alone = words.empty();
    const bool is_to_be_there = !arguments.listening.wait && is_alone;
    if (is_alone) {
        narrow_subscription(options, arguments.where, is_to_be_there);
    }
    const std::unique_ptr<live_recording> process =
        begin_recording(route, arguments.listening, options, arguments.where);
    if (filter != nullptr) {
        check_where(arguments, options, *process, is_to_be_there, *filter);
    }
    if (is_to_be_there) {
        process->check_patterns_before();
        if (arguments.file.split_by) {
            check_split_name(arguments.file, process->found(), options.patterns);
        }
    }
    line_name_check names(make_text_options(arguments.line), matches_any_pattern(options.patterns));
    check_lines(arguments, *process, is_to_be_there, names);
    if (arguments.explain) {
        explain(arguments, *process, options, words);
        return false;
    }
    if (arguments.state) {
        request_state(process->found());
    }
    file_connection file;
    const std::unique_ptr<record_sink> sink = make_sink(arguments, command, words, file, names);
    const std::unique_ptr<record_sampler> sampler = make_sampler(options);
    const std::unique_ptr<filtering_sink> selection =
        make_selection(arguments, filter.get(), sampler.get(), *sink);
    command_processes processes(is_limited_to_command(arguments, words),
                                selection ? static_cast<record_sink&>(*selection) : *sink);
    file.notes = [&] {
        recording_notes notes{std::nullopt, processes.counts()};
        if (sampler) {
            notes.omitted = sampler->report();
        }
        return notes;
    };
    // The first call of stop() follows the start of the sink: without its file no command starts.
    bool is_to_start = !is_alone;
    const auto start_command = [&] {
        if (std::exchange(is_to_start, false) && stop_requested().count == 0) {
            start_or_undo(arguments, command, words, file);
            processes.begin(command.pid());
            file.on_command_start();
        }
    };
    recording_summary summary;
    bool is_reported = true;
    try {
        summary = run(*process, arguments, is_alone, processes.sink(), [&] {
            start_command();
            processes.poll();
            return command.should_stop() || (selection && selection->is_full()) || file.should_end;
        });
        if (!is_alone && !command.is_started()) {
            throw user_error("'{}' was not started, because a signal ended the recording before.",
                             words.front());
        }
        processes.complete(summary);
        if (file.incomplete) {
            count_unwritten(summary, file.incomplete->unwritten);
        }
        is_reported = print_recording_summary(arguments, summary, selection.get(), sampler.get(),
                                              processes, file.moved);
        print_type_mismatches(filter.get(), nullptr);
        if (file.incomplete && !file.incomplete->message.empty()) {
            throw error_of(*file.incomplete);
        }
        if (file.split) {
            file.split->report();
        }
    } catch (const output_closed&) {
        throw;  // the caller prints the status, or waits for it first
    } catch (...) {
        command.print_status();
        throw;
    }
    finish_command(arguments, command);
    if (command.is_started() && !arguments.listening.wait) {
        check_patterns_after_command(arguments, *process);
    }
    check_names(filter.get(), nullptr);
    check_names(names);
    if (!is_reported) {
        throw failure_reported{};
    }
    return has_loss(summary);
}

/// Rejects options that do not fit together.
void check_arguments(const record_arguments& arguments, bool has_command) {
    if (arguments.file.output && arguments.line.has_any()) {
        throw usage_error("--fields, --format, --delta, --elapsed, --number and --date are for "
                          "printed lines, and -o writes a recording: leave one of them out. elog "
                          "print has them for recordings.");
    }
    check_recording_file(arguments.file);
    if (arguments.json && arguments.file.is_standard_output()) {
        throw usage_error("With -o -, standard output has the recording, and no summary as JSON: "
                          "leave out --json, or give a name with -o.");
    }
    if (has_command && arguments.file.descriptor() == STDERR_FILENO) {
        throw usage_error(
            "The command and elog write to standard error, and the recording would be "
            "mixed with their texts. Give another name with -o.");
    }
    if (arguments.all_processes && !has_command) {
        throw usage_error("--all-processes is for a recording with a command, which has only its "
                          "processes by default: add -- COMMAND, or leave out the option.");
    }
    if (arguments.exit_status && !has_command) {
        throw usage_error("--exit-status returns the status of a command: add -- COMMAND, or leave "
                          "out the option.");
    }
    if (arguments.listening.overwrite) {
        check_overwrite(arguments);
    }
    if (!arguments.file.output) {
        static_cast<void>(make_text_options(arguments.line));
    }
    if (arguments.latency) {
        static_cast<void>(parse_latency(*arguments.latency));
    }
}

/// Rejects --state where it has no meaning.
void check_state(const requested_route& route, bool is_limited) {
    if (!route.route || !is_traced(*route.route)) {
        throw usage_error(
            "--state is for --via tracefs and --via perf: a recording via memory, "
            "device or relay gets the state of programs by itself. Leave --state out.");
    }
    if (is_limited) {
        throw usage_error("--state asks programs that run already, and a recording with a command "
                          "has only its processes: add --all-processes, or leave --state out.");
    }
}

/// Throws what ends elog with the status that the options ask for. A loss precedes the status of
/// the command: --fail-on-loss has one meaning with and without a command.
void return_status(const record_arguments& arguments, recorded_command& command, bool is_lossy) {
    if (arguments.fail_on_loss && is_lossy) {
        throw events_lost{};
    }
    if (!arguments.exit_status) {
        return;
    }
    if (!command.exit_status()) {
        throw user_error("A signal has ended elog before the command: there is no exit status for "
                         "--exit-status. Stop the command itself, and elog ends with its status.");
    }
    if (*command.exit_status() != 0) {
        throw command_failed{*command.exit_status()};
    }
}

void run_record(record_arguments& arguments, const std::vector<std::string>& words) {
    subscription_options options =
        make_subscription_options(arguments.listening, sampling_is_allowed);
    add_max_rate(options, arguments.max_rate);
    const requested_route route = parse_route(arguments.route, arguments.listening);
    check_arguments(arguments, !words.empty());
    if (arguments.state) {
        check_state(route, is_limited_to_command(arguments, words));
    }
    recorded_command command(arguments.duration);
    if (!words.empty()) {
        check_command(words.front());
    }
    if (!arguments.explain) {
        open_recording_stream(arguments.file);  // signals still end the wait for a reader
    }
    catch_stop_signals();
    catch_pause_signals();
    bool is_lossy = false;
    bool is_cut = false;
    try {
        is_lossy = record(route, arguments, options, command, words);
    } catch (const output_closed&) {
        is_cut = arguments.file.descriptor().has_value();
        if (!is_cut && !arguments.fail_on_loss && !arguments.exit_status) {
            command.print_status();
            throw;
        }
        if (arguments.fail_on_loss) {
            print_diagnostic("elog: Standard output was closed; later events are lost.");
        }
        is_lossy = true;
        finish_command(arguments, command);
    }
    // A closed output may have kept the command from its start.
    if (!arguments.explain && (!is_cut || arguments.fail_on_loss || command.exit_status())) {
        return_status(arguments, command, is_lossy);
    }
    if (is_cut) {
        throw user_error("The reader of {} has ended before the recording, which is cut off there. "
                         "Let it read to the end, or record to a file with -o.",
                         arguments.file.is_standard_output() ? "standard output"
                                                             : *arguments.file.output);
    }
}

}  // namespace

void add_record(command_line& line, const std::vector<std::string>& command) {
    subcommand record =
        line.add_subcommand("record", "Record events of programs, live or into a file");
    const auto arguments = std::make_shared<record_arguments>();
    add_listening_options(record, arguments->listening);
    add_recording_file_options(record, arguments->file);
    record.add_option("--duration TIME", arguments->duration,
                      "Stop after that time: 10s, 500ms, 2m");
    record.add_option("--latency TIME", arguments->latency,
                      "Maximum delay of a printed event, 1ms to 10s; by default 10ms");
    record.add_option("--limit NUMBER", arguments->limit, "Stop after that many events")
        .range(1, 1'000'000'000);
    record.add_option("--where PREDICATE", arguments->where, where_help);
    record.add_option("--max-rate NUMBER", arguments->max_rate, max_rate_help);
    add_route_options(record, arguments->route);
    record.add_flag("--exclude-self", arguments->listening.exclude_self,
                    "With --via device or relay: no kernel events about elog itself");
    record.add_flag("--all-processes", arguments->all_processes,
                    "With a command: not only the command and its descendants");
    record.add_flag("--state", arguments->state,
                    "With --via tracefs or perf: request the state of running programs");
    record.add_flag("--explain", arguments->explain,
                    "Do not record: print where the selection would be evaluated");
    record.add_flag("--exit-status", arguments->exit_status,
                    "Exit with the status of the command; 0 without this option");
    record.add_flag("--fail-on-loss", arguments->fail_on_loss,
                    "Exit with status 3 if events were lost");
    command_option json =
        record.add_flag("-j,--json", arguments->json,
                        "Print events as JSON Lines; with -o, write the summary as JSON");
    for (const command_option& option : add_line_options(record, arguments->line)) {
        json.excludes(option);
    }
    record.end_usage("[-- COMMAND ...]");
    record.footer("Examples:\n"
                  "  elog record -- ./program\n"
                  "  elog record -p 4242 -e 'shop:order_*' -o run.elog --duration 10s");
    record.action([arguments, command] {
        complete_events(arguments->listening, !command.empty(), no_events);
        run_record(*arguments, command);
    });
}

}  // namespace elog
