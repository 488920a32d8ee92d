// SPDX-License-Identifier: MIT
//
// What defining_plugin.cpp and its host have in common.
#pragma once

#include <cstdint>

enum class plugin_end : std::uint32_t {
    withdraw,                     // the provider, when its threads have ended
    withdraw_while_threads_emit,  // before they have
    forget,                       // the threads end, the provider is left
};

extern "C" {
/// Defines the provider and starts threads that emit; returns when each has emitted, or 0.
[[gnu::visibility("default")]] int start_plugin(std::uint32_t round);
/// Ends the threads; returns how many events they have emitted.
[[gnu::visibility("default")]] std::uint64_t stop_plugin(plugin_end manner);
}
