// SPDX-License-Identifier: MIT
//
// expect: a field is a container that is not supported
#include <chrono>
#include <vector>

#include <eventlog/eventlog.hpp>

struct has_durations {
    std::vector<std::chrono::milliseconds> waits;
};

void emit_it() {
    eventlog::provider<"bad", has_durations>::emit(has_durations{});
}
