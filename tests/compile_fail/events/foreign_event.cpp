// SPDX-License-Identifier: MIT
//
// expect: this type is not an event of this provider
// expect: stranger
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct fine {
    std::uint64_t number;
};
struct stranger {
    std::uint64_t number;
};

void emit_it() {
    eventlog::provider<"bad", fine>::emit(stranger{1});
}
