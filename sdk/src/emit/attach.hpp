// SPDX-License-Identifier: MIT
//
// Attaches a provider to subscriptions. All functions but attach_now require the registry lock.
#pragma once

#include "provider/registered_provider.hpp"
#include "shm/directory.hpp"

namespace eventlog::core {

/// Attaches the provider to the subscription in that slot if it wants any of the events: maps the
/// region, adds the provider to its table, sets the gate's bits unless the subscription is paused.
/// If there is no such subscription, clears the slot's bits in the gate. After a temporary failure
/// (no descriptor or memory, users in the slot's previous region) the bits stay, and a later emit
/// retries. Unmaps regions that are not needed any more. Returns whether the provider is attached.
bool attach(eventlog_provider& provider, unsigned slot, const directory_path& path) noexcept;

/// When a provider takes its entry of a subscription's table.
enum class entry_time {
    now,
    /// Of a forked child, which may never emit: a program that only starts others by fork and exec
    /// would fill the tables. The region is mapped, and the gate's bits are set. The first emit
    /// needs no file: the process may have another user then, or another root.
    first_emit,
};

/// Attaches a provider that has just been published to the subscriptions of all slots. Regions
/// mapped in vain are left to unmap_dead_regions.
void attach_to_all(eventlog_provider& provider, const directory& where,
                   entry_time entries) noexcept;

struct present_subscriptions {
    bool has_dead = false;
    bool has_unreadable = false;  // noted as missed
};

/// The same without removing dead subscriptions, which allocates.
present_subscriptions attach_to_present(eventlog_provider& provider, const directory& where,
                                        entry_time entries) noexcept;

/// Attaches during an emit: blocks signals and cancellation, leaves errno unchanged. Returns false
/// if the provider is not attached afterwards: there is no subscription, or a later emit has to
/// retry.
[[nodiscard]] bool attach_now(eventlog_provider& provider, unsigned slot) noexcept;

}  // namespace eventlog::core
