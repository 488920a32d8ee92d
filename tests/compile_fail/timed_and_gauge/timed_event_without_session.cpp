// SPDX-License-Identifier: MIT
//
// expect: this timed event does not belong to a session
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct transfer {
    std::uint32_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::timed<transfer>>;

void send(const eventlog::session<bad>& connection) {
    auto scope = connection.time(transfer{1});
    scope.event().bytes = 2;
}
