// SPDX-License-Identifier: MIT
//
// First event: a struct, a provider that lists it, and a call.
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct greeting {
    std::uint32_t number;
    std::string_view text;
};
using greeter = eventlog::provider<"greeter", greeting>;

int main() {
    greeter::emit(greeting{1, "hello, listener"});
}
