// SPDX-License-Identifier: MIT
//
// Finds the events of a registered provider that a filter wants.
//
// An attach may run on a signal stack, so the large objects are static, under the registry lock.
#pragma once

#include <linux/eventlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "platform/data_reader.hpp"
#include "platform/error_text.hpp"
#include "provider/registered_provider.hpp"
#include "schema/filter.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {

inline constinit schema_reader wanted_schema{};
inline constinit keyword_names wanted_keywords{schema_reader{}};
inline constinit event_description wanted_event{};
/// For messages that no user reads.
inline constinit error_text ignored_error{};

[[nodiscard]] inline std::span<const std::uint8_t> schema_bytes(
    const eventlog_provider& provider) noexcept {
    return {provider.schema, provider.schema_size};
}

/// The patterns of a subscription or a collector.
[[nodiscard]] inline std::string_view filter_of(const eventlog_region& header) noexcept {
    return {header.filter, std::min<std::size_t>(header.filter_size, sizeof header.filter)};
}

/// Calls visit(event id, verdict) for each event of the provider that the filter wants; returns how
/// many. Requires the registry lock.
template <class Visitor>
[[gnu::noinline]] unsigned for_each_wanted(const eventlog_provider& provider,
                                           std::string_view filter, Visitor&& visit) noexcept {
    if (!wanted_schema.open(schema_bytes(provider), ignored_error)) {
        return 0;
    }
    wanted_keywords.read_from(wanted_schema);
    return read_wanted(wanted_schema, wanted_keywords, filter, wanted_event, visit);
}

}  // namespace eventlog::core
