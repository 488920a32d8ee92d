// SPDX-License-Identifier: MIT
//
// Keys of an aggregation: as bytes that are equal for values that are shown alike, and as text.
#pragma once

#include <string>

#include "predicate/value_location.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"

namespace elog {

/// One field of a key, as shown and as JSON.
struct key_text {
    std::string shown{};
    std::string json{};
};

/// Appends bytes that distinguish the value from others. False if the value does not fit the
/// payload.
[[nodiscard]] bool append_key(std::string& key, const value_location& place,
                              const record_view& record, const clock_converter& clock);

/// Formats a value that append_key has accepted.
[[nodiscard]] key_text format_key(const value_location& place, const provider_schema& provider,
                                  const record_view& record, const clock_converter& clock);

/// The same for a table: a text is in double quotes if it looks like a missing value, if blanks at
/// its ends would not be seen, or if it begins with a quote itself.
[[nodiscard]] key_text format_table_key(const value_location& place,
                                        const provider_schema& provider, const record_view& record,
                                        const clock_converter& clock);

/// Describes how values are shown. Locations with equal signatures show equal values alike.
[[nodiscard]] std::string key_format_signature(const value_location& place);

}  // namespace elog
