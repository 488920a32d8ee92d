// SPDX-License-Identifier: MIT
//
// expect: this event is not a gauge of this provider. Write eventlog::gauge<...> around it
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct queued {
    std::int64_t requests;
};
using bad = eventlog::provider<"bad", queued>;

bad::gauge<queued> queue;
