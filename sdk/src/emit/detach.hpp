// SPDX-License-Identifier: MIT
//
// Unmaps regions of ended subscriptions, and regions that no provider of this process needs.
//
// The library has no thread for this. The process that ends a subscription sets
// EVENTLOG_GATE_NOTIFICATION in all gates that had its bit; the next emit of any event then calls
// run_notifications(), which calls answer_notification(). If a region cannot be unmapped yet,
// because it has users, the bit is set again, in this process only. A consumer that finds the
// serial of another subscription in its slot sets the bit, too: that one may not have ended,
// because its file was removed by hand. A child created by _Fork() or clone() answers no
// notification and keeps the region of such a subscription.
#pragma once

struct eventlog_provider;

namespace eventlog::core {

/// Unmaps all regions that have ended, those whose slots have other subscriptions by now, and those
/// that no registered provider is attached to. If one of them has users, a later emit retries.
/// Under the registry lock.
void unmap_dead_regions() noexcept;

/// Clears the notification bits of that provider and unmaps regions, as an emit does that has found
/// one. The bits stay if the registry lock is not free, because its holder may just be setting them
/// to count events. Does not block; blocks signals and cancellation; errno stays unchanged.
void answer_notification(eventlog_provider& provider) noexcept;

/// Ends the attachments of the provider to subscriptions; those to collectors stay. Under the
/// registry lock.
void detach_from_subscriptions(eventlog_provider& provider) noexcept;

/// Called in a forked child, whose clock may differ. Under the registry lock.
void retry_attach_at_once(eventlog_provider& provider) noexcept;

/// Ends all attachments of this process, which may not give events to their reader any more, and
/// unmaps all regions, with those of flight recorders. Called in an emit, for the attachment of
/// this provider in that slot, which ends in any case; the others end with it, or when they need a
/// buffer, if the registry lock is not free.
void end_attachments(eventlog_provider& provider, unsigned slot) noexcept;

/// Called in a forked child, whose clock may differ, and after success.
void reset_detach_backoff() noexcept;

/// Whether the last attempt failed so recently that none is due, which bounds the system calls of
/// an emit.
[[nodiscard]] bool is_detach_backed_off() noexcept;

}  // namespace eventlog::core
