// SPDX-License-Identifier: MIT
//
// Spans, which measure durations, and counters, which record quantities: two bakers and one oven.
//
//     ./spans_and_counters [LOAVES] &
//     elog record -e 'bakery:baking_end'           # how long each took
//     elog record -e 'bakery:loaves_in_oven'       # how full the oven is
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

struct baking_begin {
    std::string_view baker;
};
struct baking_end {
    std::chrono::nanoseconds took;  // the first field of an end, filled in by the span
    std::string_view baker;
    bool burnt;
};
struct loaves_in_oven {
    std::int32_t loaves;
};
using bakery = eventlog::provider<"bakery", baking_begin, baking_end, loaves_in_oven>;

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<baking_begin>{
    .level = eventlog::level::verbose, .kind = eventlog::kind::begin};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<baking_end>{.kind =
                                                                              eventlog::kind::end};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<loaves_in_oven>{
    .kind = eventlog::kind::gauge};

namespace {

constinit eventlog::counter<bakery, loaves_in_oven> oven;

void bake(std::string_view baker, int loaf) {
    eventlog::span<bakery, baking_begin, baking_end> span(baking_begin{baker});
    oven.add(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + loaf % 3 * 20));
    oven.add(-1);
    // The fields of the end besides the duration. It is emitted when the span is destroyed.
    span.result().baker = baker;
    span.result().burnt = loaf % 3 == 2;
}

void work(std::string_view baker, int loaves) {
    for (int loaf = 0; loaf < loaves; ++loaf) {
        bake(baker, loaf);
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const int loaves = argument_count > 1 ? std::atoi(arguments[1]) : 600;
    const std::jthread ann([loaves] { work("ann", loaves); });
    const std::jthread bert([loaves] { work("bert", loaves); });
}
