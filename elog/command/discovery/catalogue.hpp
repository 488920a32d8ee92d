// SPDX-License-Identifier: MIT
//
// The running providers and their listeners. catalogue_output.hpp formats them.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/running_subscriptions.hpp"
#include "ring/gate_layout.hpp"
#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct catalogue_process {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::string name;
    std::size_t instances = 1;            // one for each shared object with the provider
    eventlog_route_counters counters{};   // sum over the instances, for shared memory
    eventlog_route_counters in_kernel{};  // sum over the instances, for user_events
};

/// Lost events for all reasons.
[[nodiscard]] constexpr std::uint64_t lost_count(const eventlog_route_counters& counters) noexcept {
    return counters.lost_full + counters.lost_too_large + counters.lost_busy +
           counters.lost_unattached + counters.lost_refused;
}

/// A subscription that receives an event now.
struct event_listener {
    unsigned slot = 0;
    bool in_sessions = false;         // only in some sessions
    std::vector<std::uint32_t> pids;  // the processes from which it receives the event
};

struct catalogue_event {
    std::size_t id = 0;  // in the schema
    std::vector<event_listener> listeners;
};

/// A provider with all processes that have the same schema of it.
struct catalogue_provider {
    provider_schema schema;
    std::vector<catalogue_process> processes;  // by name, then by number
    std::vector<catalogue_event> events;       // those that match the pattern
};

struct catalogue {
    std::vector<catalogue_provider> providers;        // by name
    std::vector<running_subscription> subscriptions;  // by slot
    bool is_whole = false;                            // there is no pattern
    std::vector<std::string> complaints;              // about files that could not be read
    std::vector<std::string> unknown_keywords;        // sentences about those of the pattern
    std::optional<std::string> nearest;               // without a match: a similar name
    bool only_conditions_differ = false;              // the nearest name matches
};

/// Providers of the kernel and its modules are the same for all users and containers.
enum class catalogue_scope { programs, programs_and_kernel };

/// Throws usage_error for an invalid pattern.
void check_catalogue_pattern(const std::string& pattern);

/// All running providers that match the pattern; an empty one matches all. Throws usage_error for
/// an invalid pattern, and user_error if the directory is not usable.
[[nodiscard]] catalogue collect_catalogue(
    const std::string& pattern, catalogue_scope scope = catalogue_scope::programs_and_kernel);

}  // namespace elog
