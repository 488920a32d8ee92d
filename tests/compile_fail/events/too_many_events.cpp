// SPDX-License-Identifier: MIT
//
// expect: a provider has more than 1024 events
#include <cstddef>
#include <cstdint>
#include <utility>

#include <eventlog/eventlog.hpp>

template <std::size_t>
struct numbered {
    std::uint64_t number;
};

template <class Indices>
struct many;

template <std::size_t... Index>
struct many<std::index_sequence<Index...>> {
    using provider = eventlog::provider<"bad", numbered<Index>...>;
};

auto look() {
    return many<std::make_index_sequence<1025>>::provider::name();
}
