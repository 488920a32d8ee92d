// SPDX-License-Identifier: MIT
//
// Plans how the records of each event enter an aggregation: names are resolved and types checked
// once for each event of a schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "aggregate/aggregation.hpp"
#include "aggregate/key_table.hpp"
#include "predicate/record_filter.hpp"
#include "predicate/value_location.hpp"
#include "schema/type_mismatches.hpp"

namespace elog {

/// The display format of a call's values, determined by the first field that supplied one.
struct display_format {
    eventlog::format format = eventlog::format::plain;
    std::string unit{};
    bool known = false;
    bool floating = false;  // at least one value is a float
    std::size_t size = 0;   // of the widest type, for hexadecimal numbers
};

/// The input of a call from the records of one event.
struct call_input {
    bool taken = false;  // the event has what the call needs
    bool has_field = false;
    stored_location place{};
    std::uint64_t fixed_bits = 0;  // of a location that is the same for all records
    double step = 0;
    std::uint64_t integer_bucket_width = 0;
    bool powers_of_two = false;
};

struct event_plan {
    bool wanted = false;
    bool needs_test = false;
    bool has_fixed_key = false;           // the same for all records of the event
    std::size_t group = key_table::none;  // of the fixed key, once known
    std::vector<call_input> calls{};
    std::vector<value_location> keys{};
    std::vector<std::uint32_t> key_format_ids{};  // differs if equal values look different
    std::size_t size = 0;                         // required size of the payload
    std::shared_ptr<const provider_instance> provider{};
};

class aggregate_planner {
  public:
    aggregate_planner(aggregation query, event_choice chosen);

    /// Replaces `plans` with those of the provider's events. Throws user_error if a call cannot use
    /// a field of an event, after planning the other events. `filter` may be null.
    void plan(const provider_instance& provider, const record_filter* filter,
              std::vector<event_plan>& plans);
    /// Throws user_error if there are events, but none has one of the requested fields.
    void check_names() const;

    [[nodiscard]] const aggregation& query() const noexcept { return query_; }
    [[nodiscard]] const display_format& display_format_of(std::size_t call) const {
        return display_formats_[call];
    }
    [[nodiscard]] double bucket_width_of(std::size_t call) const { return bucket_widths_[call]; }
    /// Events that do not suit the calls.
    [[nodiscard]] type_mismatches& mismatches() noexcept { return mismatches_; }
    [[nodiscard]] const type_mismatches& mismatches() const noexcept { return mismatches_; }

  private:
    [[nodiscard]] event_plan plan_event(const std::shared_ptr<const provider_instance>& provider,
                                        const event_schema& event);
    [[nodiscard]] call_input plan_call(std::size_t call, const provider_instance& provider,
                                       const event_schema& event);
    void plan_bucket_width(std::size_t call, const value_location& place, call_input& input,
                           const std::string& called);
    void unify_display_format(std::size_t call, const value_location& place,
                              const std::string& called);
    [[nodiscard]] std::uint32_t key_format_id(const value_location& place);
    void note_names(const provider_instance& provider, const event_schema& event);

    aggregation query_;
    event_choice chosen_;
    std::vector<display_format> display_formats_;  // by call
    std::vector<double> bucket_widths_;            // by call, in the field's unit; 0: none
    std::unordered_map<std::string, std::uint32_t> key_format_ids_;
    std::vector<bool> known_calls_;
    std::vector<bool> known_keys_;
    known_names names_;
    bool has_events_ = false;
    type_mismatches mismatches_;
};

}  // namespace elog
