// SPDX-License-Identifier: MIT
//
// expect: nodiscard
//
// An object without a name ends at once.
#include <cstdint>

#include <eventlog/eventlog.hpp>

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"

struct loss {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint32_t bytes;
};
using tcp = eventlog::provider<"tcp", loss>;

void connect(std::uint64_t cookie) {
    eventlog::session<tcp>(cookie + 1);
}
