// SPDX-License-Identifier: MIT
//
// expect: number_of_braces_differs_from_number_of_arguments
#include <eventlog/log.hpp>

void log_it() {
    eventlog::log(eventlog::level::info, "{} of {}", 1);
}
