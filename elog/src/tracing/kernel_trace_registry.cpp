// SPDX-License-Identifier: MIT
#include "tracing/kernel_trace_registry.hpp"

#include <algorithm>

#include "base/user_error.hpp"
#include "schema/schema_binary.hpp"
#include "schema/stack_field.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

/// The systems of programs, and each system that a pattern names without wildcards.
std::vector<std::string> systems_of(const event_patterns& patterns) {
    std::vector<std::string> systems{"eventlog", "user_events", "user_events_multi"};
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        std::string system = patterns[i].substr(0, patterns[i].find(':'));
        const bool is_known = std::find(systems.begin(), systems.end(), system) != systems.end();
        if (!is_known && system.find_first_of("*?") == std::string::npos) {
            systems.push_back(std::move(system));
        }
    }
    return systems;
}

/// A derived schema while its events are collected.
struct derived_schema {
    provider_schema schema;
    std::vector<std::size_t> members;  // by position
};

/// The derived schemas of one provider.
struct derived_provider {
    std::vector<derived_schema> schemas;
    std::map<std::string, std::size_t>
        next;  // by event name: index of the first schema without that event
};

}  // namespace

kernel_trace_registry::kernel_trace_registry(const event_patterns& patterns,
                                             read_published published, list_names names,
                                             read_format formats)
    : patterns_(patterns),
      published_(std::move(published)),
      names_(std::move(names)),
      formats_(std::move(formats)),
      systems_(systems_of(patterns)),
      matched_(patterns.size()) {}

std::vector<const kernel_trace_event*> kernel_trace_registry::discover() {
    std::vector<tracefs::event_name> fresh = names_(systems_);
    std::erase_if(fresh,
                  [&](const auto& name) { return !seen_.emplace(name.system, name.event).second; });
    if (fresh.empty()) {
        return {};
    }
    read_schemas();
    std::vector<unpublished_event> loose;
    std::vector<std::uint16_t> found;
    for (const tracefs::event_name& name : fresh) {
        try {
            convert_tracefs_errors([&] { read_one(name, loose, found); });
        } catch (const user_error& mistake) {
            diagnostics_.emplace_back(mistake.what());
        }
    }
    bind(loose, found);
    std::vector<const kernel_trace_event*> events;
    for (const std::uint16_t id : found) {
        events.push_back(&events_.at(id));
    }
    return events;
}

/// Several programs may publish the same schema.
void kernel_trace_registry::read_schemas() {
    for (provider_schema& schema : published_()) {
        const bool is_known = std::any_of(schemas_.begin(), schemas_.end(), [&](const auto& known) {
            return known.published->binary == schema.binary;
        });
        if (is_known) {
            continue;
        }
        published_schema added;
        added.published = std::make_shared<const provider_schema>(std::move(schema));
        added.used = has_stacks_ ? with_stack_fields(*added.published) : added.published;
        schemas_.push_back(std::move(added));
    }
}

/// Uses a published schema for the event, if one matches.
bool kernel_trace_registry::publish(kernel_trace_event& event) {
    for (const auto& [published, used] : schemas_) {
        if (const auto position = find_published(event.name, event.format, *published)) {
            const event_schema& known = used->events[*position];
            event.is_published = true;
            event.schema = used;
            event.position = *position;
            event.plan = {event.format, payload_offsets(event.format, known, true),
                          known.fixed_size};
            event.stack = stack_offset(published->events[*position], known);
            event.name.provider = used->name;
            event.name.event = known.name;
            return true;
        }
    }
    return false;
}

bool kernel_trace_registry::is_wanted(const kernel_trace_event& event) const {
    return patterns_.matches(*event.schema, event.schema->events[event.position]);
}

void kernel_trace_registry::mark_matched_patterns(const kernel_trace_event& event) {
    for (std::size_t i = 0; i < matched_.size(); ++i) {
        matched_[i] = matched_[i] ||
                      patterns_.matches(i, *event.schema, event.schema->events[event.position]);
    }
}

void kernel_trace_registry::add(kernel_trace_event&& event, std::vector<std::uint16_t>& found) {
    if (!is_wanted(event)) {
        if (!event.is_published) {
            // Its program may publish it later with another level.
            seen_.erase({event.kernel_name.system, event.kernel_name.event});
        }
        return;
    }
    mark_matched_patterns(event);
    const std::uint16_t id = event.format.id;
    // The kernel reuses a number only when the old event has no listeners; then the new event
    // counts.
    events_.insert_or_assign(id, std::move(event));
    found.push_back(id);
}

void kernel_trace_registry::read_one(const tracefs::event_name& name,
                                     std::vector<unpublished_event>& loose,
                                     std::vector<std::uint16_t>& found) {
    kernel_trace_event event;
    event.name = parse_kernel_name(name.system, name.event);
    event.kernel_name = name;
    // Reading and parsing are slow, so events that no pattern matches are skipped first.
    const std::optional<kernel_trace_name> parts = split_by_patterns(event.name, patterns_);
    if (!parts) {
        return;
    }
    const std::optional<std::string> text = formats_(name);
    if (!text) {
        seen_.erase({name.system, name.event});
        return;
    }
    event.format = tracefs::parse_format(*text, name.system);
    if (publish(event)) {
        add(std::move(event), found);
        return;
    }
    event_schema made = derive_event(event.format);
    if (has_stacks_) {
        event.stack = add_stack_field(made);
    }
    event.plan = {event.format, payload_offsets(event.format, made, false), made.fixed_size};
    made.name = parts->event;
    loose.push_back({std::move(event), std::move(made)});
    loose.back().event.name.provider = parts->provider;
}

/// Events of one provider that are found together share a schema. Events with the same name are in
/// different schemas.
void kernel_trace_registry::bind(std::vector<unpublished_event>& loose,
                                 std::vector<std::uint16_t>& found) {
    std::map<std::string, derived_provider> made;
    for (std::size_t i = 0; i < loose.size(); ++i) {
        auto& [all, next_of_name] = made[loose[i].event.name.provider];
        std::size_t& next = next_of_name[loose[i].schema.name];
        const auto has_room = [](const derived_schema& schema) {
            return schema.members.size() < schema_format::events_max;
        };
        auto place =
            std::find_if(all.begin() + static_cast<std::ptrdiff_t>(next), all.end(), has_room);
        if (place == all.end()) {
            place = all.emplace(all.end());
            place->schema.name = loose[i].event.name.provider;
        }
        next = static_cast<std::size_t>(place - all.begin()) + 1;
        place->schema.events.push_back(loose[i].schema);
        place->members.push_back(i);
    }
    for (auto& [provider, all] : made) {
        for (derived_schema& each : all.schemas) {
            write_binary(each.schema);
            const auto schema = std::make_shared<const provider_schema>(std::move(each.schema));
            for (std::size_t position = 0; position < each.members.size(); ++position) {
                kernel_trace_event& event = loose[each.members[position]].event;
                event.schema = schema;
                event.position = static_cast<std::uint16_t>(position);
                // Keeps the whole name, for a program that publishes the event later.
                event.name.provider = event.name.system == provider ? provider : std::string();
                add(std::move(event), found);
            }
        }
    }
}

void kernel_trace_registry::forget(std::uint16_t id) {
    const auto place = events_.find(id);
    if (place == events_.end()) {
        return;
    }
    const tracefs::event_name& name = place->second.kernel_name;
    seen_.erase({name.system, name.event});
    events_.erase(place);
    std::fill(matched_.begin(), matched_.end(), false);
    for (const auto& [other, event] : events_) {
        mark_matched_patterns(event);
    }
}

const kernel_trace_event* kernel_trace_registry::find(std::uint16_t id) {
    const auto place = events_.find(id);
    if (place == events_.end()) {
        return nullptr;
    }
    kernel_trace_event& event = place->second;
    if (!event.is_published && rechecked_.insert(id).second) {
        read_schemas();
        static_cast<void>(publish(event));
        event.is_excluded = !is_wanted(event);
    }
    return event.is_excluded ? nullptr : &event;
}

}  // namespace elog
