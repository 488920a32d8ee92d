// SPDX-License-Identifier: MIT
//
// expect: a field is a container that is not supported
// expect: has_list
#include <cstdint>
#include <list>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct has_list {
    std::list<int> numbers;
};

void emit_it() {
    eventlog::provider<"bad", has_list>::emit(has_list{});
}
