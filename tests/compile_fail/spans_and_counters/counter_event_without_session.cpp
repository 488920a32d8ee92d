// SPDX-License-Identifier: MIT
//
// expect: the event of this counter does not belong to a session
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct in_flight {
    std::int64_t bytes;
};
struct connected {
    std::uint32_t port;
};
using bad = eventlog::provider<"bad", in_flight, connected>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<connected>{.session_bound = true};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<in_flight>{
    .kind = eventlog::kind::gauge, .session_bound = false};

void serve(const eventlog::session<bad>& connection) {
    eventlog::counter<bad, in_flight> bytes(connection);
    bytes.add(1);
}
