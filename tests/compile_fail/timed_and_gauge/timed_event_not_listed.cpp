// SPDX-License-Identifier: MIT
//
// expect: this event is not timed in this provider. Write eventlog::timed<...> around it
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct transfer {
    std::uint32_t bytes;
};
using bad = eventlog::provider<"bad", transfer>;

void send() {
    auto scope = bad::time(transfer{1});
    scope.event().bytes = 2;
}
