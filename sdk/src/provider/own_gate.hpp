// SPDX-License-Identifier: MIT
//
// The change of a provider from the gate that all providers of the process share to its own.
//
// A provider without listeners reads the shared gate of the process file, so that it needs no
// memory there. Consumers set bits in the own gate and, to make the process look, the notification
// bit in the shared one. The next emit then changes over. A provider also changes over before this
// process or the kernel writes to its gate: to attach, for callbacks, for a route of the kernel. It
// never changes back.
#pragma once

#include "provider/registered_provider.hpp"

namespace eventlog::core {

/// Maps the provider's own gate unless it has one. False if that fails: no memory, no descriptor.
/// False in a child created without fork(), whose gate is its parent's. Under the registry lock.
[[nodiscard]] bool take_own_gate(eventlog_provider& provider) noexcept;

/// The same during an emit: blocks signals and cancellation, leaves errno unchanged, does not wait.
/// After a failure it returns false at once for a while.
[[nodiscard]] bool take_own_gate_in_emit(eventlog_provider& provider) noexcept;

/// Delays the next attempt of an emit after a failure.
void back_off_own_gate(eventlog_provider& provider) noexcept;

/// Stores why an attempt to attach has failed: errno, which must have been 0 at its begin.
void note_attach(eventlog_provider& provider, bool has_succeeded) noexcept;

/// Called by a scan that found a subscription, but take_own_gate() failed. The provider's next emit
/// finds a notification, and scans again. Events are counted for the slot until then, if
/// `counts`. Under the registry lock.
void note_missed_subscription(eventlog_provider& provider, unsigned slot, bool counts) noexcept;

/// The same for a collector.
void note_missed_collector(eventlog_provider& provider, unsigned slot) noexcept;

/// Called after that scan. Under the registry lock.
void forget_missed_subscriptions(eventlog_provider& provider) noexcept;

/// Whether the gate does not show all subscriptions: it is the shared one, or some were missed.
[[nodiscard]] inline bool may_miss_subscriptions(const eventlog_provider& provider) noexcept {
    return provider.reads_shared_gate.load(std::memory_order_seq_cst) ||
           provider.misses_subscriptions.load(std::memory_order_seq_cst);
}

/// Counts an event that found a notification while the gate may miss subscriptions: as unattached,
/// for each subscription that listens to the provider. Which events it wants is not known, so that
/// this may count one too many, never one too few. Not for slots whose bits are in `attached`: the
/// emit writes to them. Returns the slots for which it has counted the event.
[[nodiscard]] std::uint32_t count_before_own_gate(eventlog_provider& provider,
                                                  std::uint32_t attached) noexcept;

/// The events counted there that are not in the counters yet, once for each subscription.
[[nodiscard]] std::uint64_t lost_before_own_gate(const eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
