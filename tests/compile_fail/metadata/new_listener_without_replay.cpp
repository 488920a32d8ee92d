// SPDX-License-Identifier: MIT
//
// expect: this provider does not replay its state
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

void replay() {}

bool request_replay() {
    return eventlog::provider<"bad", lost>::on_new_listener(replay);
}
