// SPDX-License-Identifier: MIT
//
// Timed scopes, which measure durations, and gauges, which record quantities: two bakers and one
// oven.
//
//     ./timed_scopes_and_gauges [LOAVES] &
//     elog record -e 'bakery:baking'               # how long each loaf took
//     elog record -e 'bakery:loaves_in_oven'       # how full the oven is
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

struct baking {
    std::string_view baker;
    bool burnt;
};
struct shift {
    std::uint32_t loaves;
};
struct loaves_in_oven {
    std::int32_t loaves;
};
using bakery = eventlog::provider<"bakery", eventlog::timed<baking>, eventlog::timed<shift>,
                                  eventlog::gauge<loaves_in_oven>>;

constinit bakery::gauge<loaves_in_oven> oven;

void bake(std::string_view baker, int loaf) {
    bool burnt = false;
    // An event with texts is made at the end of the scope, by a callable.
    const auto scope = bakery::time([&] { return baking{baker, burnt}; });
    oven.add(1);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + loaf % 3 * 20));
    oven.add(-1);
    burnt = loaf % 3 == 2;
}

void work(std::string_view baker, int loaves) {
    // Another event is given at the begin. Its fields may be set until the end.
    auto scope = bakery::time(shift{});
    for (int loaf = 0; loaf < loaves; ++loaf) {
        bake(baker, loaf);
        ++scope.event().loaves;
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const int loaves = argument_count > 1 ? std::atoi(arguments[1]) : 600;
    const std::jthread ann([loaves] { work("ann", loaves); });
    const std::jthread bert([loaves] { work("bert", loaves); });
}
