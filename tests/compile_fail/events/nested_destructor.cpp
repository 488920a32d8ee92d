// SPDX-License-Identifier: MIT
//
// expect: has a destructor of its own
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct closing {
    std::uint32_t number;
    ~closing() {}
};
struct seen {
    std::uint32_t number;
    closing inside;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
