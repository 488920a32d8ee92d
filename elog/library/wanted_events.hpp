// SPDX-License-Identifier: MIT
//
// The events of a source, and the selection of records and fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <elog/event.hpp>

#include "event_info.hpp"
#include "predicate/record_filter.hpp"

namespace elog::library {

class wanted_events {
  public:
    struct options {
        std::string where;                // a predicate; empty: all records
        std::vector<std::string> fields;  // in that order; empty: all
        std::int64_t reference_time = 0;  // for times without a date
    };

    /// The origin has to keep its address. Throws user_error for an invalid predicate.
    wanted_events(const origin& from, options wanted);

    /// The provider has to keep its address. Throws user_error if types of its events do not fit
    /// the predicate; those events are then never selected.
    void add(const provider_instance& provider);

    /// From now on no record of that provider is selected.
    void exclude(std::uint32_t provider);

    /// Whether any record of the known events can be selected.
    [[nodiscard]] bool may_want_any() const noexcept;

    /// Throws user_error if there are events, but none has one of the names.
    void check_names() const;

    /// nullptr: not known.
    [[nodiscard]] const event_info* find(std::uint32_t provider,
                                         std::uint16_t event) const noexcept;
    [[nodiscard]] std::vector<event> all() const;
    /// Evaluates the predicate. Counts records whose types do not fit it.
    [[nodiscard]] bool wants(const record_view& record, const clock_converter& clock) noexcept {
        return !filter_ || filter_->matches(record, clock);
    }
    /// nullptr without a predicate.
    [[nodiscard]] const type_mismatches* mismatches() const noexcept {
        return filter_ ? &filter_->mismatches() : nullptr;
    }

  private:
    void choose_fields(event_info& event);

    const origin& from_;
    options wanted_;
    std::optional<record_filter> filter_;
    known_names names_;
    std::vector<bool> known_;                      // by wanted field
    std::vector<std::vector<event_info>> events_;  // by provider and event
};

}  // namespace elog::library
