// SPDX-License-Identifier: MIT
//
// Writing events to the kernel's user_events. See user_events_route.hpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "provider/user_events_state.hpp"
#include "ring/ring_writer.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// While it lives, a descriptor that a route had is not closed.
class descriptor_user {
  public:
    descriptor_user() noexcept;
    ~descriptor_user() { count_.fetch_sub(1, std::memory_order_release); }
    descriptor_user(const descriptor_user&) = delete;
    descriptor_user& operator=(const descriptor_user&) = delete;

  private:
    std::atomic<std::uint32_t>& count_;
};

/// Writes the event, and counts what has become of it. Its gate has the bit. Any thread, any signal
/// handler; takes no lock, allocates nothing, leaves errno as it is, and is not cancelled inside.
void emit_to_user_events(eventlog_provider& provider, const event_payload& payload) noexcept;

/// Whether the descriptor is still the file that the route opened. Async-signal-safe; leaves errno
/// as it is.
[[nodiscard]] bool is_own_descriptor(const user_events_route& route, int file) noexcept;

/// Leaves alone what has become somebody else's; the next emit opens another one.
void abandon_descriptor(user_events_route& route, int file) noexcept;

/// Whether there is a descriptor_user.
[[nodiscard]] bool has_active_writers() noexcept;

/// In a forked child: of the threads that were writing, none is there.
void reset_writers_after_fork() noexcept;

}  // namespace eventlog::core
