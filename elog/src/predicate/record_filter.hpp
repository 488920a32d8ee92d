// SPDX-License-Identifier: MIT
//
// Applies a predicate to the records of a file or subscription: one compiled program for each event
// of each provider, found by number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "predicate/compiled_predicate.hpp"
#include "predicate/predicate.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"
#include "schema/type_mismatches.hpp"

namespace elog {

/// Selects the events that can arrive; empty: all.
using event_choice = std::function<bool(const provider_schema&, const event_schema&)>;

/// The names of all events, fields and values, for messages about misspelled names.
class known_names {
  public:
    void add(const provider_schema& provider, const event_schema& event);
    /// Throws user_error: no event has that field.
    [[noreturn]] void reject(std::string_view source, const field_reference& unknown) const;
    /// A sentence if the text of an equality with the built-in `event` or `provider` is the name
    /// of no event or provider.
    [[nodiscard]] std::optional<std::string> describe_unknown(std::string_view built_in,
                                                              std::string_view text) const;

  private:
    using name_set = std::set<std::string, std::less<>>;

    name_set providers_;
    name_set events_;
    name_set qualified_events_;  // PROVIDER:EVENT
    name_set fields_;
    std::map<std::string, std::string, std::less<>> values_;  // the first field with that value
};

class record_filter {
  public:
    enum class verdict { never, depends, always };

    /// `reference_time`, in nanoseconds since 1970, supplies the day of times without one. Events
    /// that `chosen` rejects never match and cause no messages.
    record_filter(predicate wanted, std::int64_t reference_time, event_choice chosen = {});

    /// Must precede the provider's first record; a second provider with the same number replaces
    /// the first. Throws user_error if an event's types do not allow a comparison: that event then
    /// never matches and its records are counted; the other events are not affected.
    void add(const provider_instance& provider);

    /// Throws user_error if there are events, but none that has one of the names. An event without
    /// a name that another one has does not match.
    void check_names() const;

    /// A sentence for each name of an event or provider in the predicate that no added provider
    /// has. It is no mistake: another recording may have it.
    [[nodiscard]] std::vector<std::string> unknown_events() const;

    /// Throws user_error if there is an event with no compatible version. With one compatible
    /// version, records of the other versions are left out and counted.
    void check_types() const { mismatches_.check(); }

    /// False for records of unknown providers and events. Counts records that could not be tested.
    [[nodiscard]] bool matches(const record_view& record, const clock_converter& clock) noexcept {
        const compiled_predicate* test = find(record.provider, record.event);
        if (test == nullptr || !is_supported(record)) {
            return false;
        }
        if (test->never_matches()) {
            mismatches_.count(record.provider, record.event);
        }
        return test->matches(record, clock);
    }

    /// The result that is known without a record.
    [[nodiscard]] verdict verdict_of(std::uint32_t provider, std::uint16_t event) const noexcept;

    /// Events whose types do not fit the predicate.
    [[nodiscard]] const type_mismatches& mismatches() const noexcept { return mismatches_; }

  private:
    [[nodiscard]] const compiled_predicate* find(std::uint32_t provider,
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
