// SPDX-License-Identifier: MIT
//
// The smallest program with eventlog; every way to consume the library builds and runs it.
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct ping {
    std::uint32_t number;
    std::string_view text;
};

using demo = eventlog::provider<"demo", ping>;

int main() {
    demo::emit(ping{1, "hello"});
}
