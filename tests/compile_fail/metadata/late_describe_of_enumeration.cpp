// SPDX-License-Identifier: MIT
//
// expect: is declared behind its first use
#include <cstdint>

#include <eventlog/eventlog.hpp>

enum class reason { timeout };
struct lost {
    reason why;
    std::uint64_t bytes;
};
using tcp = eventlog::provider<"tcp", lost>;
static_assert(!tcp::schema().empty());

void emit_it() {
    tcp::emit(lost{});
}

consteval auto describe(eventlog::of<reason>) {
    return eventlog::enum_info{.values = {{0, "expired"}}};
}
