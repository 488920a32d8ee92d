// SPDX-License-Identifier: MIT
//
// The emit path behind the gate. All of it may run in any thread and signal handler, while any
// other part of this library runs: no allocation, no waiting for a lock.
#include "emit/emit.hpp"

#include <bit>
#include <cstring>

#include <eventlog/abi.h>

#include "emit/attach.hpp"
#include "emit/collectors.hpp"
#include "emit/detach.hpp"
#include "emit/notification.hpp"
#include "kernel/user_events_route.hpp"
#include "kernel/user_events_write.hpp"
#include "platform/process.hpp"
#include "provider/counters.hpp"
#include "provider/own_gate.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"
#include "ring/gate_layout.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_transition.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq_append.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::core {
namespace {

using entry_counter = __u64 eventlog_provider_entry::*;

/// On kernels without enable words this bit is always set, with or without listeners.
constexpr std::uint32_t kernel_bit_ambiguous = 1U << EVENTLOG_GATE_USER_EVENTS_BIT;

/// An event's gate word without kernel_bit_ambiguous if that has no listener. Acquire: if a bit is
/// set, the previous subscription of its slot had ended before.
std::uint32_t listener_mask(const eventlog_provider& provider, std::uint32_t event) noexcept {
    const std::uint32_t word = provider.gate_word(event).load(std::memory_order_acquire);
    return (word & kernel_bit_ambiguous) == 0 || has_kernel_listener(provider.user_events, event)
               ? word
               : word & ~kernel_bit_ambiguous;
}

/// Increments a counter of the provider in the subscription's region.
[[gnu::noinline]] void count_in_region(subscription_slot& slot, std::uint64_t mapping,
                                       std::uint32_t provider_id, entry_counter counter) noexcept {
    const slot_user user(slot, mapping);
    if (user.holds()) {
        shared(slot.entry(provider_id)->*counter).fetch_add(1, std::memory_order_relaxed);
    }
}

/// The state of the region with that mapping; EVENTLOG_REGION_ENDED if the slot does not have it.
std::uint32_t state_of(subscription_slot& slot, std::uint64_t mapping) noexcept {
    const slot_user user(slot, mapping);
    return user.holds() ? shared(slot.region()->state).load(std::memory_order_relaxed)
                        : std::uint32_t{EVENTLOG_REGION_ENDED};
}

/// Returns false, and counts nothing, if the subscription is paused or has ended or its slot was
/// reused.
bool write_to(eventlog_provider& provider, const attachment& place, std::uint64_t mapping,
              const event_payload& payload) noexcept {
    subscription_slot& slot = *place.slot;
    const std::uint32_t provider_id = place.provider_id.load(std::memory_order_relaxed);
    const std::uint64_t provider_head = place.provider_head.load(std::memory_order_relaxed);
    // Counts for both the consumer and the provider's process.
    const auto account = [&](entry_counter for_consumer, route_counter for_producer) {
        count_in_region(slot, mapping, provider_id, for_consumer);
        count(provider, for_producer);
    };
    using entry = eventlog_provider_entry;
    using counters = eventlog_route_counters;
    if (payload.size > payload_size_max) [[unlikely]] {
        if (state_of(slot, mapping) != EVENTLOG_REGION_LIVE) {
            return false;
        }
        account(&entry::lost_too_large, &counters::lost_too_large);
        return true;
    }
    switch (write_record(slot, mapping, provider_head, payload)) {
        case write_result::written_uncounted:
            count_written(provider);
            [[fallthrough]];
        case write_result::written:
            if ((payload.flags & EVENTLOG_RECORD_TRUNCATED) != 0) {
                account(&entry::truncated, &counters::truncated);
            }
            return true;
        case write_result::lost_no_memory:
            count_in_region(slot, mapping, provider_id, &entry::lost_no_memory);
            [[fallthrough]];
        case write_result::lost_full:
            account(&entry::lost_full, &counters::lost_full);
            return true;
        case write_result::lost_busy:
            account(&entry::lost_busy, &counters::lost_busy);
            return true;
        case write_result::refused: {
            const auto index = static_cast<unsigned>(&slot - subscription_slots.data());
            end_attachments(provider, index);
            count_unattached(provider, index);
            return true;
        }
        case write_result::stale:
            break;
    }
    return false;
}

std::uint64_t session_of(const event_payload& payload) noexcept {
    std::uint64_t session = 0;
    const void* first = payload.block;
    std::size_t size = payload.size;
    if (first == nullptr && !payload.pieces.empty()) {
        first = payload.pieces[0].data;
        size = payload.pieces[0].size;
    }
    if (size >= sizeof session) {
        std::memcpy(&session, first, sizeof session);
    }
    return session;
}

/// Whether the subscription wants the event in other sessions only.
bool is_filtered_by_session(const eventlog_provider& provider, unsigned index,
                            const event_payload& payload) noexcept {
    const std::uint32_t limited = provider.session_limited.load(payload.event);
    return (limited & 1U << index) != 0 &&
           !subscription_slots[index].wants_session(session_of(payload));
}

/// Counts an event whose bits an attach has cleared, for the subscriptions in these slots. Which
/// events they want is not known, so that this may count one too many, never one too few.
[[gnu::noinline]] void count_cleared(const eventlog_provider& provider,
                                     std::uint32_t slots) noexcept {
    eventlog_published_provider* const entry = provider.entry.load(std::memory_order_acquire);
    for (; entry != nullptr && slots != 0; slots &= slots - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(slots));
        if ((std::atomic_ref(entry->early[slot]).load(std::memory_order_acquire) &
             EVENTLOG_EARLY_LISTENS) != 0) {
            count_unattached(provider, slot);
        }
    }
}

/// The slots whose bits an attach of this process has cleared. A child created without fork() has
/// the mask of its parent's attach, which does not end there.
std::uint32_t cleared_slots(const eventlog_provider& provider) noexcept {
    const std::uint32_t slots = provider.cleared_slots.load(std::memory_order_acquire);
    return slots != 0 && is_own_process() ? slots : 0;
}

/// Counts an event that found the slot's bit, unless a consumer has cleared that since.
void count_if_listening(const eventlog_provider& provider, unsigned slot,
                        std::uint32_t event) noexcept {
    const std::uint32_t bit = 1U << slot;
    const auto is_set = [&] {
        return (provider.gate_word(event).load(std::memory_order_acquire) & bit) != 0;
    };
    const bool was_set = is_set();
    if (!was_set && (cleared_slots(provider) & bit) != 0) {
        count_cleared(provider, bit);
    } else if (was_set || is_set()) {  // again: an attach may have ended meanwhile
        count_unattached(provider, slot);
    }
}

/// Of the subscription whose bits are set for the slot, or of the collector.
std::uint64_t present_serial(unsigned index) noexcept {
    return is_collector_slot(index)
               ? subscription_slots[index].serial.load(std::memory_order_relaxed)
               : slot_serial(index);
}

/// With a notification: whether a region with this serial is that of a subscription whose slot has
/// another one by now. It is unmapped before the notification is cleared.
bool is_replaced(unsigned index, std::uint64_t serial, std::uint32_t gate) noexcept {
    return (gate & EVENTLOG_GATE_NOTIFICATION) != 0 && !is_collector_slot(index) &&
           is_slot_replaced(index, serial);
}

void emit_to(eventlog_provider& provider, unsigned index, const event_payload& payload) noexcept {
    // Twice, because an ended subscription may have a successor in its slot.
    for (int attempt = 0; attempt < 2; ++attempt) {
        attachment& place = provider.attachment_to(index);
        // Before the mapping, which then is not older than the serial: see attachment::begin().
        const std::uint64_t serial = place.serial.load(std::memory_order_acquire);
        const std::uint64_t mapping = place.mapping.load(std::memory_order_acquire);
        // Loaded after the mapping: the bit may have belonged to a previous subscription that
        // wanted other events.
        const std::uint32_t gate = listener_mask(provider, payload.event);
        if ((gate & place.gate_bit) == 0) {
            break;
        }
        if (mapping == place.slot->mapping.load(std::memory_order_acquire) &&
            !is_replaced(index, serial, gate)) [[likely]] {
            if (is_filtered_by_session(provider, index, payload)) {
                // Skipped, unless the filter is that of an ended subscription.
                if (is_attached(provider, index)) {
                    return;
                }
            } else if (write_to(provider, place, mapping, payload)) {
                // Only for a single listener: several listeners exclude the fast path, and threads
                // would contend for this cache line twice per event.
                if (gate == place.gate_bit &&
                    provider.latest.load(std::memory_order_relaxed) != &place) {
                    provider.latest.store(&place, std::memory_order_relaxed);
                }
                return;
            } else if (const std::uint32_t state = state_of(*place.slot, mapping);
                       !is_end_state(state)) {
                if (state == EVENTLOG_REGION_PAUSED) {
                    return;  // neither recorded nor lost
                }
                continue;  // resumed meanwhile
            }
        }
        if (!attach_now(provider, index)) {
            // Not counted if the attach has found no subscription and cleared the bit, or if the
            // bit is still that of a subscription that has ended: the one of the serial. The
            // mapping is read again, because end_attachments() also unmaps subscriptions that have
            // not ended.
            if (mapping == not_attached || serial != present_serial(index) ||
                place.mapping.load(std::memory_order_acquire) == not_attached) {
                count_if_listening(provider, index, payload.event);
            }
            return;
        }
    }
    // The bit was cleared, or in both attempts the slot's subscription had ended or was paused. The
    // one that it has now listens.
    count_if_listening(provider, index, payload.event);
}

/// Appends a contiguous payload for one of several subscriptions without the other steps of
/// emit_to, which explains the order of the loads. Returns false without effect if the case is
/// another one.
bool try_append_to(const eventlog_provider& provider, const attachment& place, std::uint32_t thread,
                   const event_payload& payload) noexcept {
    const std::uint64_t mapping = place.mapping.load(std::memory_order_acquire);
    const std::uint32_t gate = provider.gate_word(payload.event).load(std::memory_order_acquire);
    if ((gate & (place.gate_bit | EVENTLOG_GATE_NOTIFICATION)) != place.gate_bit) [[unlikely]] {
        return false;
    }
    const rseq_result result = append_block(
        *place.slot, mapping, place.provider_head.load(std::memory_order_relaxed), thread, payload);
    if (result == rseq_result::uncounted) [[unlikely]] {
        count(provider, &eventlog_route_counters::written);
    }
    return result == rseq_result::done || result == rseq_result::uncounted;
}

[[gnu::noinline]] void emit_to_slots(eventlog_provider& provider, const event_payload& payload,
                                     std::uint32_t bits) noexcept {
    // A single listener is left to emit_to, which enables the fast path for the next event.
    const std::uint32_t thread = known_thread_id;
    const bool is_block = payload.block != nullptr && payload.flags == 0 &&
                          payload.size <= payload_size_max && thread != 0;
    const bool is_for_several = is_block && !std::has_single_bit(bits);
    for (; bits != 0; bits &= bits - 1) {
        const auto index = static_cast<unsigned>(std::countr_zero(bits));
        if (!is_for_several ||
            !try_append_to(provider, provider.attachment_to(index), thread, payload)) {
            emit_to(provider, index, payload);
        }
    }
}

/// After an event that found a notification: counts it for those of these slots, which had no bit,
/// whose bits an attach has cleared. Returns the bits of an attach that has ended meanwhile.
[[gnu::noinline]] std::uint32_t count_in_cleared_slots(const eventlog_provider& provider,
                                                       std::uint32_t event,
                                                       std::uint32_t slots) noexcept {
    const std::uint32_t cleared = cleared_slots(provider) & slots;
    count_cleared(provider, cleared);
    return listener_mask(provider, event) & slots & ~cleared;
}

/// Calls the kernel as directly as possible.
void emit_to_kernel(eventlog_provider& provider, const event_payload& payload) noexcept {
    if (!emit_to_user_events(provider, payload)) [[unlikely]] {
        retry_user_events_route(provider);
        emit_again_to_user_events(provider, payload);
    }
}

/// Writes to all listeners but those in `counted`, for which the event is lost already.
[[gnu::noinline]] void emit_to_listeners(eventlog_provider& provider, const event_payload& payload,
                                         std::uint32_t counted) noexcept {
    if (provider.user_events.not_before.load(std::memory_order_relaxed) != user_events_route::never)
        [[unlikely]] {
        retry_user_events_route(provider);
    }
    const std::uint32_t word = listener_mask(provider, payload.event);
    const std::uint32_t targets = dump_target_mask(provider) & ~counted;
    std::uint32_t bits = word & targets;
    if ((bits & kernel_bits) != 0) {
        emit_to_kernel(provider, payload);
        bits &= ~kernel_bits;
    }
    if (bits != 0) {
        emit_to_slots(provider, payload, bits);
    }
    if ((word & EVENTLOG_GATE_NOTIFICATION) != 0) [[unlikely]] {
        const std::uint32_t unset = targets & EVENTLOG_GATE_SUBSCRIPTIONS & ~word;
        emit_to_slots(provider, payload, count_in_cleared_slots(provider, payload.event, unset));
    }
}

/// All paths except the fast path. Ends with a tail call: the notifications need the stack.
[[gnu::noinline]] void emit_slow(eventlog_provider& provider,
                                 const event_payload& payload) noexcept {
    const std::atomic_ref<std::uint32_t> gate = provider.gate_word(payload.event);
    std::uint32_t counted = 0;
    // Acquire: behind the notification, slots have the serials that its consumer has stored.
    if ((gate.load(std::memory_order_acquire) & EVENTLOG_GATE_NOTIFICATION) != 0) {
        run_notifications(provider, callback_timing::now);
        if (may_miss_subscriptions(provider)) [[unlikely]] {
            counted = count_before_own_gate(provider, gate.load(std::memory_order_relaxed));
            if (provider.reads_shared_gate.load(std::memory_order_acquire)) {
                return;
            }
        }
    }
    emit_to_listeners(provider, payload, counted);
}

/// Whether the kernel alone listens, and nothing but the write remains of emit_slow, whose steps
/// take as many instructions again.
[[gnu::always_inline]] inline bool is_for_kernel_only(const eventlog_provider& provider,
                                                      std::uint32_t event) noexcept {
    const std::uint32_t word = provider.gate_word(event).load(std::memory_order_acquire);
    return (word & kernel_bits) != 0 && (word & ~kernel_bits) == 0 &&
           ((word & kernel_bit_ambiguous) == 0 ||
            has_kernel_listener(provider.user_events, event)) &&
           dumping.provider != &provider &&
           provider.user_events.not_before.load(std::memory_order_relaxed) ==
               user_events_route::never;
}

/// Apart from emit_block_slow, whose stack it would increase.
[[gnu::noinline]] void emit_block_to_kernel(eventlog_provider& provider, std::uint32_t event,
                                            const void* payload, std::size_t size) noexcept {
    if (!try_small_to_user_events(provider, event, payload, size)) {
        // In a batch, or large, or after an error.
        emit_to_kernel(provider, {event, size, payload, {}, 0, &provider.gate});
    }
}

/// As emit_slow, for a tail call, so that the fast path needs no stack for it.
[[gnu::noinline]] void emit_block_slow(eventlog_provider* provider, std::uint32_t event,
                                       const void* payload, std::size_t size) noexcept {
    if (payload == nullptr) {
        if (size != 0) {
            return;
        }
        payload = "";
    }
    if (is_for_kernel_only(*provider, event)) {
        emit_block_to_kernel(*provider, event, payload, size);
    } else {
        emit_slow(*provider, {event, size, payload, {}, 0, &provider->gate});
    }
}

bool is_event_of(const eventlog_provider* provider, std::uint32_t event) noexcept {
    return provider != nullptr && event < provider->event_count.load(std::memory_order_acquire);
}

/// The fast path: one listener, the subscription of the last event, and room in this CPU's ring.
/// Returns false without effect in all other cases. emit_to explains the order of the loads.
[[gnu::always_inline]] inline bool try_emit_fast(const eventlog_provider& provider,
                                                 std::uint32_t event, const void* payload,
                                                 std::size_t size) noexcept {
    const attachment& place = *provider.latest.load(std::memory_order_relaxed);
    const std::uint64_t mapping = place.mapping.load(std::memory_order_acquire);
    const std::uint32_t gate = provider.gate_word(event).load(std::memory_order_acquire);
    if (gate != place.gate_bit) [[unlikely]] {
        // On kernels without enable words their bit is always set.
        if (gate != (place.gate_bit | kernel_bit_ambiguous) ||
            has_kernel_listener(provider.user_events, event)) {
            return false;
        }
    }
    if (size > payload_size_max || payload == nullptr) [[unlikely]] {
        return false;
    }
    const std::uint32_t thread = known_thread_id;
    if (thread == 0) [[unlikely]] {
        return false;
    }
    const std::uint64_t provider_head = place.provider_head.load(std::memory_order_relaxed);
    const std::uint64_t context = thread_part(thread);
    rseq_result result = rseq_result::done;
    if (size <= EVENTLOG_SHORT_SIZE_MAX) [[likely]] {
        const std::uint64_t head = short_head(size, provider_head, event);
        result = rseq_append_block<2048>(*place.slot, mapping, head, context,
                                         units_of(EVENTLOG_SHORT_HEADER_SIZE + size), payload,
                                         provider.gate);
        if (result == rseq_result::other_context) [[unlikely]] {
            result = rseq_append_context(*place.slot, mapping, head, context,
                                         units_of(EVENTLOG_CONTEXT_HEADER_SIZE + size), payload);
            if (result == rseq_result::done) {
                count_written(provider);
                return true;
            }
        }
    } else {
        result = rseq_append_extended<2048>(
            *place.slot, mapping, extended_head(provider_head, event) | size, context,
            units_of(EVENTLOG_EXTENDED_HEADER_SIZE + size), payload, provider.gate);
    }
    if (result == rseq_result::done) [[likely]] {
        return true;
    }
    if (result == rseq_result::uncounted) {
        count(provider, &eventlog_route_counters::written);
        return true;
    }
    return false;
}

}  // namespace

bool is_attached(const eventlog_provider& provider, unsigned slot) noexcept {
    const attachment& place = provider.attachment_to(slot);
    // The subscription may have ended and its slot been reused.
    return !is_end_state(state_of(*place.slot, place.mapping.load(std::memory_order_acquire)));
}

}  // namespace eventlog::core

void eventlog_emit_raw(eventlog_provider* provider, std::uint32_t event, const void* payload,
                       std::size_t size) {
    using namespace eventlog::core;
    if (!is_event_of(provider, event)) [[unlikely]] {
        return;
    }
    if (!try_emit_fast(*provider, event, payload, size)) [[unlikely]] {
        emit_block_slow(provider, event, payload, size);
    }
}

bool eventlog_has_listener(const eventlog_provider* provider, std::uint32_t event) {
    using namespace eventlog::core;
    if (!is_event_of(provider, event)) {
        return false;
    }
    // Read once: an attach may clear a bit that it sets again.
    const std::uint32_t word = listener_mask(*provider, event);
    if (word != EVENTLOG_GATE_NOTIFICATION) {
        return word != 0;
    }
    // With callbacks the answer is true, because the caller then emits, and the emit runs them.
    if (has_callbacks(*provider)) {
        return true;
    }
    // Without callbacks the notifications run here, because a program may emit only after this call
    // returned true.
    run_notifications(const_cast<eventlog_provider&>(*provider), callback_timing::deferred);
    if (may_miss_subscriptions(*provider) || cleared_slots(*provider) != 0) {
        return true;  // unknown: the emit then tries again, or counts the event as lost
    }
    return (listener_mask(*provider, event) & ~EVENTLOG_GATE_NOTIFICATION) != 0;
}

void eventlog_emit_raw_parts(eventlog_provider* provider, std::uint32_t event,
                             const eventlog_part* pieces, std::size_t count, std::uint32_t flags) {
    using namespace eventlog::core;
    if (!is_event_of(provider, event) || count == 0) {
        return;
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (__builtin_add_overflow(size, pieces[i].size, &size)) {
            size = SIZE_MAX;  // too large: rejected and counted later
            break;
        }
    }
    emit_slow(*provider,
              {event,
               size,
               nullptr,
               {pieces, count},
               flags == EVENTLOG_EMIT_TRUNCATED ? std::uint16_t{EVENTLOG_RECORD_TRUNCATED}
                                                : std::uint16_t{0},
               &provider->gate});
}
