// SPDX-License-Identifier: MIT
//
// expect: this timed event belongs to a session
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct transfer {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint32_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::timed<transfer>>;

void send() {
    auto scope = bad::time(transfer{1});
    scope.event().bytes = 2;
}
