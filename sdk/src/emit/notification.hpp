// SPDX-License-Identifier: MIT
//
// Telling an application that somebody began or stopped to listen, having it tell latecomers the
// present state, and having it leave subscriptions that have ended: without a thread of ours, from
// its own next emit.
//
// A consumer that comes or goes sets EVENTLOG_GATE_NOTIFICATION in the gate words of a provider
// that asked for it, and whoever ends a subscription does in all that had its bit. So the next
// emit, of whichever event of that provider, finds its gate open and comes to attend().
#pragma once

#include <cstdint>

struct eventlog_provider;

namespace eventlog::core {

/// Has the next emit look who listens, or no longer.
void set_notification_request(eventlog_provider& provider, bool wanted) noexcept;

/// Whether the application has a callback that attend() would run.
[[nodiscard]] bool has_callbacks(const eventlog_provider& provider) noexcept;

enum class callback_timing { now, deferred };

/// Leaves what has ended, then looks who listens and calls back, if the application wants to know;
/// who may not call back now leaves that to the next emit. If another thread, or this one, is at
/// it, or the gate is that of the parent process: does nothing.
void run_notifications(eventlog_provider& provider, callback_timing callbacks) noexcept;

/// The bits of those to whom the calling thread's events of this provider go: all, but in a dump.
[[nodiscard]] std::uint32_t dump_target_mask(const eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
