// SPDX-License-Identifier: MIT
//
// An adapter's function needs an object of the adapter.
#include <cstdint>

#include <eventlog/eventlog.hpp>

// expect: eventlog: the eventlog::convert<...> of a field is not usable. The type must be a class, and to_field() a static member function that takes a const reference to it.
struct ticket {
    std::uint32_t number;
};
template <>
struct eventlog::convert<ticket> {
    std::uint32_t to_field(const ticket& from) const noexcept { return from.number; }
};

struct sold {
    ticket which;
};
using shop = eventlog::provider<"shop", sold>;

void sell() {
    shop::emit(sold{{17}});
}
