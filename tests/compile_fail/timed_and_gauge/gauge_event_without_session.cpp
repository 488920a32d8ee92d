// SPDX-License-Identifier: MIT
//
// expect: the event of this gauge does not belong to a session
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct in_flight {
    std::int64_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::gauge<in_flight>>;

void serve(const eventlog::session<bad>& connection) {
    bad::gauge<in_flight> bytes(connection);
    bytes.add(1);
}
