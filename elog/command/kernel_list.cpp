// SPDX-License-Identifier: MIT
//
// elog kernel list: lists trace events of the kernel, with their fields and state.
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "commands.hpp"
#include "live/kernel_event_selection.hpp"
#include "terminal/diagnostics.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_object.hpp"
#include "tracing/persistent_events.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

struct events_arguments {
    std::vector<std::string> globs;
    std::string instance;
    bool enabled = false;
    bool json = false;
};

struct listed_event {
    const kernel_trace_event* event = nullptr;
    tracefs::event_state state;
    persistent_state persistent;
};

std::string type_of(const tracefs::format_field& field) {
    if (field.count == 0) {
        return fmt::format("{}[]", name_of(field.type));
    }
    return field.count == 1 ? std::string(name_of(field.type))
                            : fmt::format("{}[{}]", name_of(field.type), field.count);
}

const char* state_of(const listed_event& listed) {
    if (!listed.state.is_enabled) {
        return "off";
    }
    return listed.persistent.is_ours ? "enabled by elog" : "enabled";
}

void append_line(fmt::memory_buffer& out, const char* what, std::string_view text) {
    append_format(out, "  {}  ", what);
    append_visible(out, text);
    out.push_back('\n');
}

/// Shows the requested filter, without elog's mark.
void append_done(fmt::memory_buffer& out, const listed_event& listed) {
    const auto& [event, state, persistent] = listed;
    const std::string& filter = persistent.is_ours ? persistent.filter : state.filter;
    if (!filter.empty()) {
        append_line(out, "filter ", filter);
    }
    for (const std::string& trigger : state.triggers) {
        append_line(out, "trigger", trigger);
    }
}

void append_text(fmt::memory_buffer& out, const listed_event& listed) {
    const kernel_trace_event& event = *listed.event;
    append_format(out, "{}:{}  {}  {}\n", event.schema->name,
                  event.schema->events[event.position].name, shown_name(event.kernel_name),
                  state_of(listed));
    append_done(out, listed);
    std::string fields;
    for (const tracefs::format_field& field : event.format.fields) {
        fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field.name, type_of(field));
    }
    if (!fields.empty()) {
        append_line(out, "fields ", fields);
    }
}

json_object json_of(const listed_event& listed) {
    const kernel_trace_event& event = *listed.event;
    std::vector<json_object> fields;
    for (const tracefs::format_field& field : event.format.fields) {
        fields.push_back(json_object()
                             .add("name", field.name)
                             .add("type", type_of(field))
                             .add("base_type", name_of(field.type))
                             .add("count", field.count));
    }
    const auto some = [](const std::string& text) {
        return text.empty() ? std::nullopt : std::optional(text);
    };
    return versioned_object()
        .add("provider", event.schema->name)
        .add("event", event.schema->events[event.position].name)
        .add("kernel_event", event.kernel_name.system + ":" + event.kernel_name.event)
        .add("enabled", listed.state.is_enabled)
        .add("by_elog", listed.persistent.is_ours)
        .add("filter",
             some(listed.persistent.is_ours ? listed.persistent.filter : listed.state.filter))
        .add("triggers", listed.state.triggers)
        .add("fields", fields);
}

bool is_idle(const tracefs::event_state& state) {
    return !state.is_enabled && state.filter.empty() && state.triggers.empty();
}

void run_events(const events_arguments& arguments) {
    const bool asks = !arguments.globs.empty();
    const kernel_event_selection chosen(asks ? arguments.globs : std::vector<std::string>{"*:*"});
    if (asks) {
        chosen.check_all_matched();
    }
    const std::unique_ptr<tracefs::event_control> control = open_control(arguments.instance);
    fmt::memory_buffer out;
    std::size_t unread = 0;
    std::string reason;
    for (const kernel_trace_event* event : chosen.events()) {
        try {
            const tracefs::event_state state = control->state_of(event->kernel_name);
            const listed_event listed{event, state, persistent_state_of(state)};
            if (arguments.enabled && is_idle(state)) {
                continue;
            }
            if (arguments.json) {
                append(out, json_of(listed).line());
            } else {
                append_text(out, listed);
            }
        } catch (const tracefs::event_gone& mistake) {  // unregistered meanwhile
            print_diagnostic("elog: {}", mistake.what());
        } catch (const tracefs::error& mistake) {
            reason = mistake.what();
            ++unread;
        }
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()});
    if (unread != 0) {
        throw user_error("The state of {} events cannot be read. {}", unread, reason);
    }
    if (chosen.events().empty()) {
        print_note(
            "The kernel has no events of programs that use eventlog. Start one, or name events of "
            "its own: elog kernel list 'sched:*'");
    }
}

}  // namespace

void add_kernel_list(command_group& kernel) {
    subcommand command =
        kernel.add_subcommand("list", "List trace events of the kernel, with fields and state");
    const auto arguments = std::make_shared<events_arguments>();
    command
        .add_option("GLOB", arguments->globs,
                    "PROVIDER or PROVIDER:EVENT, with * and ?; the kernel's systems in full")
        .completes_as(value_kind::event);
    command.add_flag("--enabled", arguments->enabled,
                     "Only events that are enabled, or have a filter or a trigger");
    command.add_option("--instance NAME", arguments->instance,
                       "Show the state in that instance of the kernel's tracing");
    command.add_flag("-j,--json", arguments->json, "Write a JSON object on a line for each event");
    command.footer("Without GLOB: all events of programs.\n"
                   "Examples:\n"
                   "  sudo elog kernel list\n"
                   "  sudo elog kernel list 'shop:*' 'sched:*' --enabled");
    command.action([arguments] { run_events(*arguments); });
}

}  // namespace elog
