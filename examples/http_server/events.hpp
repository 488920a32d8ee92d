// SPDX-License-Identifier: MIT
//
// The events of the server and their descriptions.
#pragma once

#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

inline constexpr eventlog::keyword network{0, "network"};
inline constexpr eventlog::keyword requests{1, "requests"};

struct connection_opened {
    static constexpr eventlog::event_info info{.keywords = network, .session_bound = true};
    eventlog::ipv4_address address;
    std::uint16_t port;
};
struct header_received {
    static constexpr eventlog::event_info info{
        .level = eventlog::level::trace, .keywords = requests, .session_bound = true};
    std::string_view name;
    std::string_view value;
};
struct request_refused {
    static constexpr eventlog::event_info info{
        .level = eventlog::level::warn,
        .keywords = requests,
        .when = "a request cannot be understood, and the connection is given up",
        .session_bound = true};
    std::uint16_t status;
    std::string_view why;
};
// Emitted with its duration when the response has been sent.
struct request {
    static constexpr eventlog::event_info info{
        .keywords = requests,
        .session_bound = true,
        .fields = {{.member = "sent", .format = eventlog::format::byte_size}}};
    std::string_view method;
    std::string_view target;
    std::uint16_t status;
    std::uint64_t sent;
};
struct open_connections {
    static constexpr eventlog::event_info info{.keywords = network};
    std::int64_t connections;
};
using http = eventlog::provider<"http", connection_opened, header_received, request_refused,
                                eventlog::timed<request>, eventlog::gauge<open_connections>>;

consteval auto describe(eventlog::of<http>) {
    return eventlog::provider_info{.description = "A small HTTP server",
                                   .keywords = {network, requests},
                                   .replays_state = true};
}
