// SPDX-License-Identifier: MIT
//
// expect-success
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct fine {
    std::uint64_t number;
    std::string_view text;
};

void emit_it() {
    eventlog::provider<"good", fine>::emit(fine{1, "text"});
}
