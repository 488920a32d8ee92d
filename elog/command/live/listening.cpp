// SPDX-License-Identifier: MIT
#include "live/listening.hpp"

#include <linux/eventlog.h>

#include <charconv>
#include <string_view>
#include <system_error>

#include "base/user_error.hpp"
#include "cli/quantities.hpp"
#include "schema/sampling.hpp"

namespace elog {
namespace {

// The kernel's PID_MAX_LIMIT.
constexpr int pid_max = 1 << 22;

bool is_matched(const event_patterns& patterns, std::size_t index, const provider_map& providers) {
    for (const auto& [id, provider] : providers) {
        for (const event_schema& event : provider.schema.events) {
            if (patterns.matches(index, provider.schema, event)) {
                return true;
            }
        }
    }
    return false;
}

/// SIZE or NUMBERxSIZE, both powers of two.
void parse_buffers(std::string_view text, subscription_options& options) {
    const std::size_t sign = text.find('x');
    if (sign != std::string_view::npos) {
        const std::string_view number = text.substr(0, sign);
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), options.buffers_per_cpu);
        if (error != std::errc{} || end != number.data() + number.size() ||
            !is_buffer_count(options.buffers_per_cpu)) {
            throw usage_error("A CPU has 2 to {} buffers, and a power of two; '{}' is no such "
                              "number. Write for example 8x1M.",
                              EVENTLOG_BUFFERS_MAX, number);
        }
        text.remove_prefix(sign + 1);
    }
    options.buffer_size = parse_size(text);
    if (!is_buffer_size(options.buffer_size)) {
        throw usage_error("A buffer has 128K to 32M, and a power of two; '{}' is not one.", text);
    }
}

/// Adds "PATTERN" or "PATTERN 1/N".
void add_pattern(subscription_options& options, const std::string& text, const char* no_sampling,
                 bool has_sessions) {
    const sampled_pattern wanted = parse_sampled_pattern(text);
    if (wanted.every > 1 && no_sampling != sampling_is_allowed) {
        throw usage_error("'{}' omits events. {}", text, no_sampling);
    }
    options.patterns.add(wanted.pattern);
    if (!has_sessions && wanted.pattern.ends_with('#')) {
        throw usage_error("'{}' matches events of the sessions of --session only: add --session "
                          "ID, or leave out the #.",
                          text);
    }
    options.sampling.every.push_back(wanted.every);
}

}  // namespace

void add_source_options(subcommand& command, listening_arguments& arguments) {
    command
        .add_option("--session ID...", arguments.sessions,
                    "Only events of that session; may be repeated")
        .one_value_each();
    command
        .add_option("-p,--pid PID...", arguments.pids,
                    "Only that process, by its number in elog list; may be repeated")
        .one_value_each()
        .range(1, pid_max)
        .completes_as(value_kind::process);
    command
        .add_option("--comm NAME...", arguments.process_names,
                    "Only processes with that name, with * and ?; may be repeated")
        .one_value_each()
        .completes_as(value_kind::process_name);
    command.add_option("--buffer-size SIZE", arguments.buffer_size,
                       "Size of a buffer, 128K to 32M; 8x1M for eight instead of four");
}

command_option add_event_options(subcommand& command, listening_arguments& arguments) {
    const command_option events =
        command
            .add_option("-e,--event GLOB...", arguments.events,
                        "PROVIDER:EVENT[@LEVEL][/KEYWORD,...], with * and ?; may be repeated")
            .one_value_each()
            .completes_as(value_kind::event);
    add_source_options(command, arguments);
    return events;
}

command_option add_live_options(subcommand& command, listening_arguments& arguments) {
    const command_option events = add_event_options(command, arguments);
    command.add_flag("-w,--wait", arguments.wait,
                     "Start even if no running program has a matching event");
    return events;
}

void add_listening_options(subcommand& command, listening_arguments& arguments) {
    add_live_options(command, arguments);
    command.add_flag("--overwrite", arguments.overwrite,
                     "Keep the newest events: in full buffers they overwrite the oldest");
}

subscription_options make_subscription_options(const listening_arguments& arguments,
                                               const char* no_sampling) {
    subscription_options options;
    as_usage_error([&] {
        for (const std::string& event : arguments.events) {
            add_pattern(options, event, no_sampling, !arguments.sessions.empty());
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
    });
    if (arguments.buffer_size) {
        parse_buffers(*arguments.buffer_size, options);
    }
    options.overwrite = arguments.overwrite;
    options.exclude_self = arguments.exclude_self;
    return options;
}

void check_patterns(const event_patterns& patterns, const std::vector<bool>& matched,
                    const provider_map& providers, const char* advice) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (!matched[i] && !is_matched(patterns, i, providers)) {
            throw user_error("No running program{} offers an event that matches '{}'. {}",
                             patterns.names_processes() ? " that -p and --comm ask for" : "",
                             patterns[i], advice);
        }
    }
}

}  // namespace elog
