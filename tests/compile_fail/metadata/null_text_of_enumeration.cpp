// SPDX-License-Identifier: MIT
//
// expect: enum_info is a null pointer
#include <cstdint>

#include <eventlog/eventlog.hpp>

enum class why : std::uint8_t { timeout };
struct seen {
    why reason;
};

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<why>{.values = {{0, nullptr}}};

void emit_it() {
    eventlog::provider<"bad", seen>::emit(seen{why::timeout});
}
