// SPDX-License-Identifier: MIT
#include "listening.hpp"

#include <linux/eventlog.h>

#include <bit>

#include "failure.hpp"
#include "quantities.hpp"

namespace elog {
namespace {

// The kernel's PID_MAX_LIMIT.
constexpr int pid_max = 1 << 22;

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

}  // namespace

command_option add_live_options(subcommand& command, listening_arguments& arguments) {
    const command_option events =
        command
            .add_option("-e,--event", arguments.events,
                        "PROVIDER:EVENT[@LEVEL][/KEYWORD,...], with * and ?; may be repeated")
            .one_value_each()
            .value_name("GLOB...")
            .names_a(value_kind::event);
    command
        .add_option("--session", arguments.sessions,
                    "Only events of that session, a number; may be repeated")
        .one_value_each()
        .value_name("ID...");
    command
        .add_option("-p,--pid", arguments.pids,
                    "Only events of that process, as elog list numbers it; may be repeated")
        .one_value_each()
        .range(1, pid_max)
        .value_name("PID...")
        .names_a(value_kind::process);
    command
        .add_option("--comm", arguments.process_names,
                    "Only events of processes of that name, with * and ?; may be repeated")
        .one_value_each()
        .value_name("NAME...")
        .names_a(value_kind::process_name);
    command
        .add_option("--buffer-size", arguments.buffer_size,
                    "Bytes of one of a CPU's four buffers: 128K to 64M, a power of two")
        .value_name("SIZE");
    command.add_flag("-w,--wait", arguments.wait,
                     "Start although no running program offers such an event yet");
    return events;
}

void add_listening_options(subcommand& command, listening_arguments& arguments) {
    add_live_options(command, arguments).required();
    command.add_flag("--overwrite", arguments.overwrite,
                     "Keep the newest events: they replace the oldest in the buffers");
}

subscription_options make_subscription_options(const listening_arguments& arguments) {
    subscription_options options;
    try {
        for (const std::string& event : arguments.events) {
            options.patterns.add(event);
        }
        for (const std::uint64_t session : arguments.sessions) {
            options.patterns.add_session(session);
        }
        for (const std::uint64_t pid : arguments.pids) {
            options.patterns.add_process(static_cast<std::uint32_t>(pid));
        }
        for (const std::string& name : arguments.process_names) {
            options.patterns.add_process(name);
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
    options.overwrite = arguments.overwrite;
    return options;
}

void check_patterns(const event_patterns& patterns, const std::vector<bool>& met,
                    const provider_map& providers, const char* advice) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!met[i] && !is_met(patterns, i, providers)) {
            throw failure("No running program{} offers an event that matches '{}'. {}",
                          patterns.names_processes() ? " that -p and --comm ask for" : "",
                          patterns[i], advice);
        }
    }
}

}  // namespace elog
