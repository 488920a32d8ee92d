// SPDX-License-Identifier: MIT
//
// elog record: listen, and show or keep what is said.
#include <unistd.h>

#include <bit>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "child_process.hpp"
#include "commands.hpp"
#include "file_sink.hpp"
#include "filtering_sink.hpp"
#include "quantities.hpp"
#include "recording.hpp"
#include "stop_signal.hpp"
#include "subscription.hpp"
#include "tell.hpp"
#include "where.hpp"

namespace elog {
namespace {

using std::chrono::steady_clock;

struct record_arguments {
    std::vector<std::string> events;
    std::vector<std::uint64_t> sessions;
    std::optional<std::string> output;
    std::optional<std::string> duration;
    std::optional<std::string> buffer_size;
    int compression = 0;
    std::optional<std::string> rotate;
    std::optional<std::uint64_t> keep;
    std::optional<std::string> max_total;
    std::optional<std::string> where;
    bool wait = false;
};

/// A size or a duration: only one of them has that unit.
void parse_rotation(const std::string& text, rotation_options& rotation) {
    try {
        rotation.time = parse_duration(text);
        if (text.find_first_not_of("0123456789.") != std::string::npos &&
            rotation.time >= std::chrono::seconds(1)) {
            return;
        }
        rotation.time = {};
    } catch (const usage_failure&) {
        try {
            rotation.size = parse_size(text);
        } catch (const usage_failure&) {
            rotation.size = 0;
        }
    }
    if (rotation.size < rotation_options::size_min) {
        throw usage_failure("'{}' is no size from 1MiB and no duration from 1s: write for example "
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
            throw usage_failure("All files together have at least 4MiB; '{}' is less.",
                                *arguments.max_total);
        }
    }
    rotation.keep = arguments.keep.value_or(0);
    if (arguments.keep && !rotation.is_wanted()) {
        throw usage_failure("--keep is for several files: add --rotate.");
    }
    return options;
}

/// Without a file there is nothing that these could mean.
void check_file_options(const record_arguments& arguments) {
    const bool any =
        arguments.compression != 0 || arguments.rotate || arguments.keep || arguments.max_total;
    if (any && !arguments.output) {
        throw usage_failure("--compress, --rotate, --keep and --max-total are for files: add -o "
                            "FILE.");
    }
    if (arguments.output) {
        static_cast<void>(make_file_options(arguments));
    }
}

subscription_options make_options(const record_arguments& arguments) {
    subscription_options options;
    try {
        for (const std::string& event : arguments.events) {
            options.patterns.add(event);
        }
        for (const std::uint64_t session : arguments.sessions) {
            options.patterns.add_session(session);
        }
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
    if (arguments.buffer_size) {
        options.buffer_size = parse_size(*arguments.buffer_size);
        if (options.buffer_size < EVENTLOG_BUFFER_SIZE_MIN ||
            options.buffer_size > EVENTLOG_BUFFER_SIZE_MAX ||
            !std::has_single_bit(options.buffer_size)) {
            throw usage_failure("A buffer has 128K to 64M, and a power of two; '{}' is not one.",
                                *arguments.buffer_size);
        }
    }
    return options;
}

/// When to stop: the time is over, the command has ended, or somebody asks for it.
class stop_condition {
  public:
    explicit stop_condition(std::optional<std::chrono::nanoseconds> duration)
        : duration_(duration) {}

    /// From now on the command's end is ours.
    void watch(child_process& child) {
        child_ = &child;
        // What was asked for just before it was there has not reached it.
        const stop_request request = stop_requested();
        if (request.count != 0) {
            child.send(request.signal);
        }
        seen_ = request.count;
    }

    /// The time begins when this is asked first: when the recording does.
    bool operator()() {
        if (duration_ && !end_) {
            end_ = steady_clock::now() + *duration_;
        }
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
    child_process* child_ = nullptr;
    std::optional<std::chrono::nanoseconds> duration_;
    std::optional<steady_clock::time_point> end_;
    int seen_ = 0;
};

bool is_met(const event_patterns& patterns, std::size_t index, const provider_map& providers) {
    for (const auto& [id, provider] : providers) {
        for (const event_schema& event : provider.schema.events) {
            if (patterns.matches(index, provider.schema, event)) {
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

void print_summary(const recording_summary& summary, const std::optional<std::string>& output) {
    const double seconds = summary.elapsed.count();
    tell("{} events, {} bytes, {} lost, {:.3f} s, {:.0f} events/s{}{}", summary.events,
         summary.bytes, summary.lost, seconds, static_cast<double>(summary.events) / seconds,
         output ? ", in " : "", output.value_or(""));
    if (summary.full != 0) {
        tell("elog: {} events found no room in the buffers. Make them larger with --buffer-size.",
             summary.full);
    }
    if (summary.too_large != 0) {
        tell("elog: {} events were over {} bytes. Let the program say less at once.",
             summary.too_large, EVENTLOG_RECORD_SIZE_MAX);
    }
    if (summary.cut != 0) {
        tell("elog: {} events were too large and have been cut to fit", summary.cut);
    }
    if (summary.busy != 0) {
        tell("elog: {} events found the shared ring held by others. Use a machine with restartable "
             "sequences, or fewer threads.",
             summary.busy);
    }
    if (summary.damaged != 0) {
        tell("elog: {} events made no sense: a program has written over the buffers.",
             summary.damaged);
    }
    if (summary.providers_refused != 0) {
        tell("elog: {} providers found no room in the subscription and were not heard. Record "
             "fewer with -e.",
             summary.providers_refused);
    }
}

std::optional<std::string> output_name(const record_arguments& arguments) {
    const bool is_one = !arguments.output || !make_file_options(arguments).rotation.is_wanted();
    return is_one ? arguments.output : pattern_of_parts(*arguments.output);
}

void tell_about_child(child_process& child) {
    if (!child.has_ended()) {
        tell("elog: '{}' is still running, as process {}.", child.name(), child.pid());
    } else if (const std::optional<std::string> complaint = child.complaint()) {
        tell("elog: {}", *complaint);
    }
}

std::unique_ptr<record_sink> make_sink(const record_arguments& arguments, stop_condition& stop) {
    if (arguments.output) {
        return std::make_unique<file_sink>(make_file_options(arguments));
    }
    return std::make_unique<text_sink>(STDOUT_FILENO, [&stop] { return stop(); });
}

/// With --where: what cannot be is said before anything is recorded.
void check_where(const record_arguments& arguments, const subscription_options& options,
                 bool all_are_known) {
    check_running(make_filter(arguments.where, present_time(), chosen_by(options.patterns)).get(),
                  nullptr, all_are_known);
}

/// Records while the command runs, if there is one.
void record(const record_arguments& arguments, const subscription_options& options,
            stop_condition& stop, const std::vector<std::string>& command) {
    const std::unique_ptr<record_filter> filter =
        make_filter(arguments.where, present_time(), chosen_by(options.patterns));
    check_where(arguments, options, !arguments.wait && command.empty());
    subscription source(options);
    if (!arguments.wait && command.empty()) {
        check_patterns(options.patterns, source.patterns_met(), {},
                       "See what there is with: elog list. To wait for it, add --wait.");
    }
    const std::unique_ptr<record_sink> sink = make_sink(arguments, stop);
    std::optional<filtering_sink> passing;
    if (filter) {
        passing.emplace(*filter, *sink);
    }
    recording process(source, passing ? static_cast<record_sink&>(*passing) : *sink);
    std::optional<child_process> child;
    if (!command.empty() && stop_requested().count == 0) {
        child.emplace(command);
        stop.watch(*child);
    }
    try {
        print_summary(process.run(std::ref(stop)), output_name(arguments));
        if (passing) {
            tell("{} events passed --where", passing->passed());
        }
    } catch (...) {
        if (child) {
            tell_about_child(*child);
        }
        throw;
    }
    if (child) {
        tell_about_child(*child);
        if (!arguments.wait) {
            check_patterns(options.patterns, source.patterns_met(), process.providers(),
                           "Neither did the command while it ran. See what there is with: elog "
                           "list.");
        }
    }
    check_names(filter.get(), nullptr);
}

void run_record(const record_arguments& arguments, const std::vector<std::string>& command) {
    const subscription_options options = make_options(arguments);
    check_file_options(arguments);
    std::optional<std::chrono::nanoseconds> duration;
    if (arguments.duration) {
        duration = parse_duration(*arguments.duration);
    }
    if (!command.empty()) {
        check_command(command.front());
    }
    catch_stop_signals();
    stop_condition stop(duration);
    record(arguments, options, stop, command);
}

}  // namespace

void add_record(CLI::App& application, const std::vector<std::string>& command) {
    CLI::App* record = application.add_subcommand("record", "Show events as they happen, or keep "
                                                            "them in a file");
    const auto arguments = std::make_shared<record_arguments>();
    record
        ->add_option("-e,--event", arguments->events,
                     "What to listen to: PROVIDER:EVENT[@LEVEL][/KEYWORD,...], with * and ?; may "
                     "be repeated")
        ->required()
        ->allow_extra_args(false);
    record
        ->add_option("--session", arguments->sessions,
                     "Only events of that session, a number; may be repeated")
        ->allow_extra_args(false);
    record->add_option("-o,--output", arguments->output,
                       "Write an .elog file instead of text to standard output");
    record
        ->add_option("--compress", arguments->compression,
                     "Compress the file with zstd, at level 1 to 19; 3 without a number")
        ->expected(0, 1)
        ->default_str(std::to_string(compression_level_default))
        ->check(CLI::Range(compression_level_min, compression_level_max))
        ->option_text("[LEVEL]");
    record->add_option("--rotate", arguments->rotate,
                       "Go on in a new file, FILE-000001.elog and so on, after that size or time: "
                       "64MiB, 10s");
    record->add_option("--keep", arguments->keep, "Keep that many of these files, the newest")
        ->check(CLI::Range(1, 1'000'000))
        ->option_text("UINT");
    record->add_option("--max-total", arguments->max_total,
                       "Keep as many of these files as fit into that size");
    record->add_option("--duration", arguments->duration, "Stop after that time: 10s, 500ms, 2m");
    record->add_option("--buffer-size", arguments->buffer_size,
                       "Bytes of one of a CPU's four buffers: 128K to 64M, a power of two");
    record->add_option("--where", arguments->where, where_help);
    record->add_flag("--wait", arguments->wait,
                     "Start although no running program offers such an event yet");
    record->footer(
        "Behind -- stands a command to run; it is recorded from its first event to its end.\n"
        "Examples:\n"
        "  elog record -e 'shop:*' --duration 10s\n"
        "  elog record -e 'shop:order_*' -o run.elog -- ./order_service --fast\n"
        "  elog record -e 'net:*@warn' -e 'net:*@trace#' --session 4711");
    record->callback([arguments, command] { run_record(*arguments, command); });
}

}  // namespace elog
