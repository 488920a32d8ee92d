// SPDX-License-Identifier: MIT
//
// expect: a provider's name needs 1 to 63 letters, digits and _
// expect: not a name
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct fine {
    std::uint64_t number;
};

void emit_it() {
    eventlog::provider<"not a name", fine>::emit(fine{1});
}
