// SPDX-License-Identifier: MIT
//
// expect: a field is a std::array that is not supported
// expect: has_peers
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct endpoint {
    std::uint32_t address;
    std::uint16_t port;
};
struct has_peers {
    std::array<endpoint, 2> peers;
};

void emit_it() {
    eventlog::provider<"bad", has_peers>::emit(has_peers{});
}
