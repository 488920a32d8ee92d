// SPDX-License-Identifier: MIT
//
// expect: the event of this gauge belongs to a session
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct in_flight {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::int64_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::gauge<in_flight>>;

bad::gauge<in_flight> bytes(1);
