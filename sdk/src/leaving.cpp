// SPDX-License-Identifier: MIT
#include "leaving.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>

#include "attention.hpp"
#include "clock.hpp"
#include "process.hpp"
#include "registered_provider.hpp"
#include "subscription_slots.hpp"
#include "unnoticed.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t pause = 1'000'000;

// Coarse monotonic nanoseconds before which an emit does not try again.
constinit std::atomic<std::uint64_t> not_before{0};

void pause_leaving() noexcept {
    not_before.store(coarse_now() + pause, std::memory_order_relaxed);
}

/// The slots in whose subscription a provider has a place.
std::uint32_t needed_slots() noexcept {
    std::uint32_t needed = 0;
    for (const eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
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
    if (unmap_slots_except(needed_slots()) || !is_own_process()) {
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

bool is_leaving_paused() noexcept {
    return coarse_now() < not_before.load(std::memory_order_relaxed);
}

}  // namespace eventlog::core
