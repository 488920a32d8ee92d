// SPDX-License-Identifier: MIT
//
// expect: this type is not an event of this provider. Add it to the provider's list.
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct greeting {
    std::uint32_t number;
    std::string_view text;
};
struct farewell {
    std::uint32_t number;
};
using greeter = eventlog::provider<"greeter", greeting>;

int main() {
    greeter::emit(greeting{1, "hello, listener"});
    greeter::emit(farewell{2});
}
