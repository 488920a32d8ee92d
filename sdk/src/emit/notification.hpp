// SPDX-License-Identifier: MIT
//
// Notifies the application about listeners that start or stop, requests dumps of state for new
// ones, and unmaps ended subscriptions: without a thread of the library, in the next emit.
//
// A consumer that starts or stops sets EVENTLOG_GATE_NOTIFICATION in the gate words of providers
// that want notifications; a process that ends a subscription sets it in all gates that had its
// bit. So the next emit of any event of that provider finds its gate open and calls
// run_notifications().
#pragma once

#include <cstdint>

struct eventlog_provider;

namespace eventlog::core {

/// The slots of the subscriptions that want any event of the provider.
[[nodiscard]] std::uint32_t listening_slots(const eventlog_provider& provider) noexcept;

/// Sets or clears the notification bit in all gate words of the provider.
void set_notification_request(eventlog_provider& provider, bool wanted) noexcept;

/// Whether the application has a callback that run_notifications() would call.
[[nodiscard]] bool has_callbacks(const eventlog_provider& provider) noexcept;

enum class callback_timing { now, deferred };

/// Unmaps ended regions, then determines the listeners and runs the callbacks; with `deferred` the
/// callbacks are left to the next emit. Does nothing if a thread, also this one, is running
/// notifications, or if the gate is the parent process's.
void run_notifications(eventlog_provider& provider, callback_timing callbacks) noexcept;

/// The dump that the calling thread makes; without a provider, none.
struct dump_in_progress {
    const eventlog_provider* provider = nullptr;
    std::uint32_t slots = 0;
};
/// initial-exec: reading it never allocates.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local dump_in_progress dumping;

/// A mask for gate words: the listeners of the calling thread's events of this provider. All of
/// them, except during a dump.
[[nodiscard]] std::uint32_t dump_target_mask(const eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
