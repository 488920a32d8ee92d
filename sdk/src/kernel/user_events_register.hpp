// SPDX-License-Identifier: MIT
//
// Registers a provider's events with the kernel and unregisters them. All functions require the
// registry lock. `file` is the route's descriptor; the route holds its kind.
#pragma once

#include <cstdint>

#include "platform/error_text.hpp"
#include "provider/user_events_state.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// The result of a registration.
struct user_events_register_result {
    bool is_retryable = false;     // whether a retry may register some of them
    bool not_registrable = false;  // whether earlier registrations failed permanently
    missing_events missing;        // events without a registration
};

/// Registers all events that are not registered yet. Uses some KiB of the stack.
[[gnu::noinline]] void register_user_events(eventlog_provider& provider, int file,
                                            user_events_register_result& result) noexcept;

/// For the module: publishes the provider with all registered events, so that subscriptions through
/// the device receive them, too. Withdraws an earlier publication of this process. On failure `why`
/// holds the message without a full stop, and `is_retryable` whether a retry may succeed.
[[nodiscard]] bool publish_to_module(eventlog_provider& provider, int file, error_text& why,
                                     bool& is_retryable) noexcept;

/// Clears the module's bits in the gate, which the module sets when a descriptor is closed. Bits
/// set by user_events stay valid.
void clear_device_bits(eventlog_provider& provider) noexcept;

/// Unregisters all events and their gate words. Must precede the unmapping of the gate's pages.
void unregister_user_events(eventlog_provider& provider, int file) noexcept;

}  // namespace eventlog::core
