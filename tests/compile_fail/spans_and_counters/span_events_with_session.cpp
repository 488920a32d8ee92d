// SPDX-License-Identifier: MIT
//
// expect: the events of this span belong to a session
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct request_begin {
    std::uint32_t number;
};
struct request_end {
    std::chrono::nanoseconds took;
};
struct connected {
    std::uint32_t port;
};
using bad = eventlog::provider<"bad", request_begin, request_end, connected>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<connected>{.session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request_begin>{
    .kind = eventlog::kind::begin, .session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<request_end>{
    .kind = eventlog::kind::end, .session_bound = true};

void serve(const eventlog::session<bad>& connection) {
    const eventlog::span<bad, request_begin, request_end> span(request_begin{1});
    static_cast<void>(connection);
}
