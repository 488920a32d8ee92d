// SPDX-License-Identifier: MIT
//
// expect: this event is timed. Emit it with time(), which measures a scope
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct transfer {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint32_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::timed<transfer>>;

void send(const eventlog::session<bad>& connection) {
    connection.emit(transfer{1});
}
