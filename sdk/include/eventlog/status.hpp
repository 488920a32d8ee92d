// SPDX-License-Identifier: MIT
//
// What a provider can say about itself: where it is published, and what became of its events.
#pragma once

#include <array>
#include <cstddef>
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
    std::array<route_status, EVENTLOG_ROUTE_COUNT> routes{};
};

namespace detail {

[[gnu::visibility("hidden")]] inline provider_status status_of(
    const eventlog_provider* provider) noexcept {
    provider_status result;
    result.code = eventlog_provider_status(provider, result.text.data(), result.text.size());
    for (std::size_t i = 0; i < result.routes.size(); ++i) {
        route_status& route = result.routes[i];
        route.code = eventlog_provider_route_status(provider, static_cast<eventlog_route>(i),
                                                    &route.counters, sizeof route.counters,
                                                    route.text.data(), route.text.size());
    }
    return result;
}

}  // namespace detail
}  // namespace eventlog
