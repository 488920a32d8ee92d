// SPDX-License-Identifier: MIT
//
// elog flight start: starts a flight recorder.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>

#include "base/output.hpp"
#include "commands.hpp"
#include "discovery/incompatible_processes.hpp"
#include "live/keyword_watch.hpp"
#include "live/listening.hpp"
#include "live/recording_route.hpp"
#include "live/sampling.hpp"
#include "memory/running_providers.hpp"
#include "memory/subscription.hpp"
#include "recorder/default_events.hpp"
#include "ring/region.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

struct start_arguments {
    std::string name;
    listening_arguments listening;
    std::optional<std::string> where;
    route_arguments route;
    std::optional<std::string> max_rate;
    bool keep_first = false;
    bool require_match = false;
    bool json = false;
};

constexpr missing_events no_events{
    "elog flight start has no events to keep. Select some with -e, or all events of a program with "
    "-p or --comm.",
    "elog flight start --help"};

/// Rejects what needs a process that reads the events while they are kept.
void check_arguments(const start_arguments& arguments) {
    const requested_route wanted = parse_route(arguments.route, arguments.listening);
    if (wanted.route != recording_route::memory) {
        throw usage_error("A flight recorder keeps events in shared memory, which is --via memory: "
                          "leave --via out, or use: elog record --via {} -o FILE",
                          arguments.route.via.value_or(""));
    }
    if (arguments.where) {
        throw usage_error(
            "Programs write all events of a flight recorder, and elog reads them only "
            "for a snapshot: give --where to elog flight snapshot or elog flight "
            "stop, or select fewer events with narrower patterns.");
    }
}

void run_start(const start_arguments& arguments) {
    check_arguments(arguments);
    if (!eventlog::core::is_subscription_name(arguments.name)) {
        throw usage_error("A name has 1 to {} letters, digits, '-', '_' and '.', and begins with "
                          "no '-' and no '.'; '{}' is none.",
                          EVENTLOG_SUBSCRIPTION_NAME_SIZE - 1, arguments.name);
    }
    subscription_options options =
        make_subscription_options(arguments.listening, sampling_is_allowed);
    add_max_rate(options, arguments.max_rate);
    options.name = arguments.name;
    options.overwrite = !arguments.keep_first;
    subscription source(options);
    warn_incompatible_processes(source.header());
    if (!arguments.require_match) {
        warn_unknown_keywords(options.patterns, find_running_instances);
    } else {
        check_keywords(options.patterns, find_running_instances,
                       "To wait for a program that has it, leave out --require-match.");
        check_patterns(options.patterns, source.patterns_matched(), {},
                       "See the events with: elog list. To wait for it, leave out "
                       "--require-match.");
    }
    source.detach();
    if (arguments.json) {
        write_all(STDOUT_FILENO, versioned_object()
                                     .add("name", arguments.name)
                                     .add("mode", options.overwrite ? "overwrite" : "discard")
                                     .line());
        return;
    }
    print_note("'{0}' keeps the {1} events. Write them with: elog flight snapshot {0} -o FILE. "
               "End it with: elog flight stop {0} -o FILE",
               arguments.name, options.overwrite ? "newest" : "first");
}

}  // namespace

void add_flight_start(command_group& flight) {
    subcommand command = flight.add_subcommand("start", "Start a flight recorder in memory");
    const auto arguments = std::make_shared<start_arguments>();
    command
        .add_option("NAME", arguments->name, "Its name: up to 31 letters, digits, '-', '_' and '.'")
        .required();
    add_event_options(command, arguments->listening);
    command.add_option("--where PREDICATE", arguments->where,
                       "Not here: snapshot and stop select events with it");
    command.add_option("--via ROUTE", arguments->route.via, "Route of events: memory")
        .one_of({"memory"});
    command.add_option("--max-rate NUMBER", arguments->max_rate,
                       "Put at most that many events a second into snapshots; count the others");
    command.add_flag("--keep-first", arguments->keep_first,
                     "Keep the first events instead of the newest: later ones are lost");
    command.add_flag("--require-match", arguments->require_match,
                     "Fail if no running program has a matching event");
    command.add_flag("-j,--json", arguments->json, "Write a JSON object");
    command.footer("The buffers exist until elog flight stop, also after programs have ended or "
                   "crashed.\n"
                   "Examples:\n"
                   "  elog flight start shop -e 'shop:*'\n"
                   "  elog flight start service --comm order_service\n"
                   "  elog flight start boot -e 'shop:*' --keep-first --buffer-size 8x1M\n"
                   "  elog flight start load -e 'shop:* 1/100' --max-rate 10k");
    command.action([arguments] {
        complete_events(arguments->listening, false, no_events);
        run_start(*arguments);
    });
}

}  // namespace elog
