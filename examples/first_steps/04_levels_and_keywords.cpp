// SPDX-License-Identifier: MIT
//
// Levels and keywords: a listener selects by them, as in -e modem@warn or -e modem/radio.
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

constexpr eventlog::keyword radio{0, "radio"};
constexpr eventlog::keyword billing{1, "billing"};

struct cell_changed {
    static constexpr eventlog::event_info info{.level = eventlog::level::verbose,
                                               .keywords = radio};
    std::uint32_t cell;
};
struct signal_lost {
    static constexpr eventlog::event_info info{.level = eventlog::level::warn,
                                               .keywords = radio | billing,
                                               .description = "The modem has no network",
                                               .when = "no cell answers for ten seconds"};
    std::string_view operator_name;
};
struct switched_on {};  // level info; without a keyword it is selected by each
using modem = eventlog::provider<"modem", cell_changed, signal_lost, switched_on>;

consteval auto describe(eventlog::of<modem>) {
    return eventlog::provider_info{.description = "A modem", .keywords = {radio, billing}};
}

int main() {
    modem::emit(switched_on{});
    modem::emit(cell_changed{17});
    modem::emit(signal_lost{"Example Mobile"});
}
