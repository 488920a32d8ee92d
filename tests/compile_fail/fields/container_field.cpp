// SPDX-License-Identifier: MIT
//
// expect: a field is a container that is not supported
// expect: has_vector
#include <cstdint>
#include <string_view>
#include <vector>

#include <eventlog/eventlog.hpp>

struct has_vector {
    std::vector<int> numbers;
};

void emit_it() {
    eventlog::provider<"bad", has_vector>::emit(has_vector{});
}
