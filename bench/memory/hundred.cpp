// SPDX-License-Identifier: MIT
//
// idle.cpp with a hundred providers of ten events.
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace {

// clang-format off
struct opened { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct closed { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct begun { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct ended { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct sent { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct received { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct refused { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct retried { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct failed { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
struct expired { std::uint64_t id; std::uint32_t bytes; std::uint32_t flags; std::string_view name; };
// clang-format on

#define EMIT(number)                                                                           \
    eventlog::provider<"part_" #number, opened, closed, begun, ended, sent, received, refused, \
                       retried, failed, expired>::emit(event)
#define EMIT_TEN(tens)                                                                        \
    EMIT(tens##0), EMIT(tens##1), EMIT(tens##2), EMIT(tens##3), EMIT(tens##4), EMIT(tens##5), \
        EMIT(tens##6), EMIT(tens##7), EMIT(tens##8), EMIT(tens##9)

/// Its calls register the providers in front of main, although it does not run.
void emit_all(const opened& event) {
    EMIT_TEN(0), EMIT_TEN(1), EMIT_TEN(2), EMIT_TEN(3), EMIT_TEN(4), EMIT_TEN(5), EMIT_TEN(6),
        EMIT_TEN(7), EMIT_TEN(8), EMIT_TEN(9);
}

}  // namespace

int main(int argument_count, char** /*arguments*/) {
    std::timespec used{};
    static_cast<void>(::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used));
    if (argument_count > 1) {
        emit_all({1, 4096, 0, "part"});
    }
    std::cout << "ready " << used.tv_sec * 1'000'000'000 + used.tv_nsec << '\n' << std::flush;
    for (std::string line; std::getline(std::cin, line);) {
    }
    return 0;
}
