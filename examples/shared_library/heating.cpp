// SPDX-License-Identifier: MIT
//
// A program with a provider that uses a library with another one: a listener sees two providers of
// one process and can choose.
//
//     ./heating [READINGS] &
//     elog list
//     elog record -e heating -e 'thermometer:reading'
#include <chrono>
#include <cstdlib>
#include <thread>

#include <eventlog/eventlog.hpp>

#include "thermometer.hpp"

namespace {

struct switched {
    bool on;
    double temperature;
};
using heating = eventlog::provider<"heating", switched>;

}  // namespace

int main(int argument_count, char** arguments) {
    const int readings = argument_count > 1 ? std::atoi(arguments[1]) : 600;
    bool on = false;
    for (int i = 0; i < readings; ++i) {
        const double temperature = read_thermometer();
        if ((temperature < 20) != on) {
            on = !on;
            heating::emit(switched{on, temperature});
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}
