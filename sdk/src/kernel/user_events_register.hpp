// SPDX-License-Identifier: MIT
//
// Telling the kernel which events a provider has, and taking that back. All of it is done under the
// registry's lock. `file` is the route's descriptor; what it speaks to, the route says.
#pragma once

#include <array>
#include <cstdint>

#include "platform/error_text.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// What has become of a provider's events.
struct user_events_register_result {
    std::uint32_t missing = 0;     // events that the kernel does not have
    bool is_retryable = false;     // of some of these
    bool not_registrable = false;  // and some that were missing before, for good
    std::array<char, 64> first{};  // the name of the first of them
    error_text why;                // it is missing, without a full stop
};

/// Registers all events that are not registered yet. Takes some KiB of the stack.
[[gnu::noinline]] void register_user_events(eventlog_provider& provider, int file,
                                            user_events_register_result& result) noexcept;

/// Where it is eventlog's module: publishes the provider with all events that have been registered,
/// so that they reach those who subscribe through the device, too. What has been published by us
/// before is withdrawn. False: `why` says what to do, without a full stop, and `is_retryable`
/// whether it is worth trying again.
[[nodiscard]] bool publish_to_module(eventlog_provider& provider, int file, error_text& why,
                                     bool& is_retryable) noexcept;

/// When the descriptor has gone, of which the gate's words may still say that somebody listens:
/// where it was eventlog's module, which tells so. What user_events have written is true still.
void clear_device_bits(eventlog_provider& provider) noexcept;

/// Closes the way to all events, and gives the gate's words back, before their pages go.
void unregister_user_events(eventlog_provider& provider, int file) noexcept;

}  // namespace eventlog::core
