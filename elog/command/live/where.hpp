// SPDX-License-Identifier: MIT
//
// The option --where, and checks of the command line against schemas.
//
// A predicate that does not fit the schemas is a mistake on the command line: usage_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "memory/subscription.hpp"
#include "predicate/record_filter.hpp"
#include "schema/patterns.hpp"

namespace elog {

inline constexpr const char* where_help =
    "Only events for which this is true: 'items > 2', elog-predicate(7)";

/// nullptr without a predicate.
[[nodiscard]] std::unique_ptr<record_filter> make_filter(const std::optional<std::string>& where,
                                                         std::int64_t reference_time,
                                                         event_choice chosen = {});

/// The same for live events: only events that match a pattern are checked, and times without a date
/// are today. The patterns have to outlive the filter.
[[nodiscard]] std::unique_ptr<record_filter> make_live_filter(
    const std::optional<std::string>& where, const event_patterns& patterns);

/// The same for a recording: times without a date are on the day on which it began.
[[nodiscard]] std::unique_ptr<record_filter> make_file_filter(
    const std::optional<std::string>& where, const std::string& path);

/// The current time in nanoseconds since 1970.
[[nodiscard]] std::int64_t current_time();

/// Adds all providers of a file to the filter and the aggregator, each of which may be nullptr,
/// here and below. Unknown names are a mistake only if `all_are_known`. Unsuitable types of an
/// event are a mistake unless another version of its provider has suitable ones.
void add_providers(record_filter* filter, aggregator* computed, const provider_map& providers,
                   bool all_are_known);

/// Throws usage_error for a name that no event has.
void check_names(const record_filter* filter, const aggregator* computed);

/// After all records of a file: reports names of events and providers that the predicate compares
/// with and that the file does not have.
void print_unknown_events(const record_filter* filter);

/// After all records: reports how many were left out because their version of an event has
/// unsuitable types.
void print_type_mismatches(const record_filter* filter, const aggregator* computed);

/// Checks a predicate and an aggregation against the providers that exist before a recording. Uses
/// up both objects. `all_are_known` as above.
void check_found(record_filter* filter, aggregator* computed,
                 const std::vector<provider_instance>& found, bool all_are_known);

/// Limits the patterns of the subscription to events that the predicate can match, as far as
/// patterns express it. A program without a matching event does not attach, so that names of its
/// events stay unknown. Therefore applies only if `all_are_there`, or if the predicate uses only
/// names that every event has.
void narrow_subscription(subscription_options& options, const std::optional<std::string>& where,
                         bool all_are_there);

/// Adds providers to a filter, so that their names are known even if no event of them follows.
void add_found_providers(record_filter& filter, const std::vector<provider_instance>& found);

/// Whether any pattern matches the event. The patterns have to outlive the result.
[[nodiscard]] event_choice matches_any_pattern(const event_patterns& patterns);

}  // namespace elog
