// SPDX-License-Identifier: MIT
//
// expect: has both describe() and a specialization
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};
using tcp = eventlog::provider<"tcp", lost>;

consteval auto describe(eventlog::of<tcp>) {
    return eventlog::provider_info{.description = "TCP"};
}

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<tcp>{};

void emit_it() {
    tcp::emit(lost{});
}
