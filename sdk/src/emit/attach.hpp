// SPDX-License-Identifier: MIT
//
// Joining a provider to a subscription. Under the registry's lock, always.
#pragma once

#include "provider/registered_provider.hpp"
#include "shm/directory.hpp"

namespace eventlog::core {

/// Makes events of the provider go to the subscription in that slot, if there is one that wants
/// any: maps it, enters the provider into its table, sets the gate's bits. If there is none, takes
/// the slot's bits out of the gate. If it cannot be done right now (no descriptor or memory to be
/// had, a thread still in the region that had the slot before), the bits stay, and an emit tries
/// again in a while. Leaves regions that are not needed any more. Returns whether the provider is
/// attached now.
bool attach(eventlog_provider& provider, unsigned slot, const directory_path& path) noexcept;

/// The same for every slot, when a provider has just been published. Regions that it maps in vain
/// are left to unmap_dead_regions.
void attach_to_all(eventlog_provider& provider, const directory& where) noexcept;

}  // namespace eventlog::core
