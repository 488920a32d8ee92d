// SPDX-License-Identifier: MIT
//
// Attaches a provider to subscriptions. All functions require the registry lock.
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

/// Attaches a provider that has just been published to the subscriptions of all slots. Regions
/// mapped in vain are left to unmap_dead_regions.
void attach_to_all(eventlog_provider& provider, const directory& where) noexcept;

/// The same without removing dead subscriptions, which allocates. Returns whether there are any.
bool attach_to_present(eventlog_provider& provider, const directory& where) noexcept;

}  // namespace eventlog::core
