// SPDX-License-Identifier: MIT
//
// expect: a gauge's number must be an integer
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    bool busy;
};
using bad = eventlog::provider<"bad", eventlog::gauge<queued>>;

bad::gauge<queued> queue;

void count_it() {
    queue.set(true);
}
