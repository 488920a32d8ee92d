// SPDX-License-Identifier: MIT
//
// expect: Make the members of the struct optional instead
#include <cstdint>
#include <optional>

#include <eventlog/eventlog.hpp>

enum class payment { cash, card, invoice };
struct price_cut {
    std::uint8_t percent;
    std::uint32_t cents;
};
struct order_placed {
    payment paid_by;
    std::optional<price_cut> discount;
};
using checkout = eventlog::provider<"checkout", order_placed>;

int main() {
    checkout::emit(order_placed{payment::card, price_cut{15, 200}});
}
