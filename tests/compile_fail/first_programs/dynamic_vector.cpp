// SPDX-License-Identifier: MIT
//
// expect: a value of this type cannot be emitted. Numbers, bool, enumerations, texts,
#include <string>
#include <vector>

#include <eventlog/dynamic_provider.hpp>

eventlog_error measure(const eventlog::dynamic_provider& sensor) {
    const std::vector<std::string> rooms{"attic", "cellar"};
    return sensor.emit(0, "temperature", rooms);
}
