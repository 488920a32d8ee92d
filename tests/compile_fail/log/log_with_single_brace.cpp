// SPDX-License-Identifier: MIT
//
// expect: brace_without_its_pair
#include <eventlog/log.hpp>

void log_it() {
    eventlog::log(eventlog::level::info, "{ of {}", 1);
}
