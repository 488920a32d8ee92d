// SPDX-License-Identifier: MIT
//
// expect: has a destructor of its own
#include <cstdint>
#include <string>

#include <eventlog/eventlog.hpp>

struct closing {
    std::uint32_t number;
    std::string text;
    ~closing() {}
};

void emit_it(const closing& event) {
    eventlog::provider<"bad", closing>::emit(event);
}
