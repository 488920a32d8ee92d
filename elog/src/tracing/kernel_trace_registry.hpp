// SPDX-License-Identifier: MIT
//
// Finds the kernel's trace events that match patterns, and the schema of each.
//
// A provider with published and derived events appears as several providers here. Events keep their
// address until forget().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel/tracing_folder.hpp"
#include "schema/patterns.hpp"
#include "tracing/kernel_trace_event.hpp"

namespace elog {

struct kernel_trace_event {
    kernel_trace_name name;
    eventlog::tracefs::event_name kernel_name;
    eventlog::tracefs::event_format format;
    bool is_published = false;
    bool is_excluded = false;  // published later, with a level or keywords that no pattern matches
    std::shared_ptr<const provider_schema> schema;  // shared by all events of its provider
    std::uint16_t position = 0;                     // in the schema
    eventlog::tracefs::payload_plan plan;
    std::optional<std::uint16_t>
        stack;  // offset of the stack field in the payload, if there is one
};

class kernel_trace_registry {
  public:
    /// Schemas published by running programs.
    using read_published = std::function<std::vector<provider_schema>()>;
    using list_names = std::function<std::vector<eventlog::tracefs::event_name>(
        const std::vector<std::string>& systems)>;
    using read_format =
        std::function<std::optional<std::string>(const eventlog::tracefs::event_name&)>;

    /// The patterns must outlive it. Tests replace the last two arguments.
    kernel_trace_registry(const event_patterns& patterns, read_published published,
                          list_names names = eventlog::tracefs::list_events,
                          read_format formats = eventlog::tracefs::read_format);

    /// Adds a stack field to each event, see stack_field.hpp. Call it before the first discover().
    void add_stacks() noexcept { has_stacks_ = true; }

    /// Finds the matching events that have appeared since the last call. Throws user_error.
    [[nodiscard]] std::vector<const kernel_trace_event*> discover();

    /// The event with that number in the kernel's records; nullptr if it is not one of these. Call
    /// it when there is a record: if no schema was published when the event was found, it is
    /// searched once more.
    [[nodiscard]] const kernel_trace_event* find(std::uint16_t id);

    /// The event no longer exists. A new event of this name will be found again.
    void forget(std::uint16_t id);

    /// For each pattern, whether a matching event was found.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept { return matched_; }
    /// Sentences about events that were left out, since the last call.
    [[nodiscard]] std::vector<std::string> take_diagnostics() {
        return std::exchange(diagnostics_, {});
    }

  private:
    /// An event without published schema, to be combined with others into a derived one.
    struct unpublished_event {
        kernel_trace_event event;
        event_schema schema;
    };

    /// A schema as published, and as used here (with stack fields).
    struct published_schema {
        std::shared_ptr<const provider_schema> published;
        std::shared_ptr<const provider_schema> used;
    };

    void read_schemas();
    [[nodiscard]] bool publish(kernel_trace_event& event);
    [[nodiscard]] bool is_wanted(const kernel_trace_event& event) const;
    void mark_matched_patterns(const kernel_trace_event& event);
    void read_one(const eventlog::tracefs::event_name& name, std::vector<unpublished_event>& loose,
                  std::vector<std::uint16_t>& found);
    void bind(std::vector<unpublished_event>& loose, std::vector<std::uint16_t>& found);
    void add(kernel_trace_event&& event, std::vector<std::uint16_t>& found);

    const event_patterns& patterns_;
    read_published published_;
    list_names names_;
    read_format formats_;
    std::vector<std::string> systems_;
    std::set<std::pair<std::string, std::string>> seen_;
    std::vector<published_schema> schemas_;  // without duplicates
    bool has_stacks_ = false;
    std::unordered_map<std::uint16_t, kernel_trace_event> events_;
    std::set<std::uint16_t> rechecked_;
    std::vector<bool> matched_;
    std::vector<std::string> diagnostics_;
};

}  // namespace elog
