// SPDX-License-Identifier: MIT
//
// expect: a log message takes numbers, bool, char, enumerations and text
#include <eventlog/log.hpp>

void log_it() {
    eventlog::log(eventlog::level::info, "{}", L'x');
}
