// SPDX-License-Identifier: MIT
//
// --where, for every command that has it, and what else is checked against schemas before anything
// is done. That a predicate does not fit is a mistake of the command line: usage_error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "file/file_reader.hpp"
#include "memory/subscription.hpp"
#include "predicate/record_filter.hpp"
#include "schema/patterns.hpp"

namespace elog {

inline constexpr const char* where_help =
    "Only events for which this is true: 'items > 2', elog-predicate(7)";

/// nullptr if there is no predicate.
[[nodiscard]] std::unique_ptr<record_filter> make_filter(const std::optional<std::string>& where,
                                                         std::int64_t reference_time,
                                                         event_choice chosen = {});

/// For a recording: times without a day are on the day on which it began.
[[nodiscard]] std::unique_ptr<record_filter> make_file_filter(
    const std::optional<std::string>& where, const std::string& path);

/// Now, in nanoseconds since 1970.
[[nodiscard]] std::int64_t current_time();

/// Tells the filter about all providers of a file. Both may be missing, here and below. Names that
/// nobody knows are a mistake only if `all_are_known`; that an event's types do not allow what is
/// asked is one unless another version of its provider has it with types that do.
void add_providers(record_filter* filter, aggregator* computed, const provider_map& providers,
                   bool all_are_known);

/// Throws failure: no event has a name that was asked for.
void check_names(const record_filter* filter, const aggregator* computed);

/// Behind all records: how many were left out because their version of an event does not allow what
/// is asked.
void print_type_mismatches(const record_filter* filter, const aggregator* computed);

/// Compares a predicate, an aggregation or both with what those offer who have been found before
/// anything is recorded. Both are used up by that. `all_are_known` as above.
void check_found(record_filter* filter, aggregator* computed,
                 const std::vector<provider_instance>& found, bool all_are_known);

/// Has programs asked for no more than the predicate can match, as far as patterns can say it. Of
/// who comes later nobody learns what its events are called if it is asked for none of them: so
/// only if `all_are_there`, or the predicate asks for nothing that an event might not have.
void narrow_subscription(subscription_options& options, const std::optional<std::string>& where,
                         bool all_are_there);

/// Tells a filter about them: of who is there maybe nothing comes, and its names are known all the
/// same.
void add_found_providers(record_filter& filter, const std::vector<provider_instance>& found);

/// Whether any pattern wants the event. The patterns must outlive it.
[[nodiscard]] event_choice matches_any_pattern(const event_patterns& patterns);

}  // namespace elog
