// SPDX-License-Identifier: MIT
//
// Options for the contents of text lines, and checks of the names in them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "output/line_template.hpp"
#include "predicate/record_filter.hpp"
#include "record/display_clock.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct text_options {
    display_clock clock = display_clock::realtime;
    bool utc = false;      // UTC instead of local time, for CLOCK_REALTIME
    bool delta = false;    // add the time since the previous event
    bool elapsed = false;  // add the time since the first event
    bool number = false;   // add the number of the line
    /// Nanoseconds since 1970: lines have the date from the first event on that is of another day.
    /// Without it lines have no date.
    std::optional<std::int64_t> today{};
    bool has_colors = false;                           // names of events by their level, and losses
    std::optional<std::vector<named_field>> fields{};  // only these, in this order
    std::optional<line_template> line{};               // replaces the usual line
};

/// Checks the fields that options name against events that become known one after another.
class line_name_check {
  public:
    /// Events that `chosen` rejects are ignored; empty: none.
    explicit line_name_check(const text_options& options, event_choice chosen = {});

    void add(const provider_schema& provider);
    /// Throws user_error if there are events, but none has a field named in the options.
    void check() const;

  private:
    void check(std::string_view option, const named_field& field,
               const std::vector<std::string_view>& words) const;

    std::optional<std::vector<named_field>> fields_;
    std::optional<line_template> line_;
    event_choice chosen_;
    std::set<std::string, std::less<>> names_;
    bool has_events_ = false;
    bool has_sessions_ = false;
};

/// The same for all events of a recording.
void check_fields(const text_options& options, const provider_map& providers);

}  // namespace elog
