// SPDX-License-Identifier: MIT
//
// Enumerations and optional fields: values are shown by name, a field may have no value.
#include <cstdint>
#include <optional>

#include <eventlog/eventlog.hpp>

enum class payment { cash, card, invoice };  // names found at compile time: values up to 126
enum class answer : std::uint16_t { accepted = 200, declined = 402 };
consteval auto describe(eventlog::of<answer>) {
    return eventlog::enum_info{.values = {{200, "accepted"}, {402, "declined"}}};
}

struct order_placed {
    std::uint64_t order;
    payment paid_by;
    answer bank;
    std::optional<std::uint8_t> discount;
};
using checkout = eventlog::provider<"checkout", order_placed>;

int main() {
    checkout::emit(order_placed{4711, payment::card, answer::accepted, 15});
    checkout::emit(order_placed{4712, payment::invoice, answer::declined, std::nullopt});
}
