// SPDX-License-Identifier: MIT
//
// expect: is declared behind its first use
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};
using tcp = eventlog::provider<"tcp", lost>;

void emit_it() {
    tcp::emit(lost{});
}

consteval auto describe(eventlog::of<tcp>) {
    return eventlog::provider_info{.description = "TCP"};
}
