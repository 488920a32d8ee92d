// SPDX-License-Identifier: MIT
//
// The events of the server and their descriptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

inline constexpr eventlog::keyword network{0, "network"};
inline constexpr eventlog::keyword requests{1, "requests"};

struct connection_opened {
    eventlog::ipv4_address address;
    std::uint16_t port;
};
struct header_received {
    std::string_view name;
    std::string_view value;
};
struct request_refused {
    std::uint16_t status;
    std::string_view why;
};
struct request_begin {
    std::string_view method;
    std::string_view target;
};
struct request_end {
    std::chrono::nanoseconds took;
    std::uint16_t status;
    std::uint64_t sent;
};
struct open_connections {
    std::int64_t connections;
};
using http = eventlog::provider<"http", connection_opened, header_received, request_refused,
                                request_begin, request_end, open_connections>;

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<http>{
    .description = "A small HTTP server", .keywords = {network, requests}, .replays_state = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<connection_opened>{
    .keywords = network, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<header_received>{
    .level = eventlog::level::trace, .keywords = requests, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request_refused>{
    .level = eventlog::level::warn,
    .keywords = requests,
    .when = "a request cannot be understood, and the connection is given up",
    .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request_begin>{
    .level = eventlog::level::verbose,
    .keywords = requests,
    .kind = eventlog::kind::begin,
    .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request_end>{
    .keywords = requests,
    .kind = eventlog::kind::end,
    .session_bound = true,
    .fields = {{.member = "sent", .format = eventlog::format::byte_size}}};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<open_connections>{
    .keywords = network, .kind = eventlog::kind::gauge};
