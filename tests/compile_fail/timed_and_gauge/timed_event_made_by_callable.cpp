// SPDX-License-Identifier: MIT
//
// expect: this event is timed. Emit it with time(), which measures a scope
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct transfer {
    std::uint32_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::timed<transfer>>;

void send() {
    bad::emit([] { return transfer{1}; });
}
