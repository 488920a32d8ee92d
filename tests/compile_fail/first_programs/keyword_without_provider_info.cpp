// SPDX-License-Identifier: MIT
//
// expect: an event has a keyword that its provider does not name. List it in its
#include <cstdint>

#include <eventlog/eventlog.hpp>

constexpr eventlog::keyword radio{0, "radio"};
constexpr eventlog::keyword billing{1, "billing"};

struct cell_changed {
    static constexpr eventlog::event_info info{.keywords = radio | billing};
    std::uint32_t cell;
};
using modem = eventlog::provider<"modem", cell_changed>;

consteval auto describe(eventlog::of<modem>) {
    return eventlog::provider_info{.keywords = {radio}};
}

int main() {
    modem::emit(cell_changed{17});
}
