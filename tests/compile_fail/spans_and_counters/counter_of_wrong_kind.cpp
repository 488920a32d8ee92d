// SPDX-License-Identifier: MIT
//
// expect: the event of a counter must have .kind = eventlog::kind::gauge
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    std::int64_t requests;
};
using bad = eventlog::provider<"bad", queued>;

eventlog::counter<bad, queued> queue;
