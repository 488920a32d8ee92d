// SPDX-License-Identifier: MIT
#include "emit/detach.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "emit/notification.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {
namespace {

// Nanoseconds. The second and the further pause in a row are twice as long as the one before: where
// somebody stays in a region for ever, trying in vain must cost next to nothing.
constexpr std::uint64_t backoff_min = 1'000'000;
constexpr std::uint64_t backoff_max = 1'000'000'000;
constinit std::atomic<std::uint64_t> next_backoff{backoff_min};

// Coarse monotonic nanoseconds before which an emit does not try again.
constinit std::atomic<std::uint64_t> detach_not_before{0};

void back_off_detach() noexcept {
    const std::uint64_t pause = next_backoff.load(std::memory_order_relaxed);
    detach_not_before.store(coarse_monotonic_now() + pause, std::memory_order_relaxed);
    next_backoff.store(std::min(2 * pause, backoff_max), std::memory_order_relaxed);
}

/// Those of the mapped slots in whose subscription a provider has a place. There may be thousands
/// of providers, each of which asks when it comes: one that has a place in all of them is enough.
std::uint32_t needed_slots() noexcept {
    const std::uint32_t mapped = mapped_slots();
    std::uint32_t needed = 0;
    for (const eventlog_provider* provider = get_first_registered();
         provider != nullptr && (mapped & ~needed) != 0; provider = provider->next) {
        for (const attachment& place : provider->attachments) {
            const bool is_needed = place.serial.load(std::memory_order_relaxed) ==
                                   place.slot->serial.load(std::memory_order_relaxed);
            needed |= is_needed ? place.gate_bit : 0;
        }
    }
    return needed;
}

}  // namespace

void unmap_dead_regions() noexcept {
    // The gates of a child that was made without fork() are its parent's.
    if (unmap_slots_except(needed_slots())) {
        reset_detach_backoff();
        return;
    }
    if (!is_own_process()) {
        return;
    }
    back_off_detach();
    for (eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
        set_notification_request(*provider, true);
    }
}

void try_unmap_dead_regions(eventlog_provider& provider) noexcept {
    if (is_detach_backed_off()) {
        set_notification_request(provider, true);
        return;
    }
    const signal_guard guard;
    const registry_lock lock(std::try_to_lock);
    if (lock.held()) {
        unmap_dead_regions();
    } else {
        back_off_detach();
        set_notification_request(provider, true);
    }
}

void reset_detach_backoff() noexcept {
    detach_not_before.store(0, std::memory_order_relaxed);
    next_backoff.store(backoff_min, std::memory_order_relaxed);
}

bool is_detach_backed_off() noexcept {
    return coarse_monotonic_now() < detach_not_before.load(std::memory_order_relaxed);
}

}  // namespace eventlog::core
