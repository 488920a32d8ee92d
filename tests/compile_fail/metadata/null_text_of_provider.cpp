// SPDX-License-Identifier: MIT
//
// expect: provider_info or enum_info is a null pointer
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct seen {
    std::uint32_t number;
};
using bad = eventlog::provider<"bad", seen>;

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<bad>{
    .keywords = {{.bit = 1, .name = nullptr}}};

void emit_it() {
    bad::emit(seen{1});
}
