// SPDX-License-Identifier: MIT
//
// expect: as a std::span of fixed length has none
// expect-pfr: a field is a container that is not supported
#include <cstddef>
#include <span>

#include <eventlog/eventlog.hpp>

struct seen {
    std::span<const std::byte, 4> bytes;
};

void emit_it(const seen& event) {
    eventlog::provider<"bad", seen>::emit(event);
}
