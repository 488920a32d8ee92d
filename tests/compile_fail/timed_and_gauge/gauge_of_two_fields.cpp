// SPDX-License-Identifier: MIT
//
// expect: the event of a gauge must have exactly one field, the number
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    std::int64_t requests;
    std::int64_t bytes;
};
using bad = eventlog::provider<"bad", eventlog::gauge<queued>>;

bad::gauge<queued> queue;
