// SPDX-License-Identifier: MIT
//
// expect: of a struct is specialized behind the first use of the struct in an event
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct ticket {
    std::uint32_t number;
};
struct sold {
    ticket which;
};
using shop = eventlog::provider<"shop", sold>;
static_assert(!shop::schema().empty());

void sell() {
    shop::emit(sold{{17}});
}

template <>
struct eventlog::convert<ticket> {
    static std::uint32_t to_field(const ticket& from) noexcept { return from.number; }
};
