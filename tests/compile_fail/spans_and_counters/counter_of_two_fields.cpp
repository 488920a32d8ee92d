// SPDX-License-Identifier: MIT
//
// expect: the event of a counter must have exactly one field, the number
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    std::int64_t requests;
    std::int64_t bytes;
};
using bad = eventlog::provider<"bad", queued>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<queued>{.kind =
                                                                          eventlog::kind::gauge};

eventlog::counter<bad, queued> queue;
