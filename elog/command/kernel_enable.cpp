// SPDX-License-Identifier: MIT
//
// elog kernel enable and disable: tracing in the kernel that persists without a reader.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "cli/complaints.hpp"
#include "commands.hpp"
#include "live/kernel_event_selection.hpp"
#include "live/where.hpp"
#include "terminal/diagnostics.hpp"
#include "text/json_object.hpp"
#include "tracing/kernel_trace_condition.hpp"
#include "tracing/persistent_events.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

struct persistent_arguments {
    std::vector<std::string> globs;
    std::optional<std::string> where;
    std::optional<std::string> trigger;
    std::string instance;
    bool json = false;
};

/// An event and the condition for recording it.
struct event_change {
    const kernel_trace_event* event = nullptr;
    std::string condition{};
};

std::optional<event_trigger> trigger_of(const persistent_arguments& arguments) {
    if (!arguments.trigger) {
        return std::nullopt;
    }
    const std::optional<event_trigger> what = find_trigger(*arguments.trigger);
    if (!what) {
        throw usage_error("A trigger is stacktrace, snapshot or traceoff, and not '{}'.",
                          *arguments.trigger);
    }
    return what;
}

std::string full_name_of(const kernel_trace_event& event) {
    return fmt::format("{}:{}", event.schema->name, event.schema->events[event.position].name);
}

/// Records are not filtered again in elog, so a condition that the kernel evaluates differently is
/// an error.
std::string exact_condition(const kernel_trace_event& event, const predicate& asked) {
    const kernel_condition condition = condition_for(event, asked, current_time());
    if (condition.never_matches) {
        throw usage_error("{} is false for every {}: write a condition that can be true.",
                          asked.source(), full_name_of(event));
    }
    if (!condition.is_whole && condition.column != 0) {
        throw usage_error("{}, column {}: The kernel cannot evaluate that for {}: {}. Leave that "
                          "part out, or have elog evaluate it: elog record --via tracefs",
                          asked.source(), condition.column, full_name_of(event), condition.reason);
    }
    if (!condition.is_whole) {
        throw usage_error("{} cannot be evaluated by the kernel for {}: {}.", asked.source(),
                          full_name_of(event), condition.reason);
    }
    return condition.text;
}

/// Rejects names that no event has, and types that do not fit.
void check_predicate(const kernel_event_selection& chosen, record_filter& names) {
    std::vector<provider_instance> providers;
    for (const kernel_trace_event* event : chosen.events()) {
        provider_instance& provider = providers.emplace_back();
        provider.id = static_cast<std::uint32_t>(providers.size() - 1);
        provider.schema = *event->schema;
        provider.schema.events = {event->schema->events[event->position]};
    }
    check_found(&names, nullptr, providers, true);
}

std::vector<event_change> conditions_of(const kernel_event_selection& chosen,
                                        const std::optional<predicate>& asked) {
    std::vector<event_change> all;
    for (const kernel_trace_event* event : chosen.events()) {
        all.push_back({event, asked ? exact_condition(*event, *asked) : std::string()});
    }
    return all;
}

/// Writes a line for an event.
void print_event(const persistent_arguments& arguments, const kernel_trace_event& event,
                 const std::string& state, const std::string& condition,
                 const std::vector<std::string>& undone) {
    const tracefs::event_name& name = event.kernel_name;
    write_all(STDOUT_FILENO,
              !arguments.json
                  ? shown_name(name) + '\n'
                  : versioned_object()
                        .add("kernel_event", name.system + ":" + name.event)
                        .add("provider", event.schema->name)
                        .add("event", event.schema->events[event.position].name)
                        .add("state", state)
                        .add("undone", undone)
                        .add("trigger", arguments.trigger)
                        .add("filter", condition.empty() ? std::nullopt : std::optional(condition))
                        .line());
}

/// Reports what cannot be undone, and undoes the rest.
void undo_all(const tracefs::event_control& control, std::optional<event_trigger> what,
              const std::vector<event_change>& wanted,
              const std::vector<std::optional<tracefs::event_state>>& before) {
    for (std::size_t i = 0; i < before.size(); ++i) {
        try {
            if (before[i]) {
                undo_enable(control, wanted[i].event->kernel_name, what, *before[i]);
            }
        } catch (const user_error& mistake) {
            print_diagnostic("elog: {}", mistake.what());
        }
    }
}

/// Enables all events or none.
void run_enable(const persistent_arguments& arguments) {
    const std::optional<event_trigger> what = trigger_of(arguments);
    const std::unique_ptr<record_filter> names = make_filter(arguments.where, current_time());
    const kernel_event_selection chosen(arguments.globs);
    chosen.check_all_matched();
    const std::unique_ptr<tracefs::event_control> control = open_control(arguments.instance);
    std::optional<predicate> asked;
    if (names != nullptr) {
        check_predicate(chosen, *names);
        asked.emplace("--where", *arguments.where);
    }
    const std::vector<event_change> wanted = conditions_of(chosen, asked);
    std::vector<std::optional<tracefs::event_state>> before;
    try {
        for (const auto& [event, condition] : wanted) {
            before.push_back(enable_persistent(*control, event->kernel_name, what, condition));
        }
    } catch (...) {
        undo_all(*control, what, wanted, before);
        throw;
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        print_event(arguments, *wanted[i].event, before[i] ? "new" : "existing",
                    wanted[i].condition, {});
    }
}

void run_disable(const persistent_arguments& arguments) {
    const std::optional<event_trigger> what = trigger_of(arguments);
    const kernel_event_selection chosen(arguments.globs);
    chosen.check_all_matched();
    const std::unique_ptr<tracefs::event_control> control = open_control(arguments.instance);
    std::size_t undone = 0;
    std::size_t failed = 0;
    for (const kernel_trace_event* event : chosen.events()) {
        const disable_result end = disable_persistent(*control, event->kernel_name, what);
        print_complaints(end.mistakes);
        failed += end.mistakes.empty() ? 0U : 1U;
        if (!end.undone.empty()) {
            ++undone;
            print_event(arguments, *event, "undone", {}, end.undone);
        }
    }
    if (failed != 0) {
        throw user_error("Not everything could be undone at {} of these events, for the reasons "
                         "above. Remove the causes, and run the command again.",
                         failed);
    }
    if (undone == 0) {
        throw user_error(
            "elog kernel enable has changed nothing at these events that could be undone{}. "
            "See their state with: elog kernel list",
            arguments.instance.empty() ? "" : " in that instance");
    }
}

void add_common(subcommand& command, persistent_arguments& arguments, const char* trigger_help) {
    command.add_option("EVENT", arguments.globs, "PROVIDER or PROVIDER:EVENT, with * and ?")
        .required()
        .completes_as(value_kind::event);
    command.add_option("--trigger WHAT", arguments.trigger, trigger_help)
        .one_of({"stacktrace", "snapshot", "traceoff"});
    command.add_option("--instance NAME", arguments.instance,
                       "Use that existing instance of the kernel's tracing");
    command.add_flag("-j,--json", arguments.json, "Write a JSON object on a line for each event");
}

}  // namespace

void add_kernel_enable(command_group& kernel) {
    subcommand command = kernel.add_subcommand("enable", "Enable trace events in the kernel");
    const auto arguments = std::make_shared<persistent_arguments>();
    add_common(command, *arguments,
               "Instead of recording, at each event: stacktrace, snapshot, traceoff");
    command.add_option("--where PREDICATE", arguments->where,
                       "Only events for which this is true, evaluated by the kernel");
    command.footer("The events stay enabled until elog kernel disable, or the next boot.\n"
                   "Examples:\n"
                   "  sudo elog kernel enable 'shop:order_*' --where 'items > 2'\n"
                   "  sudo elog kernel enable shop:order_done --trigger stacktrace");
    command.action([arguments] { run_enable(*arguments); });
}

void add_kernel_disable(command_group& kernel) {
    subcommand command = kernel.add_subcommand("disable", "Disable trace events in the kernel");
    const auto arguments = std::make_shared<persistent_arguments>();
    add_common(command, *arguments, "Remove only that trigger");
    command.footer("Only settings of elog kernel enable are undone.\n"
                   "Examples:\n"
                   "  sudo elog kernel disable 'shop:order_*'\n"
                   "  sudo elog kernel disable shop:order_done --trigger stacktrace");
    command.action([arguments] { run_disable(*arguments); });
}

}  // namespace elog
