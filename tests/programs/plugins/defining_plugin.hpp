// SPDX-License-Identifier: MIT
//
// The interface between defining_plugin.cpp and its host.
#pragma once

#include <cstdint>

enum class plugin_end : std::uint32_t {
    withdraw,                     // unregister the provider after the end of its threads
    withdraw_while_threads_emit,  // before the end of its threads
    forget,                       // end the threads, and keep the provider
};

extern "C" {
/// Defines the provider and starts threads that emit. Returns when each has emitted; 0: failed.
[[gnu::visibility("default")]] int start_plugin(std::uint32_t round);
/// Ends the threads; returns the number of events that they emitted.
[[gnu::visibility("default")]] std::uint64_t stop_plugin(plugin_end manner);
}
