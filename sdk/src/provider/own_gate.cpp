// SPDX-License-Identifier: MIT
#include "provider/own_gate.hpp"

#include <bit>
#include <cerrno>
#include <mutex>

#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/counters.hpp"
#include "ring/clock.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {
namespace {

// Bounds the system calls of an emit.
constexpr std::uint64_t retry_interval = 1'000'000;

std::uint32_t slots_with_bits(const eventlog_provider& provider) noexcept {
    std::uint32_t slots = 0;
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        slots |= provider.gate_word(event).load(std::memory_order_relaxed);
    }
    return slots & all_slot_bits;
}

/// Moves the events that were lost meanwhile to the counters, which the provider has of its own
/// now.
void settle_lost_events(eventlog_provider& provider) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    if (entry == nullptr) {
        return;
    }
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        // Sequentially consistent, see take_own_gate().
        const std::uint32_t lost =
            std::atomic_ref(entry->early[slot])
                .fetch_and(EVENTLOG_EARLY_LISTENS, std::memory_order_seq_cst) &
            ~EVENTLOG_EARLY_LISTENS;
        if (lost != 0) {
            count_unattached(provider, slot, lost);
        }
    }
}

/// For the subscription in the slot. Returns whether it listens.
bool count_early(__u32& early) noexcept {
    const std::atomic_ref word(early);
    std::uint32_t known = word.load(std::memory_order_relaxed);
    // Seen by the settling thread, or this one sees that the gate is complete, see take_own_gate().
    while ((known & EVENTLOG_EARLY_LISTENS) != 0 && known != UINT32_MAX &&
           !word.compare_exchange_weak(known, known + 1, std::memory_order_seq_cst)) {
    }
    return (known & EVENTLOG_EARLY_LISTENS) != 0;
}

void request_notification(eventlog_provider& provider) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        provider.gate_word(event).fetch_or(EVENTLOG_GATE_NOTIFICATION, std::memory_order_release);
    }
}

}  // namespace

void note_missed_subscription(eventlog_provider& provider, unsigned slot, bool counts) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    if (entry != nullptr && counts) {
        std::atomic_ref(entry->early[slot])
            .fetch_or(EVENTLOG_EARLY_LISTENS, std::memory_order_seq_cst);
    }
    provider.misses_subscriptions.store(true, std::memory_order_seq_cst);
    request_notification(provider);
}

void note_missed_collector(eventlog_provider& provider, unsigned slot) noexcept {
    provider.missed_collectors.fetch_or(1U << slot, std::memory_order_relaxed);
    provider.misses_subscriptions.store(true, std::memory_order_seq_cst);
    request_notification(provider);
}

void forget_missed_subscriptions(eventlog_provider& provider) noexcept {
    // As in take_own_gate().
    provider.misses_subscriptions.store(false, std::memory_order_seq_cst);
    settle_lost_events(provider);
}

void note_attach(eventlog_provider& provider, bool has_succeeded) noexcept {
    const int error = errno != 0 ? errno : unknown_attach_error;
    provider.attach_error.store(has_succeeded ? 0 : error, std::memory_order_relaxed);
}

bool take_own_gate(eventlog_provider& provider) noexcept {
    if (!provider.reads_shared_gate.load(std::memory_order_relaxed)) {
        return true;
    }
    if (!is_own_process()) {
        return false;  // the change over would be announced for the parent, which has not made it
    }
    directory where;
    error_text ignored;
    if (!where.open(own_directory(), if_missing::fail, ignored) ||
        !map_own_gate(where, provider.place, provider.gate.load(std::memory_order_relaxed))) {
        return false;
    }
    // Sequentially consistent: either a thread that counts a lost event sees the change and settles
    // it, or this one sees the event.
    provider.reads_shared_gate.store(false, std::memory_order_seq_cst);
    if (provider.misses_subscriptions.load(std::memory_order_relaxed)) {
        request_notification(provider);
    } else {
        settle_lost_events(provider);
    }
    return true;
}

bool take_own_gate_in_emit(eventlog_provider& provider) noexcept {
    if (!provider.reads_shared_gate.load(std::memory_order_acquire)) {
        return true;
    }
    if (coarse_monotonic_now() < provider.own_gate_not_before.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    if (!is_own_process()) {
        return false;
    }
    const registry_lock lock(std::try_to_lock);
    if (!lock.held()) {
        return false;
    }
    // A gate without bits may be that of a consumer that found no memory for them.
    const bool was_missing =
        provider.misses_subscriptions.exchange(true, std::memory_order_seq_cst);
    errno = 0;
    const bool is_taken = take_own_gate(provider);
    note_attach(provider, is_taken);
    if (!is_taken) {
        back_off_own_gate(provider);
        return false;
    }
    if (!was_missing && slots_with_bits(provider) != 0) {
        forget_missed_subscriptions(provider);
    }
    return true;
}

void back_off_own_gate(eventlog_provider& provider) noexcept {
    provider.own_gate_not_before.store(coarse_monotonic_now() + retry_interval,
                                       std::memory_order_relaxed);
}

std::uint32_t count_before_own_gate(eventlog_provider& provider, std::uint32_t attached) noexcept {
    std::uint32_t counted = provider.missed_collectors.load(std::memory_order_relaxed) & ~attached;
    for (std::uint32_t missed = counted; missed != 0; missed &= missed - 1) {
        subscription_slots[static_cast<unsigned>(std::countr_zero(missed))]
            .lost_unattached.fetch_add(1, std::memory_order_relaxed);
    }
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    if (entry == nullptr) {
        return counted;
    }
    // After the notification that the caller has seen: the consumer sets the bits first.
    std::atomic_thread_fence(std::memory_order_acquire);
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        if ((attached & 1U << slot) == 0 && count_early(entry->early[slot])) {
            counted |= 1U << slot;
        }
    }
    if (!may_miss_subscriptions(provider)) {
        settle_lost_events(provider);
    }
    return counted;
}

std::uint64_t lost_before_own_gate(const eventlog_provider& provider) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    std::uint64_t lost = 0;
    for (unsigned slot = 0; entry != nullptr && slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        lost += std::atomic_ref(entry->early[slot]).load(std::memory_order_relaxed) &
                ~EVENTLOG_EARLY_LISTENS;
    }
    return lost;
}

}  // namespace eventlog::core
