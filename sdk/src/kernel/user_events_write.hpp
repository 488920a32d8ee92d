// SPDX-License-Identifier: MIT
//
// Writes events to the kernel. See user_events_route.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "provider/user_events_state.hpp"
#include "ring/ring_writer.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// While it lives, no descriptor that it has read from a route is closed.
class descriptor_user {
  public:
    descriptor_user() noexcept;
    ~descriptor_user() { count_.fetch_sub(1, std::memory_order_release); }
    descriptor_user(const descriptor_user&) = delete;
    descriptor_user& operator=(const descriptor_user&) = delete;

  private:
    std::atomic<std::uint32_t>& count_;
};

/// Writes the event and counts the outcome. Precondition: the gate has the kernel's bit. Any thread
/// or signal handler; no lock, no allocation, not a cancellation point, errno stays unchanged.
void emit_to_user_events(eventlog_provider& provider, const event_payload& payload) noexcept;

/// Whether the descriptor is still the file that the route opened. Async-signal-safe; leaves errno
/// unchanged.
[[nodiscard]] bool is_own_descriptor(const user_events_route& route, int file) noexcept;

/// Removes a lost descriptor from the route; the next emit opens another one.
void abandon_descriptor(user_events_route& route, int file) noexcept;

/// Whether a descriptor_user exists.
[[nodiscard]] bool has_active_writers() noexcept;

/// Called in a forked child, where the writing threads of the parent do not exist.
void reset_writers_after_fork() noexcept;

}  // namespace eventlog::core
