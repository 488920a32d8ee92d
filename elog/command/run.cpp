// SPDX-License-Identifier: MIT
//
// elog run: runs a script over live events or a recording. expand_script() has replaced a script
// that elog record or elog agg can run by these commands.
#include "run.hpp"

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/complaints.hpp"
#include "cli/global_options.hpp"
#include "cli/line_output.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "discovery/running_subscriptions.hpp"
#include "file/file_reader.hpp"
#include "live/aggregate_output.hpp"
#include "live/filtered_records.hpp"
#include "live/listening.hpp"
#include "live/live_recording.hpp"
#include "live/where.hpp"
#include "memory/detached_subscription.hpp"
#include "memory/running_directory.hpp"
#include "memory/snapshot_requests.hpp"
#include "output/text_writer.hpp"
#include "script/script_runner.hpp"
#include "script/script_sink.hpp"
#include "scripts.hpp"
#include "terminal/diagnostics.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

constexpr std::uint64_t keys_max = 1'000'000;
constexpr std::size_t buffered_max = 65536;

/// Asks each flight recorder, as programs do. One that was ended meanwhile has been read.
void request_snapshots(const std::string& reason) {
    std::vector<std::string> complaints;
    std::size_t asked = 0;
    if (const auto directory = open_running_directory()) {
        for (const running_subscription& each : read_subscriptions(*directory, complaints)) {
            if (each.name.empty() || each.has_ended || !each.overwrites) {
                continue;
            }
            try {
                const detached_subscription recorder(each.name);
                asked += snapshot_requests(recorder.region()).request(reason) ? 1U : 0U;
            } catch (const user_error& error) {
                complaints.emplace_back(error.what());
            }
        }
    }
    print_complaints(complaints);
    if (asked == 0) {
        print_diagnostic("elog: No flight recorder is running, so no snapshot was requested. Start "
                         "one with: elog flight start");
    }
}

/// Writes to standard output, in the order of the actions.
class action_writer final : public script_output {
  public:
    action_writer(const text_options& options, abort_check should_abort)
        : should_abort_(std::move(should_abort)), events_(STDOUT_FILENO, options, should_abort_) {}

    void print(const merged_record& record, const provider_map& providers,
               const clock_converter& clock) override {
        flush_lines();
        has_events_ = true;
        // Losses are reported at the end, whether or not the script prints events.
        merged_record alone = record;
        alone.lost_before = 0;
        events_.write(alone, providers, clock, record.ring);
    }
    void write(std::string_view lines) override {
        flush_events();
        append(lines_, lines);
        if (lines_.size() > buffered_max) {
            flush_lines();
        }
    }
    void show(const script_result& result, const aggregator& computed,
              const latency_counts* unmatched) override {
        flush_events();
        if (!result.name.empty()) {
            fmt::format_to(std::back_inserter(lines_), "@{}\n", result.name);
        }
        append_table(lines_, computed, report_style_for_output(), std::nullopt);
        if (unmatched != nullptr) {
            show_unmatched(*unmatched);
        }
        flush_lines();
        print_complaints(incompleteness_warnings(computed));
    }
    void request_snapshot(const std::string& reason) override {
        flush();
        request_snapshots(reason);
    }
    void flush() {
        flush_events();
        flush_lines();
    }

  private:
    void show_unmatched(const latency_counts& counts) {
        fmt::format_to(std::back_inserter(lines_), "unmatched: {} begins, {} ends\n",
                       counts.begins_without_end, counts.ends_without_begin);
        if (counts.unusable != 0) {
            fmt::format_to(std::back_inserter(lines_),
                           "left out: {} events without the fields, or with a time before that of "
                           "their begin\n",
                           counts.unusable);
        }
        if (counts.overflowed != 0) {
            fmt::format_to(std::back_inserter(lines_),
                           "left out: {} begins, because {} others waited for their end\n",
                           counts.overflowed, latency_pairs::open_max);
        }
    }
    void flush_events() {
        if (has_events_) {
            events_.flush();
            has_events_ = false;
        }
    }
    void flush_lines() {
        if (lines_.size() != 0) {
            write_all(STDOUT_FILENO, {lines_.data(), lines_.size()}, should_abort_);
            lines_.clear();
        }
    }

    abort_check should_abort_;
    text_writer events_;
    fmt::memory_buffer lines_;
    bool has_events_ = false;
};

/// For checks before a recording, which run nothing.
class no_output final : public script_output {
  public:
    void print(const merged_record& /*record*/, const provider_map& /*providers*/,
               const clock_converter& /*clock*/) override {}
    void write(std::string_view /*lines*/) override {}
    void show(const script_result& /*result*/, const aggregator& /*computed*/,
              const latency_counts* /*unmatched*/) override {}
    void request_snapshot(const std::string& /*reason*/) override {}
};

/// A mistake is reported by script_runner::check, unless another version of the provider fits.
void add_provider(script_runner& runner, const provider_instance& provider) {
    try {
        runner.add(provider);
    } catch (const user_error&) {  // see above
    }
}

/// Runs a script over the selected records of a recording, and counts what is missing of it.
class script_feeder final : public record_writer {
  public:
    script_feeder(script_runner& runner, const file_reader& file) : runner_(runner), file_(file) {}

    void write(const merged_record& record, const provider_map& /*providers*/,
               const clock_converter& clock, std::uint32_t /*shared_ring*/) override {
        missing_.add(missing_before(record));
        runner_.take(record, clock);
    }
    /// Ticks have the time of all records.
    void write_gap(const merged_record& record, std::uint32_t /*shared_ring*/) override {
        note(missing_before(record));
        runner_.advance(file_.clock().monotonic(order_time_of(record)));
    }
    void write_loss(const loss_report& loss, const provider_map& /*providers*/,
                    std::uint32_t /*shared_ring*/) override {
        note(missing_of(loss));
    }
    void flush() override {}
    void finish() override {}

    [[nodiscard]] const missing_count& missing() const noexcept { return missing_; }

  private:
    void note(const missing_count& missing) {
        if (!runner_.is_done()) {
            missing_.add(missing);
            runner_.note_missing(missing);
        }
    }

    script_runner& runner_;
    const file_reader& file_;
    missing_count missing_;
};

void report_missing(const missing_count& missing) {
    if (missing.lost != 0) {
        print_diagnostic("elog: The recording has lost {} events, which the script did not see.",
                         missing.lost);
    }
    if (missing.overwritten != 0) {
        print_diagnostic("elog: The script did not see {} events that newer ones had overwritten "
                         "in the buffers.",
                         missing.overwritten);
    }
}

void report_left_out(const script_runner& runner) {
    print_complaints(runner.mismatches());
    if (runner.unknown() != 0) {
        print_diagnostic("elog: {} events of unknown providers or of a newer version are left out.",
                         runner.unknown());
    }
    if (runner.skipped_ticks() != 0) {
        print_diagnostic("elog: {} ticks between events far apart were skipped.",
                         runner.skipped_ticks());
    }
}

void run_on_file(const run_arguments& arguments, const script& wanted) {
    if (wanted.has_action(action_kind::snapshot)) {
        throw usage_error("snapshot() is for live events, and not for those of a recording: leave "
                          "it out, or leave out --input.");
    }
    record_selection choice = arguments.choice;
    choice.path = *arguments.recording;
    choice.open();
    file_reader file(choice.readable_path(), choice.range());
    text_options options = standard_output_options();
    options.utc = choice.times.utc;
    options.clock = parse_clock(choice.times);
    action_writer output(options, {});
    script_runner runner(
        wanted, {recording_start(choice.readable_path()), static_cast<std::size_t>(arguments.keys)},
        output);
    for (const auto& [id, provider] : file.providers()) {
        add_provider(runner, provider);
    }
    runner.check_patterns();
    runner.check(true);
    script_feeder feeder(runner, file);
    filtered_records selected(choice, file.providers(), file.shared_ring(), feeder, false);
    selected.skip_to_tail(choice, file);
    runner.begin();
    read_with_progress(
        file, choice, concurrent_output::records,
        [&](const merged_record& record) { selected.write(record, file.clock()); },
        [&] { return runner.is_done() || selected.is_full(); });
    selected.finish(file.losses(), file.clock());
    runner.finish();
    output.flush();
    report_missing(feeder.missing());
    report_left_out(runner);
    selected.print_type_mismatches();
    selected.check_names();
    choice.complain(file);
}

std::string explain_predicate(const script& wanted) {
    const std::string where = wanted.common_predicate();
    return where.empty() ? "" : fmt::format("--where          {}\n", where);
}

constexpr std::string_view explained_actions =
    "elog runs        all predicates and actions: the kernel aggregates for a script of one "
    "clause\n"
    "                 that only aggregates, by the same fields\n";

void run_live(const run_arguments& arguments, const script& wanted) {
    listening_arguments listening = arguments.listening;
    listening.events = wanted.patterns();
    subscription_options options = make_subscription_options(listening);
    const std::function<bool()> stop = make_stop_condition(arguments.duration);
    const requested_route route = parse_route(arguments.route, listening);
    catch_stop_signals();
    const script_run_options run_options{current_time(), static_cast<std::size_t>(arguments.keys)};
    action_writer output(standard_output_options(), stop);
    script_runner runner(wanted, run_options, output);
    std::optional<std::string> where = wanted.common_predicate();
    where = where->empty() ? std::nullopt : where;
    narrow_subscription(options, where, !listening.wait);
    const std::unique_ptr<live_recording> process =
        begin_recording(route, listening, options, where);
    no_output none;
    script_runner checker(wanted, run_options, none);
    for (const provider_instance& provider : process->found()) {
        add_provider(checker, provider);
    }
    checker.check(!listening.wait);
    if (!listening.wait) {
        process->check_patterns_before();
    }
    if (arguments.explain) {
        write_all(STDOUT_FILENO, fmt::format("{}{}{}", explain_predicate(wanted),
                                             process->explain(), explained_actions));
        return;
    }
    runner.begin();
    output.flush();
    if (!runner.is_done()) {
        script_sink sink(runner, print_mismatch);
        report_losses(process->run(sink, [&] {
            output.flush();
            return stop() || runner.is_done();
        }));
    }
    runner.finish();
    output.flush();
    report_left_out(runner);
    runner.check(true);
}

}  // namespace

void check_run_options(const run_arguments& arguments) {
    if (arguments.keys == 0 || arguments.keys > keys_max) {
        throw usage_error("--keys is a number from 1 to {}.", keys_max);
    }
    const listening_arguments& listening = arguments.listening;
    const bool listens = listening.wait || arguments.duration || !listening.sessions.empty() ||
                         !listening.pids.empty() || !listening.process_names.empty() ||
                         listening.buffer_size || arguments.route.via || arguments.route.stacks ||
                         arguments.explain;
    if (arguments.recording && listens) {
        throw usage_error("--session, -p, --comm, --buffer-size, --wait, --via, --stack, --explain "
                          "and --duration are for live events: leave them out, or leave out "
                          "--input.");
    }
    const time_arguments& times = arguments.choice.times;
    if (!arguments.recording && (arguments.choice.is_part() || times.clock || times.utc)) {
        throw usage_error("--since, --until, --where, --limit, --tail, --clock and --utc are for a "
                          "recording: add --input, or use --duration and /PREDICATE/ in the "
                          "script.");
    }
}

namespace {

void run_command(const run_arguments& arguments) {
    if (arguments.file.has_value() == arguments.text.has_value()) {
        throw usage_error("{}", arguments.file
                                    ? "The script is given twice: leave out FILE or -n."
                                    : "The script is missing: give it as FILE or with -n.");
    }
    check_run_options(arguments);
    script_input input;
    if (arguments.file) {
        input = script_input::from_file(*arguments.file);
    } else {
        input.text = *arguments.text;
    }
    run_script(arguments, input.parse(), input);
}

}  // namespace

void run_script(const run_arguments& arguments, const script& wanted, const script_input& input) {
    input.locate_mistakes([&] {
        if (arguments.recording) {
            run_on_file(arguments, wanted);
        } else {
            run_live(arguments, wanted);
        }
    });
}

void add_run(command_line& line) {
    subcommand command = line.add_subcommand("run", "Run a script, in the syntax of elog -n");
    const auto arguments = std::make_shared<run_arguments>();
    command
        .add_option("FILE", arguments->file, "Script: PROVIDER:EVENT /PREDICATE/ { ACTION; ... }")
        .completes_as(value_kind::file);
    command.add_option("-n,--script SCRIPT", arguments->text, "Script on the command line");
    command
        .add_option("-i,--input RECORDING", arguments->recording,
                    "Run over a recording of elog, perf or trace-cmd; - is standard input")
        .completes_as(value_kind::file);
    add_source_options(command, arguments->listening);
    command.add_flag("-w,--wait", arguments->listening.wait,
                     "Start even if no running program has a matching event");
    add_route_options(command, arguments->route);
    add_part_options(command, arguments->choice);
    command.add_option("--duration TIME", arguments->duration, "Stop after that time");
    command.add_option("--keys NUMBER", arguments->keys,
                       "Number of different keys to keep; others are left out and counted");
    command.add_flag("--explain", arguments->explain,
                     "Run nothing: print the gates and what the kernel evaluates");
    command.footer("A script of one clause that only prints or aggregates runs as elog record or\n"
                   "elog agg, and takes their options instead of these; see elog-run(1).\n"
                   "Examples:\n"
                   "  elog run slow_orders.script --duration 10s\n"
                   "  elog run order_times.script -i run.elog");
    command.action([arguments] { run_command(*arguments); });
}

}  // namespace elog
