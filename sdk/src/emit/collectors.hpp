// SPDX-License-Identifier: MIT
//
// Attaches the providers of this process to its collectors, whose regions are private memory.
//
// A collector is a listener like a subscription, with a bit in gate words and a slot, but it is in
// no directory: this process alone sets its bits, under the registry lock. Which events it records
// is its mask, eventlog_provider::collected; the gate bits follow it. Patterns make the mask of a
// provider that a collector does not know yet.
#pragma once

#include <cstdint>
#include <string_view>

#include "provider/registered_provider.hpp"

namespace eventlog::core {

/// The bit of a collector in eventlog_provider::collected.
[[nodiscard]] constexpr std::uint8_t collector_bit(unsigned slot) noexcept {
    return static_cast<std::uint8_t>(1U << (slot - first_collector_slot));
}

// Under the registry lock:

/// Whether the slot has a collector that takes events.
[[nodiscard]] bool is_collecting(unsigned slot) noexcept;

/// Attaches the provider to the collector in that slot if it records any of the events, else clears
/// its bits. After a temporary failure the bits are set, and a later emit retries. Returns whether
/// the provider is attached.
bool attach_to_collector(eventlog_provider& provider, unsigned slot) noexcept;

/// The same for the collectors of all slots.
void attach_to_collectors(eventlog_provider& provider) noexcept;

/// Of a provider that is withdrawn.
void detach_from_collectors(eventlog_provider& provider) noexcept;

/// The same, of a collector that has ended, for all providers.
void detach_collector(unsigned slot) noexcept;

/// Makes the masks of all providers anew, after the patterns of the collector have changed.
void apply_collector_patterns(unsigned slot) noexcept;

/// Whether the collector records the event.
[[nodiscard]] bool is_collected(const eventlog_provider& provider, unsigned slot,
                                std::uint32_t event) noexcept;

/// Stores the mask of a provider, by bits of `words`; events behind them are not recorded. False if
/// there is no memory.
[[nodiscard]] bool set_collected(eventlog_provider& provider, unsigned slot,
                                 const std::uint64_t* words, std::size_t count) noexcept;

// Any thread:

/// Whether the calling thread's events are kept from the collector with that serial.
void exclude_thread(unsigned slot, std::uint64_t serial, bool is_excluded) noexcept;

/// The gate bits of the collectors that get the calling thread's events.
[[nodiscard]] std::uint32_t unexcluded_collectors() noexcept;

}  // namespace eventlog::core
