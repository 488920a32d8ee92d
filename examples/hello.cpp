// SPDX-License-Identifier: MIT
//
// The smallest program with events. In one terminal:
//
//     ./hello
//
// and in another, while it runs:
//
//     elog record -e hello
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

struct greeting {
    std::uint32_t number;
    std::string_view text;
};

using hello = eventlog::provider<"hello", greeting>;

int main(int argument_count, char** arguments) {
    const int greetings = argument_count > 1 ? std::atoi(arguments[1]) : 600;
    for (int i = 0; i < greetings; ++i) {
        hello::emit(greeting{static_cast<std::uint32_t>(i), "hello, listener"});
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}
