// SPDX-License-Identifier: MIT
#include "live/recording_route.hpp"

#include <algorithm>
#include <string_view>

#include "cli/usage_error.hpp"

namespace elog {
void add_route_options(subcommand& command, route_arguments& arguments) {
    command
        .add_option("--via ROUTE", arguments.via,
                    "Route of events: memory, device, relay, tracefs, perf or auto")
        .one_of({"auto", "memory", "device", "relay", "tracefs", "perf"});
    command.add_flag("--stack", arguments.stacks,
                     "With --via perf: add a field stack with the call stack");
}

requested_route parse_route(const route_arguments& arguments,
                            const listening_arguments& listening) {
    const std::string_view via = arguments.via ? std::string_view(*arguments.via) : "memory";
    if (arguments.stacks && via != name_of(recording_route::perf)) {
        throw usage_error("Only perf records call stacks: add --via perf, or leave --stack out.");
    }
    const bool is_by_module =
        via == name_of(recording_route::device) || via == name_of(recording_route::relay);
    if (listening.exclude_self && !is_by_module) {
        throw usage_error("--exclude-self leaves out kernel events about elog itself, which only "
                          "the kernel module does: add --via device or --via relay.");
    }
    if (via == "auto") {
        return {std::nullopt, false};
    }
    const std::optional<recording_route> found = find_route(via);
    if (!found) {
        throw usage_error("A route is memory, device, relay, tracefs, perf or auto, and not '{}'.",
                          via);
    }
    check_route(*found, listening);
    return {*found, arguments.stacks};
}

void check_route(recording_route route, const listening_arguments& arguments) {
    const bool has_mark =
        std::any_of(arguments.events.begin(), arguments.events.end(),
                    [](const std::string& pattern) { return pattern.ends_with('#'); });
    if (is_traced(route) && (!arguments.sessions.empty() || has_mark)) {
        throw usage_error(
            "The kernel's tracing has no sessions: select them with --where, or use --via memory.");
    }
}

}  // namespace elog
