// SPDX-License-Identifier: MIT
//
// expect: a struct in an event is derived from another one
// expect: with_a_tag
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct tag {};
struct with_a_tag : tag {
    std::uint32_t number;
};
struct outer {
    with_a_tag inner;
};

void emit_it() {
    eventlog::provider<"bad", outer>::emit(outer{{{}, 1}});
}
