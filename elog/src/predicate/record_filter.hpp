// SPDX-License-Identifier: MIT
//
// A predicate, applied to the records of a file or a subscription: the program for each event of
// each provider, found by number.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "predicate/compiled_predicate.hpp"
#include "predicate/predicate.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"
#include "schema/type_mismatches.hpp"

namespace elog {

/// Which events can come at all; empty: all of them.
using event_choice = std::function<bool(const provider_schema&, const event_schema&)>;

/// Names that fields have, for those that were mistyped.
class known_names {
  public:
    void add(const provider_schema& provider, const event_schema& event);
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); }
    /// Throws failure: no event has that.
    [[noreturn]] void reject(std::string_view source, const field_reference& unknown) const;

  private:
    std::set<std::string> names_;
};

class record_filter {
  public:
    enum class verdict { never, depends, always };

    /// `reference_time`, in nanoseconds since 1970, is on the day of times without a day. Events
    /// that are not chosen are never wanted, and nothing is said about them.
    record_filter(predicate wanted, std::int64_t reference_time, event_choice chosen = {});

    /// Before the provider's first record; of a second one with the same number, the second counts.
    /// Throws failure if an event's types do not allow what is asked; that event is then never
    /// wanted, its records are counted, and all others are as they should be.
    void add(const provider_instance& provider);

    /// Throws failure if there are events, but none that knows one of the names. An event that
    /// lacks a name another one has is just not wanted.
    void check_names() const;

    /// Throws failure if there is an event of which no version allows what is asked. That one of
    /// them does is enough: records of the others are left out, and counted.
    void check_types() const { mismatches_.check(); }

    /// False for records of unknown providers and events. Counts what it cannot ask.
    [[nodiscard]] bool matches(const record_view& record, const clock_converter& clock) noexcept {
        const compiled_predicate* test = find(record.header.provider, record.header.event);
        if (test == nullptr || !is_supported(record.header)) {
            return false;
        }
        if (test->never_matches()) {
            mismatches_.count(record.header);
        }
        return test->matches(record, clock);
    }

    /// What is known without looking at a record.
    [[nodiscard]] verdict verdict_of(std::uint16_t provider, std::uint16_t event) const noexcept;

    /// Events that cannot be asked.
    [[nodiscard]] const type_mismatches& mismatches() const noexcept { return mismatches_; }

  private:
    [[nodiscard]] const compiled_predicate* find(std::uint16_t provider,
                                                 std::uint16_t event) const noexcept {
        return provider < tests_.size() && event < tests_[provider].size()
                   ? &tests_[provider][event]
                   : nullptr;
    }

    predicate wanted_;
    std::int64_t reference_time_;
    event_choice chosen_;
    std::vector<bool> known_;  // by the predicate's node
    known_names names_;
    bool has_events_ = false;
    std::vector<std::vector<compiled_predicate>> tests_;  // by provider and event
    type_mismatches mismatches_;
};

}  // namespace elog
