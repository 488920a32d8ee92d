// SPDX-License-Identifier: MIT
//
// expect: a counter's number must be an integer
#include <eventlog/eventlog.hpp>

struct queued {
    bool busy;
};
using bad = eventlog::provider<"bad", queued>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<queued>{.kind =
                                                                          eventlog::kind::gauge};

eventlog::counter<bad, queued> queue;

void count_it() {
    queue.set(true);
}
