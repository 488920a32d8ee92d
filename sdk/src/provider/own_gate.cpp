// SPDX-License-Identifier: MIT
#include "provider/own_gate.hpp"

#include <bit>
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
    return slots & EVENTLOG_GATE_SUBSCRIPTIONS;
}

/// Moves the events that were lost meanwhile to the counters, which the provider has of its own
/// now.
void settle_lost_events(eventlog_provider& provider) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    const std::uint64_t lost =
        entry == nullptr
            ? 0
            : std::atomic_ref(entry->lost_unattached).exchange(0, std::memory_order_seq_cst);
    if (lost == 0) {
        return;
    }
    for (std::uint32_t slots = slots_with_bits(provider); slots != 0; slots &= slots - 1) {
        count_unattached(provider, static_cast<unsigned>(std::countr_zero(slots)), lost);
    }
}

void request_notification(eventlog_provider& provider) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_acquire);
    for (std::uint32_t event = 0; event < count; ++event) {
        provider.gate_word(event).fetch_or(EVENTLOG_GATE_NOTIFICATION, std::memory_order_release);
    }
}

}  // namespace

void note_missed_subscription(eventlog_provider& provider) noexcept {
    provider.misses_subscriptions.store(true, std::memory_order_seq_cst);
    request_notification(provider);
}

void forget_missed_subscriptions(eventlog_provider& provider) noexcept {
    // As in take_own_gate().
    provider.misses_subscriptions.store(false, std::memory_order_seq_cst);
    settle_lost_events(provider);
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
    if (!take_own_gate(provider)) {
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

void count_before_own_gate(eventlog_provider& provider) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    if (entry == nullptr) {
        return;
    }
    std::atomic_ref(entry->lost_unattached).fetch_add(1, std::memory_order_seq_cst);
    if (!may_miss_subscriptions(provider)) {
        settle_lost_events(provider);
    }
}

std::uint64_t lost_before_own_gate(const eventlog_provider& provider) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    return entry == nullptr
               ? 0
               : std::atomic_ref(entry->lost_unattached).load(std::memory_order_relaxed);
}

}  // namespace eventlog::core
