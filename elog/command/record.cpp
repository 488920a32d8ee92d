// SPDX-License-Identifier: MIT
//
// elog record: listen, and show or keep what is said.
#include <unistd.h>

#include <bit>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>

#include "child_process.hpp"
#include "commands.hpp"
#include "quantities.hpp"
#include "recording.hpp"
#include "stop_signal.hpp"
#include "subscription.hpp"

namespace elog {
namespace {

using std::chrono::steady_clock;

struct record_arguments {
    std::vector<std::string> events;
    std::string output;
    std::string duration;
    std::string buffer_size;
    bool wait = false;
};

subscription_options make_options(const record_arguments& arguments) {
    subscription_options options;
    try {
        for (const std::string& event : arguments.events) {
            options.patterns.add(event);
        }
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
    if (!arguments.buffer_size.empty()) {
        options.buffer_size = parse_size(arguments.buffer_size);
        if (options.buffer_size < EVENTLOG_BUFFER_SIZE_MIN ||
            options.buffer_size > EVENTLOG_BUFFER_SIZE_MAX ||
            !std::has_single_bit(options.buffer_size)) {
            throw usage_failure("A buffer has 128K to 64M, and a power of two; '{}' is not one.",
                                arguments.buffer_size);
        }
    }
    return options;
}

/// When to stop: the time is over, the command has ended, or somebody asks for it.
class stop_condition {
  public:
    stop_condition(std::optional<std::chrono::nanoseconds> duration, child_process* child)
        : child_(child) {
        if (duration) {
            end_ = steady_clock::now() + *duration;
        }
    }

    bool operator()() {
        const stop_request request = stop_requested();
        if (request.count > seen_ && child_ != nullptr && !request.by_terminal) {
            child_->send(request.signal);  // it ends first; its last events are recorded
        }
        seen_ = request.count;
        const int enough = child_ == nullptr ? 1 : 2;
        return request.count >= enough || (end_ && steady_clock::now() >= *end_) ||
               (child_ != nullptr && child_->has_ended());
    }

  private:
    child_process* child_;
    std::optional<steady_clock::time_point> end_;
    int seen_ = 0;
};

bool is_met(const event_patterns& patterns, std::size_t index, const provider_map& providers) {
    for (const auto& [id, provider] : providers) {
        for (const event_schema& event : provider.schema.events) {
            if (patterns.matches(index, provider.schema.name, event.name)) {
                return true;
            }
        }
    }
    return false;
}

/// A pattern that nothing answers to is most likely mistyped.
void check_patterns(const event_patterns& patterns, const std::vector<bool>& met,
                    const provider_map& providers, const char* advice) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!met[i] && !is_met(patterns, i, providers)) {
            throw failure("No running program offers an event that matches '{}'. {}", patterns[i],
                          advice);
        }
    }
}

void print_summary(const recording_summary& summary, const std::string& output) {
    const double seconds = summary.elapsed.count();
    fmt::print(stderr, "{} events, {} bytes, {} lost, {:.3f} s, {:.0f} events/s{}{}\n",
               summary.events, summary.bytes, summary.lost, seconds,
               static_cast<double>(summary.events) / seconds, output.empty() ? "" : ", in ",
               output);
    if (summary.damaged != 0) {
        fmt::print(stderr,
                   "elog: {} events made no sense and count as lost: a program has written "
                   "over the buffers.\n",
                   summary.damaged);
    }
    if (summary.providers_refused != 0) {
        fmt::print(stderr,
                   "elog: {} providers found no room in the subscription and were not "
                   "heard. Record fewer with -e.\n",
                   summary.providers_refused);
    }
    if (summary.lost != summary.damaged) {
        fmt::print(stderr, "elog: events were lost because the buffers were full. Make them larger "
                           "with --buffer-size.\n");
    }
}

void run_record(const record_arguments& arguments, const std::vector<std::string>& command) {
    const subscription_options options = make_options(arguments);
    std::optional<std::chrono::nanoseconds> duration;
    if (!arguments.duration.empty()) {
        duration = parse_duration(arguments.duration);
    }
    catch_stop_signals();
    subscription source(options);
    if (!arguments.wait && command.empty()) {
        check_patterns(options.patterns, source.patterns_met(), {},
                       "See what there is with: elog list. To wait for it, add --wait.");
    }
    std::unique_ptr<record_sink> sink;
    if (arguments.output.empty()) {
        sink = std::make_unique<text_sink>(STDOUT_FILENO);
    } else {
        sink = std::make_unique<file_sink>(arguments.output);
    }
    recording process(source, *sink);
    std::unique_ptr<child_process> child;
    if (!command.empty()) {
        child = std::make_unique<child_process>(command);
    }
    const recording_summary summary = process.run(stop_condition(duration, child.get()));
    print_summary(summary, arguments.output);
    if (child) {
        if (const std::optional<std::string> complaint = child->complaint()) {
            fmt::print(stderr, "elog: {}\n", *complaint);
        }
        if (!arguments.wait) {
            check_patterns(options.patterns, source.patterns_met(), process.providers(),
                           "Neither did the command while it ran. See what there is with: elog "
                           "list.");
        }
    }
}

}  // namespace

void add_record(CLI::App& application, const std::vector<std::string>& command) {
    CLI::App* record = application.add_subcommand("record", "Show events as they happen, or keep "
                                                            "them in a file");
    const auto arguments = std::make_shared<record_arguments>();
    record
        ->add_option("-e,--event", arguments->events,
                     "What to listen to: PROVIDER:EVENT, with * and ?; may be repeated")
        ->required()
        ->allow_extra_args(false);
    record->add_option("-o,--output", arguments->output,
                       "Write an .elog file instead of text to standard output");
    record->add_option("--duration", arguments->duration, "Stop after that time: 10s, 500ms, 2m");
    record->add_option("--buffer-size", arguments->buffer_size,
                       "Bytes of one of a CPU's four buffers: 128K to 64M, a power of two");
    record->add_flag("--wait", arguments->wait,
                     "Start although no running program offers such an event yet");
    record->footer(
        "Behind -- stands a command to run; it is recorded from its first event to its end.\n"
        "Examples:\n"
        "  elog record -e 'shop:*' --duration 10s\n"
        "  elog record -e 'shop:order_*' -o run.elog -- ./order_service --fast");
    record->callback([arguments, command] { run_record(*arguments, command); });
}

}  // namespace elog
