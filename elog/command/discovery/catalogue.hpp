// SPDX-License-Identifier: MIT
//
// Who can be listened to, and who listens: found out here, shown by catalogue_output.hpp.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "discovery/running_subscriptions.hpp"
#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct catalogue_process {
    std::uint32_t pid = 0;
    std::uint32_t uid = 0;
    std::string name;
    std::size_t instances = 1;            // each shared object that uses the provider has one
    eventlog_route_counters counters{};   // of all of them, for shared memory
    eventlog_route_counters in_kernel{};  // and for user_events
};

/// For whatever reason.
[[nodiscard]] constexpr std::uint64_t lost_count(const eventlog_route_counters& counters) noexcept {
    return counters.lost_full + counters.lost_too_large + counters.lost_busy +
           counters.lost_unattached + counters.lost_refused;
}

/// A subscription that gets an event now.
struct event_listener {
    unsigned slot = 0;
    bool in_sessions = false;         // of some sessions only
    std::vector<std::uint32_t> pids;  // the processes whose event it gets
};

struct catalogue_event {
    std::size_t id = 0;  // in the schema
    std::vector<event_listener> listeners;
};

/// A provider, with all processes that have it in that very form.
struct catalogue_provider {
    provider_schema schema;
    std::vector<catalogue_process> processes;  // by name, then by number
    std::vector<catalogue_event> events;       // those asked for
};

struct catalogue {
    std::vector<catalogue_provider> providers;        // by name
    std::vector<running_subscription> subscriptions;  // by slot
    std::vector<std::string> complaints;              // about files that could not be read
    std::optional<std::string> nearest;               // if nothing matches: a name that is like it
    bool only_conditions_differ = false;              // the nearest name matches
};

/// Those of the kernel and its modules are the same wherever one looks from.
enum class catalogue_scope { programs, programs_and_kernel };

/// Throws usage_error for what is no pattern.
void check_catalogue_pattern(const std::string& pattern);

/// All that runs now and matches the pattern, or everything for an empty one. Throws usage_error
/// for what is no pattern, and failure if the directory is not usable.
[[nodiscard]] catalogue collect_catalogue(
    const std::string& pattern, catalogue_scope scope = catalogue_scope::programs_and_kernel);

}  // namespace elog
