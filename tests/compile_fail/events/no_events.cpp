// SPDX-License-Identifier: MIT
//
// expect: a provider needs at least one event
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

auto look() {
    return eventlog::provider<"bad">::name();
}
