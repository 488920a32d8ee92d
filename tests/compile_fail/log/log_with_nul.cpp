// SPDX-License-Identifier: MIT
//
// expect: text_contains_nul
#include <eventlog/log.hpp>

void log_it() {
    eventlog::log(eventlog::level::info, "one\0two");
}
