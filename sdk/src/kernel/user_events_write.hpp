// SPDX-License-Identifier: MIT
//
// Writes events to the kernel. See user_events_route.hpp.
#pragma once

#include <cstdint>

#include "platform/thread_count.hpp"
#include "provider/user_events_state.hpp"
#include "ring/ring_writer.hpp"

struct eventlog_provider;

namespace eventlog::core {

/// The threads that use descriptors of routes: a descriptor that such a thread has read from a
/// route is not closed. Pairs with the stores to user_events_route::file: either the thread sees
/// the cleared descriptor, or the thread that has cleared it sees the user. Reset in a forked
/// child.
[[gnu::visibility("hidden")]] extern thread_count descriptor_users;

/// Writes a small event and counts it, in the fewest steps. Returns false without effect in all
/// other cases, also after an error, for which emit_to_user_events() writes it again.
/// Preconditions: those of that function, and the calling thread makes no dump of the provider.
[[nodiscard]] bool try_small_to_user_events(eventlog_provider& provider, std::uint32_t event,
                                            const void* block, std::size_t size) noexcept;

/// Writes the event and counts the outcome. Returns false if the descriptor is lost: then the
/// caller retries the route and calls the second function, so that less stack is in use during the
/// retry. Precondition: the gate has the kernel's bit. Any thread or signal handler; no lock, no
/// allocation, not a cancellation point, errno stays unchanged.
[[nodiscard]] bool emit_to_user_events(eventlog_provider& provider,
                                       const event_payload& payload) noexcept;
void emit_again_to_user_events(eventlog_provider& provider, const event_payload& payload) noexcept;

/// From now on the calling thread's events of the provider that reach the module go to one of its
/// listeners, and not to tracing; without a provider, to all again.
void set_module_target(const eventlog_provider* provider, std::uint64_t listener) noexcept;

/// The number of the first listener of the provider in the module above `after`; 0: none.
/// Async-signal-safe; leaves errno unchanged.
[[nodiscard]] std::uint64_t next_module_listener(const eventlog_provider& provider,
                                                 std::uint64_t after) noexcept;

/// Whether the descriptor is still the file that the route opened. Async-signal-safe; leaves errno
/// unchanged.
[[nodiscard]] bool is_own_descriptor(const user_events_route& route, int file) noexcept;

/// Removes a lost descriptor from the route; the next emit opens another one.
void abandon_descriptor(user_events_route& route, int file) noexcept;

}  // namespace eventlog::core
