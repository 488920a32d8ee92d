// SPDX-License-Identifier: MIT
//
// What a provider can say about itself: where it is published, and what became of its events.
#pragma once

#include <array>
#include <cstdint>

#include <eventlog/abi.h>

namespace eventlog {

/// What became of a way to those who listen.
struct route_status {
    eventlog_status_code code = EVENTLOG_UNREGISTERED;
    /// A sentence: who listens or, if the route cannot be used, what to do.
    std::array<char, 256> text{};
    eventlog_counters counters{};
};

/// What became of publishing a provider, and of its events.
struct provider_status {
    eventlog_status_code code = EVENTLOG_UNREGISTERED;
    /// A sentence: what is the case and, if something is wrong, what to do.
    std::array<char, 256> text{};
    /// Index: eventlog_route.
    route_status routes[EVENTLOG_ROUTE_COUNT]{};
};

namespace detail {

/// Where the array begins. Not data(): where nothing is optimised, that belongs to all plugins of a
/// process, and one plugin's to the others.
[[gnu::always_inline]] inline char* begin_of(std::array<char, 256>& text) noexcept {
    return reinterpret_cast<char*>(&text);
}

[[gnu::visibility("hidden")]] inline provider_status status_of(
    const eventlog_provider* provider) noexcept {
    // All of it, so that it takes no constructor: that could not be hidden, and would be shared by
    // all plugins of a process.
    provider_status result{EVENTLOG_UNREGISTERED, {}, {}};
    result.code = eventlog_provider_status(provider, begin_of(result.text), sizeof result.text);
    int number = 0;
    for (route_status& route : result.routes) {
        route.code = eventlog_provider_route_status(provider, static_cast<eventlog_route>(number++),
                                                    &route.counters, sizeof route.counters,
                                                    begin_of(route.text), sizeof route.text);
    }
    return result;
}

}  // namespace detail
}  // namespace eventlog
