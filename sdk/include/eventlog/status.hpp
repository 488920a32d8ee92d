// SPDX-License-Identifier: MIT
//
// Status of a provider: whether it is published, and its events by route.
#pragma once

#include <array>
#include <cstdint>

#include <eventlog/abi.h>

namespace eventlog {
inline namespace v0 {

/// Status of a route.
struct route_status {
    eventlog_status_code code = EVENTLOG_STATUS_UNREGISTERED;
    /// A sentence: the listeners or, if the route cannot be used, the remedy.
    std::array<char, 256> text{};
    eventlog_counters counters{};
};

/// Status of a provider.
struct provider_status {
    eventlog_status_code code = EVENTLOG_STATUS_UNREGISTERED;
    /// A sentence: the state and, after an error, the remedy.
    std::array<char, 256> text{};
    /// Index: eventlog_route.
    route_status routes[EVENTLOG_ROUTE_COUNT]{};
};

namespace detail {

/// The begin of the array. Not data(): in unoptimized code that function is shared by all plugins
/// of a process.
[[gnu::always_inline]] inline char* begin_of(std::array<char, 256>& text) noexcept {
    return reinterpret_cast<char*>(&text);
}

[[gnu::visibility("hidden")]] inline provider_status status_of(
    const eventlog_provider* provider) noexcept {
    // All members are given, so that no constructor is called: it could not be hidden, and all
    // plugins of a process would share it.
    provider_status result{EVENTLOG_STATUS_UNREGISTERED, {}, {}};
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
}  // namespace v0
}  // namespace eventlog
