// SPDX-License-Identifier: MIT
//
// expect: a value of this type cannot be emitted. Numbers, bool, enumerations, texts,
#include <vector>

#include <eventlog/dynamic_provider.hpp>

eventlog_error measure(const eventlog::dynamic_provider& sensor) {
    const std::vector<double> temperatures{21.5, 12.25};
    return sensor.emit(0, "attic", temperatures);
}
