// SPDX-License-Identifier: MIT
//
// Emits COUNT events when standard input ends, even ones through one function and odd ones through
// another one. Compiled with frame pointers, by which the kernel finds the callers.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

namespace {

struct step {
    std::uint32_t number;
};
using deep = eventlog::provider<"deep", step>;

}  // namespace

namespace ways {

// The empty assembly prevents tail calls, which would be absent from the stack.
[[gnu::noinline]] void even(std::uint32_t number) {
    deep::emit(step{number});
    asm volatile("");
}

[[gnu::noinline]] void odd(std::uint32_t number) {
    deep::emit(step{number});
    asm volatile("");
}

[[gnu::noinline]] void both(std::uint32_t count) {
    for (std::uint32_t number = 0; number < count; ++number) {
        (number % 2 == 0 ? even : odd)(number);
    }
}

}  // namespace ways

int main(int argument_count, char** arguments) {
    char ignored = 0;
    while (::read(0, &ignored, 1) > 0) {
    }
    ways::both(argument_count > 1 ? static_cast<std::uint32_t>(std::atoi(arguments[1])) : 0);
    return 0;
}
