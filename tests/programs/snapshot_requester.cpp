// SPDX-License-Identifier: MIT
//
// For each line of its input it emits an event with the line and requests a snapshot with the line
// as its reason. Prints the number of flight recorders that it has asked.
//
//     snapshot_requester [die]      die: kills itself right after the first request
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

struct question {
    std::uint32_t number;
    std::string_view reason;
};
using asking = eventlog::provider<"asking", question>;

}  // namespace

int main(int argument_count, char** arguments) {
    const bool dies = argument_count > 1 && std::string_view(arguments[1]) == "die";
    std::uint32_t number = 0;
    for (std::string line; std::getline(std::cin, line);) {
        asking::emit(question{++number, line});
        const unsigned asked = eventlog::request_snapshot(line);
        if (dies) {
            static_cast<void>(std::raise(SIGKILL));
        }
        std::printf("asked %u\n", asked);
        static_cast<void>(std::fflush(stdout));
    }
}
