// SPDX-License-Identifier: MIT
//
// elog record: prints events of running programs or writes them to a file.
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/output.hpp"
#include "cli/common_options.hpp"
#include "cli/complaints.hpp"
#include "cli/line_output.hpp"
#include "cli/quantities.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "file/file_sink.hpp"
#include "live/listening.hpp"
#include "live/live_recording.hpp"
#include "live/recording_route.hpp"
#include "live/sampling.hpp"
#include "live/where.hpp"
#include "predicate/filtering_sink.hpp"
#include "recorder/child_process.hpp"
#include "recorder/command_processes.hpp"
#include "recorder/recording_progress.hpp"
#include "recorder/summary.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

struct record_arguments {
    listening_arguments listening;
    std::optional<std::string> output;
    std::optional<std::string> duration;
    std::optional<std::string> latency;
    std::optional<std::uint64_t> count;
    int compression = 0;
    std::optional<std::string> rotate;
    std::optional<std::uint64_t> keep;
    std::optional<std::string> max_total;
    std::optional<std::string> where;
    std::optional<std::string> max_rate;
    route_arguments route;
    bool explain = false;
    bool all_processes = false;
    bool fail_on_loss = false;
    bool json = false;
};

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
        throw usage_error("'{}' is no size from 1MiB and no duration from 1s: write for example "
                          "64MiB or 10s.",
                          text);
    }
}

file_sink_options make_file_options(const record_arguments& arguments) {
    file_sink_options options{*arguments.output, arguments.compression, {}};
    rotation_options& rotation = options.rotation;
    if (arguments.rotate) {
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
    return options;
}

/// Rejects options for files without a file.
void check_file_options(const record_arguments& arguments) {
    const bool any =
        arguments.compression != 0 || arguments.rotate || arguments.keep || arguments.max_total;
    if (any && !arguments.output) {
        throw usage_error("--compress, --rotate, --keep and --max-total are for files: add -o "
                          "FILE.");
    }
    check_is_file_name(arguments.output);
    if (arguments.output) {
        static_cast<void>(make_file_options(arguments));
    }
}

std::chrono::nanoseconds parse_latency(const std::string& text) {
    const std::chrono::nanoseconds latency = parse_duration(text);
    if (latency < std::chrono::milliseconds(1) || latency > std::chrono::seconds(10)) {
        throw usage_error("--latency is from 1ms to 10s, and not '{}'.", text);
    }
    return latency;
}

/// Rejects options that contradict --overwrite, which reads nothing before the recording ends.
void check_overwrite(const record_arguments& arguments) {
    if (arguments.count) {
        throw usage_error("With --overwrite nothing is read before the recording ends, so no "
                          "number of events can end it: leave out --limit or --overwrite.");
    }
    if (arguments.latency) {
        throw usage_error("With --overwrite nothing is printed before the recording ends: leave "
                          "out --latency or --overwrite.");
    }
}

/// Ends the recording after its duration, with its command, or on a signal.
class stop_condition {
  public:
    explicit stop_condition(const std::optional<std::string>& duration) : end_(duration) {}

    /// From now on the end of the command ends the recording.
    void watch(child_process& child) {
        child_ = &child;
        // A signal from before the start has not reached the command.
        const stop_request request = stop_requested();
        if (request.count != 0) {
            child.send(request.signal);
        }
        seen_ = request.count;
    }

    /// The first call, at the start of the recording, begins the duration.
    bool operator()() {
        const bool is_over = end_.has_passed();
        const stop_request request = stop_requested();
        if (request.count > seen_ && child_ != nullptr && !request.by_terminal) {
            child_->send(
                request.signal);  // the command ends first, so that its last events are recorded
        }
        seen_ = request.count;
        const int enough = child_ == nullptr ? 1 : 2;
        return request.count >= enough || is_over || (child_ != nullptr && child_->has_ended());
    }

  private:
    child_process* child_ = nullptr;
    deadline end_;
    int seen_ = 0;
};

/// With a command its processes are recorded, unless others are asked for.
bool is_limited_to_command(const record_arguments& arguments,
                           const std::vector<std::string>& command) {
    return !command.empty() && !arguments.all_processes && arguments.listening.pids.empty();
}

std::optional<std::string> output_name(const record_arguments& arguments) {
    const bool is_one = !arguments.output || !make_file_options(arguments).rotation.is_wanted();
    return is_one ? arguments.output : rotation_glob(*arguments.output);
}

void print_child_status(child_process& child) {
    if (!child.has_ended()) {
        print_diagnostic("elog: '{}' is still running, as process {}.", child.name(), child.pid());
    } else if (const std::optional<std::string> complaint = child.complaint()) {
        print_diagnostic("elog: {}", *complaint);
    }
}

std::unique_ptr<record_sink> make_sink(const record_arguments& arguments, stop_condition& stop) {
    if (arguments.output) {
        return std::make_unique<file_sink>(make_file_options(arguments));
    }
    return make_line_sink(arguments.json, [&stop] { return stop(); });
}

/// Rejects a predicate that does not fit the schemas, before anything is recorded.
void check_where(const record_arguments& arguments, const subscription_options& options,
                 const live_recording& process, bool all_are_known, record_filter& filter) {
    const std::vector<provider_instance> found = process.found();
    check_found(make_live_filter(arguments.where, options.patterns).get(), nullptr, found,
                all_are_known);
    add_found_providers(filter, found);
}

/// The filter before the sink; nullptr if all records pass.
std::unique_ptr<filtering_sink> make_selection(const record_arguments& arguments,
                                               record_filter* filter, record_sampler* sampler,
                                               record_sink& sink) {
    if (filter == nullptr && sampler == nullptr && !arguments.count) {
        return nullptr;
    }
    auto selection = std::make_unique<filtering_sink>(
        filter, sink, arguments.count.value_or(UINT64_MAX), print_mismatch);
    selection->sample_with(sampler);
    return selection;
}

/// Whether events or providers are missing.
bool has_loss(const recording_summary& summary) noexcept {
    return summary.lost != 0 || summary.providers_refused != 0;
}

/// Without a file, standard output has only events, and the summary is text.
void print_recording_summary(const record_arguments& arguments, const recording_summary& summary,
                             const filtering_sink* selection, const record_sampler* sampler,
                             const command_processes& processes) {
    summary_notes notes;
    notes.output = output_name(arguments);
    if (arguments.where) {
        notes.passed = selection->wanted();
    }
    if (arguments.count) {
        notes.kept = selection->passed();
    }
    if (sampler != nullptr) {
        notes.omitted = sampler->report();
    }
    if (arguments.json && arguments.output) {
        notes.command = processes.as_json();
        print_summary_as_json({}, summary, notes);
    } else {
        print_summary(summary, notes);
    }
    processes.print_counts();
}

/// No progress line with a command, whose output would overwrite it.
recording_summary run(live_recording& process, const record_arguments& arguments, bool is_alone,
                      record_sink& sink, const std::function<bool()>& stop) {
    std::optional<recording_progress> progress;
    if (is_alone) {
        progress.emplace(arguments.output ? concurrent_output::nothing : concurrent_output::records,
                         arguments.listening.overwrite);
    }
    return process.run(
        sink,
        [&] {
            if (progress) {
                progress->update(process);
            }
            return stop();
        },
        arguments.latency ? parse_latency(*arguments.latency) : recording::default_latency);
}

/// Records, until the command ends if there is one.
void record(const requested_route& route, const record_arguments& arguments,
            subscription_options& options, stop_condition& stop,
            const std::vector<std::string>& command) {
    const std::unique_ptr<record_filter> filter =
        make_live_filter(arguments.where, options.patterns);
    const bool is_alone = command.empty();
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
    }
    if (arguments.explain) {
        write_all(STDOUT_FILENO, process->explain() + explain_sampling(options));
        if (is_limited_to_command(arguments, command)) {
            write_all(STDOUT_FILENO, explanation_of_command_scope);
        }
        return;
    }
    const std::unique_ptr<record_sink> sink = make_sink(arguments, stop);
    const std::unique_ptr<record_sampler> sampler = make_sampler(options);
    const std::unique_ptr<filtering_sink> selection =
        make_selection(arguments, filter.get(), sampler.get(), *sink);
    command_processes processes(is_limited_to_command(arguments, command),
                                selection ? static_cast<record_sink&>(*selection) : *sink);
    std::optional<child_process> child;
    if (!is_alone && stop_requested().count == 0) {
        child.emplace(command);
        processes.begin(child->pid());
        stop.watch(*child);
    }
    recording_summary summary;
    try {
        summary = run(*process, arguments, is_alone, processes.sink(), [&] {
            processes.poll();
            return stop() || (selection && selection->is_full());
        });
        processes.complete(summary);
        print_recording_summary(arguments, summary, selection.get(), sampler.get(), processes);
        print_type_mismatches(filter.get(), nullptr);
    } catch (...) {
        if (child) {
            print_child_status(*child);
        }
        throw;
    }
    if (child) {
        print_child_status(*child);
        if (!arguments.listening.wait) {
            process->check_patterns_after_command();
        }
    }
    check_names(filter.get(), nullptr);
    if (arguments.fail_on_loss && has_loss(summary)) {
        throw events_lost{};
    }
}

void run_record(const record_arguments& arguments, const std::vector<std::string>& command) {
    subscription_options options =
        make_subscription_options(arguments.listening, sampling_is_allowed);
    add_max_rate(options, arguments.max_rate);
    const requested_route route = parse_route(arguments.route, arguments.listening);
    check_file_options(arguments);
    if (arguments.all_processes && command.empty()) {
        throw usage_error("--all-processes is for a recording with a command, which has only its "
                          "processes by default: add -- COMMAND, or leave out the option.");
    }
    if (arguments.listening.overwrite) {
        check_overwrite(arguments);
    }
    if (arguments.latency) {
        static_cast<void>(parse_latency(*arguments.latency));
    }
    stop_condition stop(arguments.duration);
    if (!command.empty()) {
        check_command(command.front());
    }
    catch_stop_signals();
    try {
        record(route, arguments, options, stop, command);
    } catch (const output_closed&) {
        if (!arguments.fail_on_loss) {
            throw;
        }
        print_diagnostic("elog: Standard output was closed; later events are lost.");
        throw events_lost{};
    }
}

}  // namespace

void add_record(command_line& line, const std::vector<std::string>& command) {
    subcommand record =
        line.add_subcommand("record", "Record events of running programs, live or into a file");
    const auto arguments = std::make_shared<record_arguments>();
    add_listening_options(record, arguments->listening);
    add_output_option(record, arguments->output,
                      "Write an .elog file instead of text to standard output");
    add_compress_option(record, arguments->compression);
    record.add_option("--rotate SIZE|TIME", arguments->rotate,
                      "Start a new file, FILE-000001.elog and so on, after each 64MiB or 10s");
    record.add_option("--keep NUMBER", arguments->keep, "Keep that many files, the newest")
        .range(1, 1'000'000);
    record.add_option("--max-total SIZE", arguments->max_total,
                      "Keep as many files as fit into that size");
    record.add_option("--duration TIME", arguments->duration,
                      "Stop after that time: 10s, 500ms, 2m");
    record.add_option("--latency TIME", arguments->latency,
                      "Maximum delay of a printed event, 1ms to 10s; by default 10ms");
    record.add_option("--limit NUMBER", arguments->count, "Stop after that many events")
        .range(1, 1'000'000'000);
    record.add_option("--where PREDICATE", arguments->where, where_help);
    record.add_option("--max-rate NUMBER", arguments->max_rate, max_rate_help);
    add_route_options(record, arguments->route);
    record.add_flag("--all-processes", arguments->all_processes,
                    "With a command: not only the command and its descendants");
    record.add_flag("--explain", arguments->explain,
                    "Do not record: print where the selection would be evaluated");
    record.add_flag("--fail-on-loss", arguments->fail_on_loss,
                    "Exit with status 3 if events were lost");
    record.add_flag("-j,--json", arguments->json,
                    "Print events as JSON Lines; with -o, write the summary as JSON");
    record.footer("With -- COMMAND, the command and its descendants are recorded, until it ends.\n"
                  "Examples:\n"
                  "  elog record -e 'shop:*' --duration 10s\n"
                  "  elog record -e 'shop:order_* 1/100' -o run.elog -- ./order_service 5");
    record.action([arguments, command] { run_record(*arguments, command); });
}

}  // namespace elog
