// SPDX-License-Identifier: MIT
//
// Emits COUNT events when standard input ends, with a field of each kind that tools may show in
// another form. The test compares the outputs of the tools.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <eventlog/addresses.hpp>
#include <eventlog/eventlog.hpp>

namespace {

struct place {
    std::int16_t row;
    std::uint32_t column;
};
struct all {
    std::span<const std::byte> data;
    std::array<std::uint16_t, 8> many;
    std::array<std::uint16_t, 4> some;
    place where;
    float part;
    double share;
    eventlog::ipv4_address near;
    eventlog::ipv6_address far;
    eventlog::mac_address card;
    std::chrono::microseconds took;
    std::array<char, 8> full;
    std::uint32_t large;
    std::int8_t below;
};
using kinds = eventlog::provider<"kinds", all>;

}  // namespace

int main(int argc, char** argv) {
    const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    char byte = 0;
    while (::read(STDIN_FILENO, &byte, 1) > 0) {
    }
    constexpr std::array<std::byte, 3> data = {std::byte{1}, std::byte{0x20}, std::byte{0xff}};
    for (std::uint64_t number = 0; number < count; ++number) {
        kinds::emit(all{.data = std::span(data).first(number % 4),
                        .many = {1, 2, 3, 4, 5, 6, 7, 8},
                        .some = {1, 2, 3, 4},
                        .where = {-5, 6},
                        .part = 0.25F,
                        .share = 0.5,
                        .near = {{192, 0, 2, 1}},
                        .far = {{0x20, 0x01, 0x0d, 0xb8}},
                        .card = {{2, 0, 0, 0, 0, 9}},
                        .took = std::chrono::microseconds(1500),
                        .full = {'e', 'i', 'g', 'h', 't', ' ', 'i', 's'},
                        .large = 4'000'000'000,
                        .below = -5});
    }
    const eventlog::route_status route = kinds::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
    std::printf("written %" PRIu64 " too_large %" PRIu64 " refused %" PRIu64 " unattached %" PRIu64
                "\n",
                route.counters.written, route.counters.lost_too_large, route.counters.lost_refused,
                route.counters.lost_unattached);
    return 0;
}
