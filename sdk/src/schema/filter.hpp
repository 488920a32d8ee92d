// SPDX-License-Identifier: MIT
//
// The filter of a subscription: rules and processes, each ended by NUL. An event is wanted if one
// rule matches. If the filter names processes, the emitting process must be one of them.
//
//     PROVIDER:EVENT[@LEVEL][/KEYWORD,KEYWORD...][#]
//     =PID
//     ~NAME
//
// PROVIDER and EVENT are patterns with * and ?. LEVEL is the most verbose wanted level (error,
// warn, info, verbose, trace, or 1 to 5; all without it). With keywords, an event matches if it has
// one of them or no keyword. A keyword that begins with 0x is a mask of bits. With #, only events
// of the subscription's sessions match. PID is the number of a process in its own pid namespace;
// NAME is a pattern for the process name at the time of publishing. All other
// entries are for readers, and ignored.
#pragma once

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

/// False if the text is not a rule.
[[nodiscard]] bool parse_rule(std::string_view text, filter_rule& rule) noexcept;

/// error, warn, info, verbose or trace, or their numbers.
[[nodiscard]] bool parse_level(std::string_view name, level& found) noexcept;

/// Whether a keyword of a rule is a mask, 0x and hexadecimal digits: no keyword has such a name.
[[nodiscard]] bool is_keyword_mask(std::string_view keyword) noexcept;
/// False if it is no mask of 64 bits.
[[nodiscard]] bool parse_keyword_mask(std::string_view keyword, std::uint64_t& mask) noexcept;
/// Whether all masks among the keywords of a rule are valid.
[[nodiscard]] bool are_valid_masks(std::string_view keywords) noexcept;

/// Removes the first valid rule from `list`. False if none is left.
[[nodiscard]] bool next_rule(std::string_view& list, filter_rule& rule) noexcept;

/// Whether an entry of a list names processes; else it is a rule.
[[nodiscard]] bool is_process_entry(std::string_view entry) noexcept;

/// Whether the list accepts events of that process; true if it names no processes.
[[nodiscard]] bool wants_process(std::string_view list, std::uint32_t pid,
                                 std::string_view name) noexcept;

/// The keywords of a provider, by name. Reads them from the schema each time: a list of them would
/// be too large for a signal stack.
class keyword_names {
  public:
    /// `schema` has just been opened; its bytes must outlive this.
    constexpr explicit keyword_names(const schema_reader& schema) noexcept : schema_(schema) {}
    /// The same for another schema, without a temporary.
    void read_from(const schema_reader& schema) noexcept { schema_ = schema; }

    /// The bits of the provider's keywords that match a comma-separated list of patterns, and those
    /// of the masks in it.
    [[nodiscard]] std::uint64_t mask_of(std::string_view names) const noexcept;

  private:
    schema_reader schema_;
};

enum class verdict {
    unwanted,
    in_session,  // in the sessions that the subscription names
    wanted,
};

[[nodiscard]] verdict judge(const filter_rule& rule, std::string_view provider,
                            const event_description& event, const keyword_names& names) noexcept;

/// The best verdict of all rules of a list.
[[nodiscard]] verdict judge(std::string_view list, std::string_view provider,
                            const event_description& event, const keyword_names& names) noexcept;

/// Calls visit(event id, verdict) for each event that the filter wants, then for the event that
/// ends a dump, which every subscription to the provider gets. Returns how many events are wanted.
/// `schema` has just been opened with the same schema as `names`, and its events are read, each
/// into `event`.
template <class Visitor>
unsigned read_wanted(schema_reader& schema, const keyword_names& names, std::string_view filter,
                     event_description& event, Visitor&& visit) noexcept {
    unsigned wanted = 0;
    std::uint16_t dump_complete_event = schema_format::no_index;
    while (schema.next_event(event)) {
        if (event.kind == kind::state_complete) {
            dump_complete_event = event.id;
            continue;
        }
        const verdict found = judge(filter, schema.provider(), event, names);
        if (found != verdict::unwanted) {
            visit(event.id, found);
            ++wanted;
        }
    }
    if (wanted != 0 && dump_complete_event != schema_format::no_index) {
        visit(dump_complete_event, verdict::wanted);
    }
    return wanted;
}

/// The same with copies.
template <class Visitor>
unsigned for_each_wanted(schema_reader schema, std::string_view filter, Visitor&& visit) noexcept {
    const keyword_names names(schema);
    event_description event;
    return read_wanted(schema, names, filter, event, visit);
}

}  // namespace eventlog::core
