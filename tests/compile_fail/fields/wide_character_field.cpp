// SPDX-License-Identifier: MIT
//
// expect: a field of this event has a type that is not supported
// expect: has_wide_character
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_wide_character {
    char32_t character;
};

void emit_it() {
    eventlog::provider<"bad", has_wide_character>::emit(has_wide_character{});
}
