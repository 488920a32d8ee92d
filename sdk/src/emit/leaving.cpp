// SPDX-License-Identifier: MIT
#include "emit/leaving.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "emit/attention.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/unnoticed.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {
namespace {

// Nanoseconds. The second and the further pause in a row are twice as long as the one before: where
// somebody stays in a region for ever, trying in vain must cost next to nothing.
constexpr std::uint64_t first_pause = 1'000'000;
constexpr std::uint64_t longest_pause = 1'000'000'000;
constinit std::atomic<std::uint64_t> next_pause{first_pause};

// Coarse monotonic nanoseconds before which an emit does not try again.
constinit std::atomic<std::uint64_t> leaving_not_before{0};

void pause_leaving() noexcept {
    const std::uint64_t pause = next_pause.load(std::memory_order_relaxed);
    leaving_not_before.store(coarse_now() + pause, std::memory_order_relaxed);
    next_pause.store(std::min(2 * pause, longest_pause), std::memory_order_relaxed);
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

void leave_regions() noexcept {
    // The gates of a child that was made without fork() are its parent's.
    if (unmap_slots_except(needed_slots())) {
        forget_leaving_pause();
        return;
    }
    if (!is_own_process()) {
        return;
    }
    pause_leaving();
    for (eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
        set_attention(*provider, true);
    }
}

void leave_regions_now(eventlog_provider& provider) noexcept {
    if (is_leaving_paused()) {
        set_attention(provider, true);
        return;
    }
    const unnoticed guard;
    const registry_lock lock(std::try_to_lock);
    if (lock.held()) {
        leave_regions();
    } else {
        pause_leaving();
        set_attention(provider, true);
    }
}

void forget_leaving_pause() noexcept {
    leaving_not_before.store(0, std::memory_order_relaxed);
    next_pause.store(first_pause, std::memory_order_relaxed);
}

bool is_leaving_paused() noexcept {
    return coarse_now() < leaving_not_before.load(std::memory_order_relaxed);
}

}  // namespace eventlog::core
