// SPDX-License-Identifier: MIT
//
// expect: a field is a std::array that is not supported
#include <array>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct seen {
    std::array<std::string_view, 2> names;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
