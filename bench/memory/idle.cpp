// SPDX-License-Identifier: MIT
//
// An application without a listener; without IDLE_EMITS, also without eventlog. Prints that it is
// ready, and its processor time until main in nanoseconds. Waits for the end of its standard input.
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>

#ifdef IDLE_EMITS
#include <eventlog/eventlog.hpp>
#endif

namespace {

struct retransmission {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

void emit([[maybe_unused]] const retransmission& event) {
#ifdef IDLE_EMITS
    eventlog::provider<"idle", retransmission>::emit(event);
#endif
}

}  // namespace

int main() {
    std::timespec used{};
    static_cast<void>(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    emit({1, 1448, 65535, "lost_segment"});
    // It uses the standard library, as applications in C++ do.
    std::cout << "ready " << used.tv_sec * 1'000'000'000 + used.tv_nsec << '\n' << std::flush;
    for (std::string line; std::getline(std::cin, line);) {
    }
    return 0;
}
