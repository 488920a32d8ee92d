// SPDX-License-Identifier: MIT
//
// expect: a gauge's number must be an integer
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    double load;
};
using bad = eventlog::provider<"bad", eventlog::gauge<queued>>;

bad::gauge<queued> queue;
