// SPDX-License-Identifier: MIT
//
// Formats a catalogue, and schemas, as JSON.
#include <nlohmann/json.hpp>

#include "cli/json_document.hpp"
#include "discovery/catalogue_output.hpp"
#include "record/loss_names.hpp"
#include "ring/gate_layout.hpp"
#include "schema/schema_values.hpp"
#include "schema/type_text.hpp"
#include "text/json_object.hpp"

namespace elog {
namespace {

// Keeps the order of members.
using nlohmann::ordered_json;

ordered_json json_of(const eventlog_route_counters& counters) {
    return {{"written", counters.written},
            {"truncated", counters.truncated},
            {"lost", lost_count(counters)},
            {"lost_by_reason",
             {{loss_name::full, counters.lost_full},
              {loss_name::too_large, counters.lost_too_large},
              {loss_name::busy, counters.lost_busy},
              {loss_name::unattached, counters.lost_unattached},
              {loss_name::refused, counters.lost_refused}}}};
}

ordered_json json_of(const catalogue_process& process) {
    return {{"pid", process.pid},
            {"comm", process.name},
            {"uid", process.uid},
            {"instances", process.instances},
            {"counters", json_of(process.counters)},
            {"user_events", json_of(process.in_kernel)}};
}

ordered_json json_of(const enumeration_schema& enumeration, eventlog::field_type type) {
    ordered_json values = ordered_json::array();
    for (const auto& [value, name] : enumeration.values) {
        ordered_json& added = values.emplace_back(ordered_json{{"name", name}});
        if (is_signed(type)) {
            added["value"] = static_cast<std::int64_t>(value);
        } else {
            added["value"] = value;
        }
    }
    return {{"name", enumeration.name},
            {"type", name_of(type)},
            {"bitmask", enumeration.is_bitmask},
            {"values", std::move(values)}};
}

ordered_json json_of(const provider_schema& schema, const type_text& types,
                     const field_schema& field) {
    ordered_json shown = {{"name", field.name},
                          {"type", types.of(field)},
                          {"base_type", name_of(field.type)},
                          {"count", field.count},
                          {"optional", field.presence != schema_format::no_index},
                          {"enumeration", nullptr},
                          {"format", name_of(field.format)},
                          {"unit", field.unit},
                          {"description", field.description},
                          {"offset_bytes", field.offset}};
    if (field.enumeration < schema.enumerations.size()) {
        shown["enumeration"] = schema.enumerations[field.enumeration].name;
    }
    return shown;
}

ordered_json json_of(const event_listener& listener) {
    return {{"slot", listener.slot},
            {"only_in_sessions", listener.in_sessions},
            {"pids", listener.pids}};
}

/// Adds the line of a program that declares a provider or an event; null if it is unknown.
void add_source(ordered_json& shown, const source_place& source) {
    shown["source_file"] = nullptr;
    shown["source_line"] = nullptr;
    if (source.line != 0) {
        shown["source_file"] = source.file;
        shown["source_line"] = source.line;
    }
}

ordered_json json_of(const provider_schema& schema, const type_text& types, std::size_t id) {
    const event_schema& event = schema.events[id];
    ordered_json keywords = ordered_json::array();
    for (const auto& [bit, name] : schema.keywords) {
        if ((event.keywords >> bit & 1U) != 0) {
            keywords.push_back(name);
        }
    }
    ordered_json fields = ordered_json::array();
    for (const field_schema& field : event.fields) {
        fields.push_back(json_of(schema, types, field));
    }
    ordered_json shown = {{"event", event.name},
                          {"event_id", id},
                          {"level", name_of(event.severity)},
                          {"kind", name_of(event.kind)},
                          {"session_bound", event.session_bound},
                          {"truncates", event.truncates},
                          {"keywords", std::move(keywords)},
                          {"description", event.description},
                          {"when", event.when},
                          {"fixed_bytes", event.fixed_size},
                          {"fields", std::move(fields)}};
    add_source(shown, event.source);
    return shown;
}

ordered_json json_of(const std::vector<event_listener>& listeners) {
    ordered_json shown = ordered_json::array();
    for (const event_listener& listener : listeners) {
        shown.push_back(json_of(listener));
    }
    return shown;
}

ordered_json names_of(const provider_schema& schema) {
    ordered_json shown = {{"provider", schema.name},
                          {"description", schema.description},
                          {"schema_hash", fmt::format("0x{:016x}", schema.hash)},
                          {"unknown_attributes", schema.unknown_attributes}};
    add_source(shown, schema.source);
    return shown;
}

/// Adds everything but the events.
void add_vocabulary(ordered_json& shown, const provider_schema& schema, const type_text& types) {
    shown["keywords"] = ordered_json::array();
    shown["enumerations"] = ordered_json::array();
    for (const auto& [bit, name] : schema.keywords) {
        shown["keywords"].push_back({{"name", name}, {"bit", bit}});
    }
    for (std::size_t i = 0; i < schema.enumerations.size(); ++i) {
        shown["enumerations"].push_back(json_of(schema.enumerations[i], types.of_enumeration(i)));
    }
}

ordered_json json_of(const catalogue_provider& provider) {
    const type_text types(provider.schema);
    ordered_json shown = names_of(provider.schema);
    ordered_json& processes = shown["processes"] = ordered_json::array();
    for (const catalogue_process& process : provider.processes) {
        processes.push_back(json_of(process));
    }
    add_vocabulary(shown, provider.schema, types);
    ordered_json& events = shown["events"] = ordered_json::array();
    for (const catalogue_event& event : provider.events) {
        ordered_json& added = events.emplace_back(json_of(provider.schema, types, event.id));
        added["listeners"] = json_of(event.listeners);
    }
    return shown;
}

ordered_json json_of(const provider_schema& schema) {
    const type_text types(schema);
    ordered_json shown = names_of(schema);
    add_vocabulary(shown, schema, types);
    ordered_json& events = shown["events"] = ordered_json::array();
    for (std::size_t id = 0; id < schema.events.size(); ++id) {
        events.push_back(json_of(schema, types, id));
    }
    return shown;
}

ordered_json json_of(const running_subscription& subscription) {
    ordered_json shown = {{"slot", subscription.slot},
                          {"pid", subscription.pid},
                          {"comm", subscription.process},
                          {"rules", subscription.rules()},
                          {"process_rules", subscription.processes()},
                          {"sessions", subscription.sessions},
                          {"paused", subscription.is_paused}};
    if (!subscription.name.empty()) {
        shown["name"] = subscription.name;
        shown["ended"] = subscription.has_ended;
        shown["memory_bytes"] = subscription.memory;
    }
    return shown;
}

}  // namespace

std::string catalogue_as_json(const catalogue& shown) {
    ordered_json all = {{"version", json_version},
                        {"providers", ordered_json::array()},
                        {"subscriptions", ordered_json::array()}};
    for (const catalogue_provider& provider : shown.providers) {
        all["providers"].push_back(json_of(provider));
    }
    for (const running_subscription& subscription : shown.subscriptions) {
        all["subscriptions"].push_back(json_of(subscription));
    }
    return document_text(all) + '\n';
}

std::string schemas_as_json(const std::vector<provider_schema>& schemas) {
    ordered_json all = {{"version", json_version}, {"providers", ordered_json::array()}};
    for (const provider_schema& schema : schemas) {
        all["providers"].push_back(json_of(schema));
    }
    return document_text(all) + '\n';
}

}  // namespace elog
