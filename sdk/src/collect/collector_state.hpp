// SPDX-License-Identifier: MIT
//
// The object behind the handle of a collector. In memory of its own, with one cursor for each ring
// and one schema for each provider behind it.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

#include <eventlog/collector.h>

#include "collect/merged_rings.hpp"
#include "platform/error_text.hpp"
#include "ring/region.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {

/// A provider's schema, opened when its first event is read.
struct collected_provider {
    bool is_open = false;
    schema_reader schema;
};

struct event_names {
    std::array<char, sizeof eventlog_collected::provider> provider{};
    std::array<char, sizeof eventlog_collected::event_name> event{};
};

/// Stores a message for the caller, who may not want it.
inline void copy_text(const error_text& error, char* text, std::size_t size) noexcept {
    if (text != nullptr && size != 0) {
        static_cast<void>(std::snprintf(text, size, "%s", error.text().c_str()));
    }
}

}  // namespace eventlog::core

struct eventlog_collector {
    eventlog_collector(unsigned collector_slot, unsigned char* base,
                       const eventlog::core::region_geometry& plan,
                       std::span<eventlog::core::ring_cursor> cursors,
                       eventlog::core::collected_provider* table) noexcept
        : slot(collector_slot),
          region(reinterpret_cast<eventlog_region*>(base)),
          geometry(plan),
          rings(base, plan, cursors),
          providers(table) {}

    unsigned slot;
    eventlog_region* region;
    eventlog::core::region_geometry geometry;

    // The members below belong to the reading thread.
    eventlog::core::merged_rings rings;
    eventlog::core::collected_provider* providers;  // EVENTLOG_PROVIDERS_MAX
    std::uint64_t read = 0;
    std::uint64_t unknown = 0;  // records of no provider: damaged

    // The names of the last event.
    std::uint32_t named_number = 0;    // in the region; 0: none
    std::uint32_t named_provider = 0;  // its entry
    eventlog::core::event_names names{};

    // The relation of the region's clock to CLOCK_MONOTONIC.
    eventlog_clock_sample sample{};
    double rate = 1.0;            // ticks per nanosecond
    std::uint64_t last_time = 0;  // CLOCK_MONOTONIC
};
