// SPDX-License-Identifier: MIT
//
// expect: this provider does not declare dumps
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

void tell_state() {}

bool have_it_told() {
    return eventlog::provider<"bad", lost>::on_new_listener(tell_state);
}
