// SPDX-License-Identifier: MIT
#include "emit/detach.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>

#include "emit/notification.hpp"
#include "kernel/user_events_route.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/own_process_file.hpp"

namespace eventlog::core {
namespace {

// Pauses in nanoseconds; each failure in a row doubles the pause. If a user never leaves a region,
// retries must cost next to nothing.
constexpr std::uint64_t backoff_min = 1'000'000;
constexpr std::uint64_t backoff_max = 1'000'000'000;
constinit std::atomic<std::uint64_t> next_backoff{backoff_min};

// Coarse monotonic nanoseconds before which an emit does not retry.
[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<std::uint64_t> detach_not_before{0};

void back_off_detach() noexcept {
    const std::uint64_t pause = next_backoff.load(std::memory_order_relaxed);
    detach_not_before.store(coarse_monotonic_now() + pause, std::memory_order_relaxed);
    next_backoff.store(std::min(2 * pause, backoff_max), std::memory_order_relaxed);
}

/// The mapped slots that a provider is attached to. There may be thousands of providers, and each
/// registration calls this, so the search ends when all mapped slots are needed.
std::uint32_t needed_slots() noexcept {
    const std::uint32_t mapped = mapped_slots() & EVENTLOG_GATE_SUBSCRIPTIONS;
    std::uint32_t needed = 0;
    for (const eventlog_provider* provider = get_first_registered();
         provider != nullptr && (mapped & ~needed) != 0; provider = provider->next) {
        for (const attachment& place :
             provider->attachments.load(std::memory_order_relaxed)->places) {
            // Also of a forked child that attaches at its first emit.
            const bool is_needed = place.serial.load(std::memory_order_relaxed) ==
                                   place.slot->serial.load(std::memory_order_relaxed);
            needed |= is_needed ? place.gate_bit : 0;
        }
    }
    return needed;
}

/// Unmaps the regions of subscriptions whose slots have others by now: their files were removed by
/// hand, so that no process has ended them. No serial, as without a process file, says nothing. An
/// attempt that fails has emptied the slot, so that unmap_slots_except() continues it.
void unmap_replaced_regions() noexcept {
    for (std::uint32_t left = mapped_slots() & EVENTLOG_GATE_SUBSCRIPTIONS; left != 0;
         left &= left - 1) {
        const auto index = static_cast<unsigned>(std::countr_zero(left));
        subscription_slot& slot = subscription_slots[index];
        if (slot.mapping.load(std::memory_order_relaxed) != 0 &&
            is_slot_replaced(index, slot.serial.load(std::memory_order_relaxed))) {
            static_cast<void>(unmap_slot(slot));
        }
    }
}

/// After an attempt to unmap regions and to close descriptors: `is_complete` if none has users.
void finish_unmapping(bool is_complete) noexcept {
    if (is_complete) {
        reset_detach_backoff();
        return;
    }
    // In a child created without fork() the gates are the parent's.
    if (!is_own_process()) {
        return;
    }
    back_off_detach();
    for (eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
        set_notification_request(*provider, true);
    }
}

}  // namespace

void unmap_dead_regions() noexcept {
    unmap_replaced_regions();
    const bool is_closed = !is_own_process() || close_retired_descriptors();
    finish_unmapping(unmap_slots_except(needed_slots()) && is_closed);
}

void answer_notification(eventlog_provider& provider) noexcept {
    if (is_detach_backed_off()) {
        return;
    }
    const signal_guard guard;
    const registry_lock lock(std::try_to_lock);
    if (!lock.held()) {
        back_off_detach();
    } else if (!provider.misses_subscriptions.load(std::memory_order_relaxed)) {
        // Before the bits are cleared, without which other threads write to a region that is
        // mapped. If the serial is stored in between, they do until the second comparison, in
        // unmap_dead_regions(), and no subscription counts these events.
        unmap_replaced_regions();
        set_notification_request(provider, false);
        unmap_dead_regions();
    }
}

void end_attachments(eventlog_provider& provider, unsigned slot) noexcept {
    provider.attachment_to(slot).end();
    const signal_guard guard;
    if (!is_own_process()) {
        return;
    }
    const registry_lock lock(std::try_to_lock);
    if (!lock.held()) {
        return;
    }
    for (eventlog_provider* each = get_first_registered(); each != nullptr; each = each->next) {
        detach_from_subscriptions(*each);
    }
    finish_unmapping(unmap_all_slots());
}

void detach_from_subscriptions(eventlog_provider& provider) noexcept {
    attachment_list* const attachments = provider.attachments.load(std::memory_order_relaxed);
    if (attachments == &no_attachments) {
        return;
    }
    for (unsigned slot = 0; slot < first_collector_slot; ++slot) {
        attachments->places[slot].end();
    }
}

void retry_attach_at_once(eventlog_provider& provider) noexcept {
    attachment_list* const attachments = provider.attachments.load(std::memory_order_relaxed);
    if (attachments != &no_attachments) {
        for (attachment& place : attachments->places) {
            place.not_before.store(0, std::memory_order_relaxed);
        }
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
