// SPDX-License-Identifier: MIT
//
// The emitting side of tests of recording tools: COUNT [SIZE [TEXT]]. When standard input ends,
// emits COUNT events with words of SIZE characters (`absent`: no word), and prints the counters of
// the route and, with a third argument, its text. The end of standard input is the start signal
// because an open gate is none: perf makes the kernel open it before it records.
//
// With `while-enabled` instead of COUNT, waits until the event is enabled, prints that, and emits
// until it is disabled.
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

struct item {
    std::uint64_t number;
    std::uint32_t amount;
    const char* word;
};
using load = eventlog::provider<"load", item>;

void wait_for_end_of_input() {
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
}

void emit_with(std::uint64_t number, const char* word) {
    load::emit(item{number, static_cast<std::uint32_t>(number % 97), word});
}

void emit_one(std::uint64_t number, std::size_t size) {
    const std::string word =
        size != 0 ? std::string(size, 'x') : "word " + std::to_string(number % 13);
    emit_with(number, word.c_str());
}

void emit_while_enabled() {
    while (!load::enabled<item>()) {
        static_cast<void>(::usleep(1000));
    }
    std::puts("enabled");
    static_cast<void>(std::fflush(stdout));
    for (std::uint64_t number = 0; load::enabled<item>(); ++number) {
        emit_one(number, 0);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const std::size_t size = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    wait_for_end_of_input();
    if (argc > 1 && std::string_view(argv[1]) == "while-enabled") {
        emit_while_enabled();
    }
    const bool is_absent = argc > 2 && std::string_view(argv[2]) == "absent";
    for (std::uint64_t number = 0; number < count; ++number) {
        if (is_absent) {
            emit_with(number, nullptr);
        } else {
            emit_one(number, size);
        }
    }
    const eventlog::route_status route = load::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
    std::printf("written %" PRIu64 " too_large %" PRIu64 " refused %" PRIu64 " unattached %" PRIu64
                "\n",
                route.counters.written, route.counters.lost_too_large, route.counters.lost_refused,
                route.counters.lost_unattached);
    if (argc > 3) {
        std::puts(route.text.data());
    }
    return 0;
}
