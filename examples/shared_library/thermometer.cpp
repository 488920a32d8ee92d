// SPDX-License-Identifier: MIT
//
// A shared object with a provider of its own, which is published when the object is loaded, by the
// program or by dlopen, and withdrawn when it is unloaded. This needs no call.
#include "thermometer.hpp"

#include <cstdint>

#include <eventlog/eventlog.hpp>

namespace {

struct reading {
    static constexpr eventlog::event_info info{.level = eventlog::level::verbose,
                                               .fields = {{.member = "temperature", .unit = "C"}}};
    std::uint32_t number;
    double temperature;
};
using thermometer = eventlog::provider<"thermometer", reading>;

}  // namespace

double read_thermometer() {
    static std::uint32_t number = 0;
    const double temperature = 19.5 + number % 4 * 0.5;
    thermometer::emit(reading{number, temperature});
    ++number;
    return temperature;
}
