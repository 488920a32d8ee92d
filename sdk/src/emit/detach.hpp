// SPDX-License-Identifier: MIT
//
// Leaving subscriptions: giving back the mappings of regions that have ended, and of those that no
// provider of this process needs any more.
//
// There is no thread of ours to do that when it is due. Who ends a subscription raises
// EVENTLOG_GATE_NOTIFICATION in the gates that had its bit, and the next emit of any event comes to
// attend(), and from there to here. What cannot be left yet raises attention again, in this process
// alone: a thread is in the region, or has the registry's lock.
#pragma once

struct eventlog_provider;

namespace eventlog::core {

/// Unmaps all regions that have ended, and those in which no registered provider has a place. If
/// somebody is in one of them, a later emit tries again. Under the registry's lock.
void unmap_dead_regions() noexcept;

/// The same from an emit of that provider, whose attention has just been cleared. Waits for nobody;
/// signals and cancellation wait, errno stays.
void try_unmap_dead_regions(eventlog_provider& provider) noexcept;

/// For a child, whose clock may be another, and after a try that was not in vain.
void reset_detach_backoff() noexcept;

/// Whether the last try was in vain, and so short a time ago that none is due: an emit must not
/// become a row of system calls.
[[nodiscard]] bool is_detach_backed_off() noexcept;

}  // namespace eventlog::core
