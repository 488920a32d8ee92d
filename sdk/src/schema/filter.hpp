// SPDX-License-Identifier: MIT
//
// What a subscription asks for: rules, each ended by NUL, of which an event has to meet one, and
// processes, each ended by NUL, of which its own has to be one if any is named.
//
//     PROVIDER:EVENT[@LEVEL][/KEYWORD,KEYWORD...][#]
//     =PID
//     ~NAME
//
// PROVIDER and EVENT are patterns with * and ?. LEVEL is the most verbose level that is wanted
// (error, warn, info, verbose, trace; without it all are). With keywords, an event is wanted that
// has one of them, or none at all. With #, only events of the sessions that the subscription names.
// PID is a process as its own pid namespace numbers it; NAME is a pattern for what the kernel calls
// it when it publishes its provider.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <eventlog/schema_format.hpp>

#include "schema/schema.hpp"

namespace eventlog::core {

struct filter_rule {
    std::string_view provider;
    std::string_view event;
    level most_verbose = level::trace;
    std::string_view keywords;  // separated by commas; empty: all
    bool in_session = false;
};

/// False if that is no rule.
[[nodiscard]] bool parse_rule(std::string_view text, filter_rule& rule) noexcept;

/// error, warn, info, verbose or trace.
[[nodiscard]] bool parse_level(std::string_view name, level& found) noexcept;

/// The first of the rules in `list`, which it takes off. False if there is none left.
[[nodiscard]] bool next_rule(std::string_view& list, filter_rule& rule) noexcept;

/// Whether an entry of a list names processes; else it is a rule.
[[nodiscard]] bool is_process_entry(std::string_view entry) noexcept;

/// Whether the list wants events of that process: if it names none, of every one.
[[nodiscard]] bool wants_process(std::string_view list, std::uint32_t pid,
                                 std::string_view name) noexcept;

/// The keywords of a provider, by name.
class keyword_names {
  public:
    /// Of a schema that has just been opened.
    explicit keyword_names(schema_reader schema) noexcept;

    /// The bits of those names in a list that the provider has.
    [[nodiscard]] std::uint64_t mask_of(std::string_view names) const noexcept;

  private:
    std::array<keyword_description, keywords_max> keywords_{};
    std::size_t count_ = 0;
};

enum class verdict {
    unwanted,
    in_session,  // in the sessions that the subscription names
    wanted,
};

[[nodiscard]] verdict judge(const filter_rule& rule, std::string_view provider,
                            const event_description& event, const keyword_names& names) noexcept;

/// Over all rules of a list.
[[nodiscard]] verdict judge(std::string_view list, std::string_view provider,
                            const event_description& event, const keyword_names& names) noexcept;

/// Calls visit(event id, verdict) for each event that the filter wants, and then for the event that
/// ends a dump, which whoever gets the provider's events gets too. Returns how many are wanted.
/// `schema` has just been opened.
template <class Visitor>
unsigned for_each_wanted(schema_reader schema, std::string_view filter, Visitor&& visit) noexcept {
    const keyword_names names(schema);
    unsigned wanted = 0;
    std::uint16_t dump_complete_event = no_index;
    event_description event;
    while (schema.next_event(event)) {
        if (event.kind == kind::dump_complete) {
            dump_complete_event = event.id;
            continue;
        }
        const verdict found = judge(filter, schema.provider(), event, names);
        if (found != verdict::unwanted) {
            visit(event.id, found);
            ++wanted;
        }
    }
    if (wanted != 0 && dump_complete_event != no_index) {
        visit(dump_complete_event, verdict::wanted);
    }
    return wanted;
}

}  // namespace eventlog::core
