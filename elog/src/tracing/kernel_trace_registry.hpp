// SPDX-License-Identifier: MIT
//
// The trace events of the kernel that somebody asks for: which there are, and which provider's they
// are. A provider of which some events are published, and others made, is several here.
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

#include "kernel/instance.hpp"
#include "schema/patterns.hpp"
#include "tracing/kernel_trace_event.hpp"

namespace elog {

struct kernel_trace_event {
    kernel_trace_name name;
    eventlog::tracefs::event_name kernel_name;
    eventlog::tracefs::event_format format;
    bool is_published = false;
    bool is_excluded = false;  // its level or keywords, which were not known before, are not wanted
    std::shared_ptr<const provider_schema> schema;  // the same one for all events of its provider
    std::uint16_t position = 0;                     // in the schema
    eventlog::tracefs::payload_plan plan;
    std::optional<std::uint16_t> stack;  // where in the payload its word is, if it has that field
};

class kernel_trace_registry {
  public:
    /// Schemas that running programs have published.
    using read_published = std::function<std::vector<provider_schema>()>;
    using list_names = std::function<std::vector<eventlog::tracefs::event_name>(
        const std::vector<std::string>& systems)>;
    using read_format =
        std::function<std::optional<std::string>(const eventlog::tracefs::event_name&)>;

    /// The patterns must outlive it. The last two are the kernel's, unless a test has others.
    kernel_trace_registry(const event_patterns& patterns, read_published published,
                          list_names names = eventlog::tracefs::list_events,
                          read_format formats = eventlog::tracefs::read_format);

    /// From now on events have a field more, see stack_field.hpp. Before the first look().
    void add_stacks() noexcept { has_stacks_ = true; }

    /// Finds events that are there since the last call, and asked for; they stay where they are.
    /// Throws failure.
    [[nodiscard]] std::vector<const kernel_trace_event*> discover();

    /// By the number that the kernel's records begin with; nullptr: not one of these. Call it when
    /// there is a record of it: if its schema was not published when it was found, it is looked for
    /// once more.
    [[nodiscard]] const kernel_trace_event* find(std::uint16_t id);

    /// There was no such event any more when it was to be listened to; one that comes is found
    /// anew.
    void forget(std::uint16_t id);

    /// For each pattern, whether there has been an event for it.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept { return matched_; }
    /// All of them, by their numbers.
    [[nodiscard]] const std::unordered_map<std::uint16_t, kernel_trace_event>& all()
        const noexcept {
        return events_;
    }
    /// Sentences about events that are left out, since the last call.
    [[nodiscard]] std::vector<std::string> take_diagnostics() {
        return std::exchange(diagnostics_, {});
    }

  private:
    /// An event that nobody has published, to be one of a schema with others.
    struct unpublished_event {
        kernel_trace_event event;
        event_schema schema;
    };

    /// As it is published, and as events here have it.
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
    std::vector<published_schema> schemas_;  // each once
    bool has_stacks_ = false;
    std::unordered_map<std::uint16_t, kernel_trace_event> events_;
    std::set<std::uint16_t> rechecked_;
    std::vector<bool> matched_;
    std::vector<std::string> diagnostics_;
};

}  // namespace elog
