// SPDX-License-Identifier: MIT
//
// expect: an event is derived from another struct
// expect: with_a_base
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct what_all_have {
    std::uint32_t number;
};
struct with_a_base : what_all_have {
    std::uint32_t more;
};

void emit_it() {
    eventlog::provider<"bad", with_a_base>::emit(with_a_base{{1}, 2});
}
