// SPDX-License-Identifier: MIT
//
// elog agg: aggregates events of a recording or of running programs.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "aggregate/aggregate_report.hpp"
#include "aggregate/aggregating_sink.hpp"
#include "cli/complaints.hpp"
#include "cli/global_options.hpp"
#include "cli/quantities.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "file/file_reader.hpp"
#include "live/aggregate_output.hpp"
#include "live/filtered_records.hpp"
#include "live/listening.hpp"
#include "live/live_recording.hpp"
#include "live/where.hpp"
#include "record/display_clock.hpp"
#include "recorder/default_events.hpp"
#include "run.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

constexpr int iterations_max = 1'000'000;

constexpr missing_events no_events{
    "elog agg has no events to aggregate. Give a recording, or select events of running programs "
    "with -e, or all events of a program with -p or --comm.",
    "elog agg --help"};

struct agg_arguments {
    std::string expression;
    std::optional<std::string> file;
    record_selection choice;  // of the file; --where also of live events
    listening_arguments listening;
    route_arguments route;
    std::optional<std::string> interval;
    std::optional<std::uint64_t> iterations;
    std::optional<std::string> duration;
    std::uint64_t keys = aggregator::keys_default;
    std::optional<std::string> push_down;
    bool explain = false;
    bool json = false;
};

aggregation parse_expression(const agg_arguments& arguments) {
    return as_usage_error(
        [&] { return aggregation::parse("The aggregation", arguments.expression); });
}

/// JSON has times for programs.
std::string begin_text(const agg_arguments& arguments, std::int64_t begins) {
    if (!arguments.json) {
        return format_time_point(arguments.choice.times, begins);
    }
    fmt::memory_buffer out;
    display_time(parse_clock(arguments.choice.times)).append_to(out, begins);
    return fmt::to_string(out);
}

/// Writes one result, and reports how it is incomplete.
void show(const aggregator& computed, const agg_arguments& arguments,
          std::optional<std::int64_t> begins, const abort_check& should_abort) {
    std::optional<std::string> heading;
    if (begins) {
        heading = begin_text(arguments, *begins);
    }
    fmt::memory_buffer out;
    if (arguments.json) {
        append_json(out, computed, heading);
    } else {
        append_table(out, computed, report_style_for_output(), heading);
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()}, should_abort);
    print_complaints(incompleteness_warnings(computed));
}

interval_options intervals_of(const agg_arguments& arguments) {
    interval_options options;
    options.length = arguments.interval ? parse_duration(*arguments.interval).count() : 0;
    options.clock = parse_clock(arguments.choice.times);
    options.events_max = arguments.choice.limit.value_or(UINT64_MAX);
    options.results_max = arguments.iterations.value_or(UINT64_MAX);
    return options;
}

/// Where the last events begin that --tail selects of those that the aggregation includes. Two
/// passes need no memory for events.
class tail_of_file {
  public:
    /// Reads the file once to count them. All have to outlive this.
    tail_of_file(const agg_arguments& arguments, const record_selection& choice, file_reader& file)
        : filter_(make_file_filter(choice.where, choice.readable_path())),
          counted_(parse_expression(arguments), filter_.get(), arguments.keys) {
        if (!choice.tail) {
            return;
        }
        add_providers(filter_.get(), &counted_, file.providers(), true);
        read_with_progress(
            file, choice, concurrent_output::nothing,
            [&](const merged_record& record) { counted_.take(record.record, file.clock()); });
        skipped_ = counted_.taken() - std::min(counted_.taken(), *choice.tail);
        counted_.reset_values();
    }

    /// Whether the record, with the losses before it, precedes them. To be called for each record.
    [[nodiscard]] bool is_before(const merged_record& record, const clock_converter& clock) {
        if (counted_.taken() == skipped_) {
            return false;
        }
        counted_.take(record.record, clock);
        return true;
    }

  private:
    std::unique_ptr<record_filter> filter_;
    aggregator counted_;
    std::uint64_t skipped_ = 0;
};

void run_on_file(const agg_arguments& arguments) {
    const aggregation query = parse_expression(arguments);
    record_selection choice = arguments.choice;
    choice.path = *arguments.file;
    choice.open();
    file_reader file(choice.readable_path(), choice.range());
    const std::unique_ptr<record_filter> filter =
        make_file_filter(choice.where, choice.readable_path());
    aggregator computed(query, filter.get(), arguments.keys);
    add_providers(filter.get(), &computed, file.providers(), true);
    tail_of_file tail(arguments, choice, file);
    interval_aggregator intervals(
        computed, intervals_of(arguments),
        [&](std::optional<std::int64_t> begins) { show(computed, arguments, begins, {}); });
    read_with_progress(
        file, choice, arguments.interval ? concurrent_output::records : concurrent_output::nothing,
        [&](const merged_record& record) {
            if (!tail.is_before(record, file.clock())) {
                intervals.take(record, file.clock());
            }
        },
        [&] { return intervals.is_complete(); });
    if (choice.has_end() && !intervals.is_complete()) {
        for (const loss_report& loss : file.losses()) {
            computed.note_missing(missing_of(loss));
        }
    }
    intervals.finish();
    print_type_mismatches(filter.get(), &computed);
    print_unknown_events(filter.get());
    choice.complain(file);
}

/// Rejects an expression that does not fit the schemas, before anything is counted.
void check_expression(const agg_arguments& arguments, const event_patterns& patterns,
                      const live_recording& process) {
    const std::unique_ptr<record_filter> filter =
        make_live_filter(arguments.choice.where, patterns);
    aggregator computed(parse_expression(arguments), filter.get(), arguments.keys,
                        matches_any_pattern(patterns));
    check_found(filter.get(), &computed, process.found(), !arguments.listening.wait);
}

/// The reason why no event is counted in the kernel; empty if there is none.
std::string reason_to_count_here(const agg_arguments& arguments) {
    const listening_arguments& listening = arguments.listening;
    if (arguments.push_down == "never") {
        return "--push-down never was given";
    }
    if (arguments.interval) {
        return "--interval needs the time of each event, which the kernel's counts do not have";
    }
    if (arguments.choice.limit) {
        return "--limit ends with one of the events, and the kernel counts all";
    }
    if (!listening.pids.empty() || !listening.process_names.empty()) {
        return "-p and --comm select processes, and the kernel counts those of all";
    }
    return {};
}

/// Via tracefs and perf each event has its own explanation.
const char* explain_route(recording_route route) {
    return is_traced(route)
               ? ""
               : "elog counts      all of it: only via tracefs and perf does the kernel count\n";
}

void print_lines(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        print_diagnostic("elog: {}", text.substr(0, end));
        text.remove_prefix(std::min(end, text.size() - 1) + 1);
    }
}

/// Both arguments have to outlive the result.
kernel_counting make_counting(const agg_arguments& arguments, aggregator& computed) {
    kernel_counting counting;
    const std::string reason = reason_to_count_here(arguments);
    std::shared_ptr<const predicate> where;
    if (arguments.choice.where) {
        where = std::make_shared<const predicate>("--where", *arguments.choice.where);
    }
    counting.decide = [&arguments, &computed, reason, where, now = current_time()](
                          const kernel_trace_event& event, const kernel_condition& condition) {
        if (!reason.empty()) {
            return refused(reason);
        }
        pushdown_decision decided =
            decide_pushdown(computed.query(), arguments.keys, event, condition);
        decided.by_bpf = plan_bpf(computed.query(), arguments.keys, event, where.get(), now,
                                  eventlog::tracefs::bpf_cpus());
        return decided;
    };
    counting.take = [&computed](const std::vector<pushdown_counts>& all) {
        add_counts(computed, all);
    };
    counting.take_bpf = [&computed](const std::vector<bpf_results>& all) {
        merge_bpf_results(computed, all);
    };
    return counting;
}

void run_live(const agg_arguments& arguments) {
    subscription_options options = make_subscription_options(
        arguments.listening, "count() and sum() would be wrong without them: leave out 1/N, or "
                             "select events with narrower patterns or --where.");
    const interval_options interval = intervals_of(arguments);
    const std::function<bool()> stop = make_stop_condition(arguments.duration);
    const requested_route route = parse_route(arguments.route, arguments.listening);
    catch_stop_signals();
    const std::unique_ptr<record_filter> filter =
        make_live_filter(arguments.choice.where, options.patterns);
    aggregator computed(parse_expression(arguments), filter.get(), arguments.keys,
                        matches_any_pattern(options.patterns));
    interval_aggregator intervals(computed, interval, [&](std::optional<std::int64_t> begins) {
        show(computed, arguments, begins, stop);
    });
    narrow_subscription(options, arguments.choice.where, !arguments.listening.wait);
    const std::unique_ptr<live_recording> process =
        begin_recording(route, arguments.listening, options, arguments.choice.where,
                        make_counting(arguments, computed));
    check_expression(arguments, options.patterns, *process);
    if (!arguments.listening.wait) {
        process->check_patterns_before();
    }
    if (arguments.explain) {
        write_all(STDOUT_FILENO, process->explain() + explain_route(process->route()));
        return;
    }
    if (is_verbose() && is_traced(process->route())) {
        print_lines(process->explain());
    }
    aggregating_sink sink(filter.get(), computed, intervals, print_mismatch);
    report_losses(process->run(sink, [&] { return stop() || intervals.is_complete(); }));
    print_type_mismatches(filter.get(), &computed);
    check_names(filter.get(), &computed);
}

/// Rejects options for live events with a file, and times with live events.
void check_options(const agg_arguments& arguments) {
    const listening_arguments& listening = arguments.listening;
    if (arguments.file && !listening.events.empty()) {
        throw usage_error("Give either a recording, or patterns of live events with -e; not both.");
    }
    if (arguments.keys == 0 || arguments.keys > 1'000'000) {
        throw usage_error("--keys is a number from 1 to 1000000.");
    }
    const bool listens = listening.wait || arguments.duration || !listening.sessions.empty() ||
                         !listening.pids.empty() || !listening.process_names.empty() ||
                         listening.buffer_size || arguments.route.via || arguments.push_down ||
                         arguments.explain;
    if (arguments.file && listens) {
        throw usage_error("--session, -p, --comm, --buffer-size, --wait, --via, --push-down, "
                          "--explain and --duration are for live events: leave FILE out.");
    }
    if (arguments.push_down && *arguments.push_down != "auto" && *arguments.push_down != "never") {
        throw usage_error("--push-down is auto or never, and not '{}'.", *arguments.push_down);
    }
    const time_arguments& times = arguments.choice.times;
    if (!arguments.file && (times.has_range() || times.clock || arguments.choice.tail)) {
        throw usage_error("--since, --until, --tail and --clock are for a recording. For live "
                          "events use --duration and --limit.");
    }
    if (arguments.iterations && !arguments.interval) {
        throw usage_error("--iterations counts the results of --interval: add --interval TIME.");
    }
}

bool is_latency(std::string_view expression) noexcept {
    constexpr std::string_view name = "latency";
    const std::size_t begin = std::min(expression.find_first_not_of(" \t\n"), expression.size());
    const std::string_view call = expression.substr(begin);
    return call.starts_with(name) &&
           call.substr(name.size()).find_first_not_of(" \t\n") != std::string_view::npos &&
           call[call.find_first_not_of(" \t\n", name.size())] == '(';
}

/// A latency is of pairs of events, which a script computes.
void run_latency(const agg_arguments& arguments) {
    if (!arguments.listening.events.empty()) {
        throw usage_error("latency() names its events: leave -e out.");
    }
    if (arguments.interval || arguments.iterations || arguments.choice.limit ||
        arguments.choice.tail || arguments.json || arguments.push_down) {
        throw usage_error("--interval, --iterations, --limit, --tail, --json and --push-down are "
                          "not for latency(): leave them out.");
    }
    run_arguments run;
    run.recording = arguments.file;
    run.choice.times = arguments.choice.times;
    run.listening = arguments.listening;
    run.route = arguments.route;
    run.duration = arguments.duration;
    run.keys = arguments.keys;
    run.explain = arguments.explain;
    script_input input;
    input.text = arguments.expression;
    input.option = "The aggregation";
    script wanted;
    input.locate_mistakes(
        [&] { wanted = script::parse_latency(input.text, arguments.choice.where.value_or("")); });
    check_run_options(run);
    run_script(run, wanted, input);
}

/// Rejects a recording in front of the expression.
void check_order(const agg_arguments& arguments) {
    std::error_code ignored;
    if (arguments.file && std::filesystem::exists(arguments.expression, ignored) &&
        !std::filesystem::exists(*arguments.file, ignored)) {
        throw usage_error("The expression comes first: elog agg '{}' {}", *arguments.file,
                          arguments.expression);
    }
}

void run_agg(agg_arguments& arguments) {
    check_order(arguments);
    if (is_latency(arguments.expression)) {
        run_latency(arguments);
        return;
    }
    check_options(arguments);
    if (arguments.file) {
        run_on_file(arguments);
    } else {
        complete_events(arguments.listening, false, no_events);
        run_live(arguments);
    }
}

}  // namespace

void add_agg(command_line& line) {
    subcommand command = line.add_subcommand("agg", "Aggregate events: count, sum, distributions");
    const auto arguments = std::make_shared<agg_arguments>();
    command
        .add_option("EXPRESSION", arguments->expression,
                    "count(), sum(F), avg, min, max, stddev, hist, quantize [by F, ...]")
        .required();
    command
        .add_option("FILE", arguments->file,
                    "Recording of elog, perf or trace-cmd; - is standard input")
        .completes_as(value_kind::file);
    add_live_options(command, arguments->listening);
    add_route_options(command, arguments->route);
    add_part_options(command, arguments->choice);
    command.add_option("--interval TIME", arguments->interval,
                       "Print a result for each interval: 1s, 500ms, 2m");
    command
        .add_option("--iterations NUMBER", arguments->iterations,
                    "Stop after that many results of --interval")
        .range(1, iterations_max);
    command.add_option("--duration TIME", arguments->duration, "Stop after that time");
    command.add_option("--keys NUMBER", arguments->keys,
                       "Number of different keys to keep; others are left out and counted");
    command
        .add_option("--push-down WHEN", arguments->push_down,
                    "Via tracefs, perf: let the kernel aggregate where it can: auto, never")
        .one_of({"auto", "never"});
    command.add_flag("--explain", arguments->explain,
                     "Do not record: print what the kernel evaluates and aggregates");
    command.add_flag("-j,--json", arguments->json, "Write a JSON object on a line for each result");
    command.footer("Examples:\n"
                   "  elog agg 'sum(bytes), avg(bytes) by peer | top 10' run.elog\n"
                   "  elog agg 'count() by event' -e 'shop:*' --interval 1s --iterations 10\n"
                   "  elog agg 'hist(took)' --comm order_service --duration 10s");
    command.action([arguments] { run_agg(*arguments); });
}

}  // namespace elog
