// SPDX-License-Identifier: MIT
//
// expect: a provider's keywords need a bit from 0 to 63 and a name
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};
using net = eventlog::provider<"net", lost>;

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<net>{
    .keywords = {{0, "receive"}, {0, "send"}}};

void emit_it() {
    net::emit(lost{});
}
