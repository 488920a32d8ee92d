// SPDX-License-Identifier: MIT
#include "emit/collectors.hpp"

#include <array>

#include "emit/attach_looks.hpp"
#include "emit/notification.hpp"
#include "emit/provider_entry.hpp"
#include "emit/wanted_events.hpp"
#include "platform/process.hpp"
#include "provider/own_gate.hpp"

namespace eventlog::core {
namespace {

/// Not a provider that was rejected or is disabled by the environment: it has no gate. Not one
/// whose definition was freed at the end of the process.
bool may_be_collected(const eventlog_provider& provider) noexcept {
    return provider.event_count.load(std::memory_order_relaxed) != 0 &&
           provider.gate.load(std::memory_order_relaxed) != null_gate.data() &&
           provider.schema != nullptr && is_own_process();
}

bool is_known_to(const eventlog_provider& provider, unsigned slot) noexcept {
    const std::uint64_t serial = subscription_slots[slot].serial.load(std::memory_order_relaxed);
    return serial != 0 && provider.attachment_to(slot).is_attached_to(serial);
}

/// Calls visit(event) for each event that the collector's patterns want. Returns how many.
template <class Visitor>
unsigned for_each_in_patterns(const eventlog_provider& provider, unsigned slot,
                              Visitor&& visit) noexcept {
    return for_each_wanted(provider, filter_of(*subscription_slots[slot].region()),
                           [&](std::uint16_t event, verdict) { visit(event); });
}

void set_in_mask(eventlog_provider& provider, unsigned slot, std::uint32_t event,
                 bool is_recorded) noexcept {
    if (is_recorded) {
        provider.collected[event].fetch_or(collector_bit(slot), std::memory_order_relaxed);
    } else {
        provider.collected[event].fetch_and(static_cast<std::uint8_t>(~collector_bit(slot)),
                                            std::memory_order_relaxed);
    }
}

void clear_mask(eventlog_provider& provider, unsigned slot) noexcept {
    if (provider.collected.is_allocated()) {
        for (std::uint32_t event = 0; event < EVENTLOG_EVENTS_MAX; ++event) {
            set_in_mask(provider, slot, event, false);
        }
    }
}

bool make_mask(eventlog_provider& provider, unsigned slot) noexcept {
    if (!provider.collected.allocate()) {
        return false;
    }
    clear_mask(provider, slot);
    for_each_in_patterns(provider, slot,
                         [&](std::uint16_t event) { set_in_mask(provider, slot, event, true); });
    return true;
}

/// Sets the gate bits of the mask, and clears the others.
void set_bits_of_mask(eventlog_provider& provider, unsigned slot) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        if (is_collected(provider, slot, event)) {
            provider.gate_word(event).fetch_or(1U << slot, std::memory_order_release);
        } else {
            provider.gate_word(event).fetch_and(~(1U << slot), std::memory_order_relaxed);
        }
    }
}

void clear_bits(eventlog_provider& provider, unsigned slot) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        // A gate without the bit is not written, because the shared one is that of all providers.
        if ((provider.gate_word(event).load(std::memory_order_relaxed) & 1U << slot) != 0) {
            provider.gate_word(event).fetch_and(~(1U << slot), std::memory_order_relaxed);
        }
    }
}

/// The callbacks of the application learn of the change at the next emit.
void notify(eventlog_provider& provider) noexcept {
    if (has_callbacks(provider)) {
        set_notification_request(provider, true);
    }
}

attach_outcome attach_unknown(eventlog_provider& provider, unsigned slot) noexcept {
    if (!make_mask(provider, slot) || !prepare_attachments(provider)) {
        return attach_outcome::retry_later;
    }
    return take_private_entry(provider, provider.attachment_to(slot));
}

/// A forked child has other numbers for the mappings that it has inherited.
attach_outcome attach_again(eventlog_provider& provider, unsigned slot) noexcept {
    provider.attachment_to(slot).mapping.store(
        subscription_slots[slot].mapping.load(std::memory_order_relaxed),
        std::memory_order_release);
    return attach_outcome::attached;
}

/// That the calling thread's events are kept from the collector with that serial, so many times.
struct exclusion {
    std::uint64_t serial = 0;
    std::uint32_t count = 0;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<exclusion, collectors_max>
    excluded{};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t exclusion_count = 0;

}  // namespace

bool is_collecting(unsigned slot) noexcept {
    const subscription_slot& collector = subscription_slots[slot];
    return (mapped_slots() & 1U << slot) != 0 &&
           collector.mapping.load(std::memory_order_relaxed) != 0 &&
           shared(collector.region()->state).load(std::memory_order_relaxed) ==
               EVENTLOG_REGION_LIVE;
}

bool attach_to_collector(eventlog_provider& provider, unsigned slot) noexcept {
    if (!may_be_collected(provider)) {
        return false;
    }
    provider.missed_collectors.fetch_and(~(1U << slot), std::memory_order_relaxed);
    if (!is_collecting(slot)) {
        clear_bits(provider, slot);
        return false;
    }
    if (!is_known_to(provider, slot) &&
        for_each_in_patterns(provider, slot, [](std::uint16_t) {}) == 0) {
        clear_bits(provider, slot);
        return false;
    }
    if (!take_own_gate(provider)) {
        note_missed_collector(provider, slot);
        return false;
    }
    provider.missed_collectors.fetch_and(~(1U << slot), std::memory_order_relaxed);
    const attach_outcome outcome =
        is_known_to(provider, slot) ? attach_again(provider, slot) : attach_unknown(provider, slot);
    if (outcome == attach_outcome::retry_later) {
        // The next emit tries again, and counts the event as lost if that fails.
        for_each_in_patterns(provider, slot, [&](std::uint16_t event) {
            provider.gate_word(event).fetch_or(1U << slot, std::memory_order_release);
        });
        return false;
    }
    if (outcome != attach_outcome::attached) {
        clear_bits(provider, slot);
        return false;
    }
    set_bits_of_mask(provider, slot);
    return true;
}

void attach_to_collectors(eventlog_provider& provider) noexcept {
    for (unsigned slot = first_collector_slot; slot < slots_end; ++slot) {
        if (is_collecting(slot)) {
            attach_to_collector(provider, slot);
            notify(provider);
        }
    }
}

void detach_from_collectors(eventlog_provider& provider) noexcept {
    provider.missed_collectors.store(0, std::memory_order_relaxed);
    if (provider.attachments.load(std::memory_order_relaxed) == &no_attachments) {
        return;
    }
    const bool has_gate = may_be_collected(provider);
    for (unsigned slot = first_collector_slot; slot < slots_end; ++slot) {
        if (has_gate) {
            clear_bits(provider, slot);
        }
        provider.attachment_to(slot).end();
    }
}

void detach_collector(unsigned slot) noexcept {
    for (eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
        provider->missed_collectors.fetch_and(~(1U << slot), std::memory_order_relaxed);
        if (!may_be_collected(*provider)) {
            continue;
        }
        notify(*provider);
        clear_bits(*provider, slot);
        if (provider->attachments.load(std::memory_order_relaxed) != &no_attachments) {
            provider->attachment_to(slot).end();
        }
    }
}

void apply_collector_patterns(unsigned slot) noexcept {
    for (eventlog_provider* provider = get_first_registered(); provider != nullptr;
         provider = provider->next) {
        if (!may_be_collected(*provider)) {
            continue;
        }
        // The attachment stays: its events so far have its number in the region.
        if (is_known_to(*provider, slot)) {
            static_cast<void>(make_mask(*provider, slot));  // allocated before
        }
        attach_to_collector(*provider, slot);
        notify(*provider);
    }
}

bool is_collected(const eventlog_provider& provider, unsigned slot, std::uint32_t event) noexcept {
    return is_known_to(provider, slot) &&
           (provider.collected.load(event) & collector_bit(slot)) != 0;
}

bool set_collected(eventlog_provider& provider, unsigned slot, const std::uint64_t* words,
                   std::size_t count) noexcept {
    if (!may_be_collected(provider)) {
        return true;
    }
    if (!take_own_gate(provider)) {
        return false;
    }
    if (!is_known_to(provider, slot) &&
        attach_unknown(provider, slot) != attach_outcome::attached) {
        return false;
    }
    for (std::uint32_t event = 0; event < EVENTLOG_EVENTS_MAX; ++event) {
        const std::size_t word = event / 64;
        set_in_mask(provider, slot, event, word < count && (words[word] >> event % 64 & 1U) != 0);
    }
    set_bits_of_mask(provider, slot);
    notify(provider);
    return true;
}

void exclude_thread(unsigned slot, std::uint64_t serial, bool is_excluded) noexcept {
    exclusion& known = excluded[slot - first_collector_slot];
    if (known.serial != serial) {
        if (!is_excluded) {
            return;
        }
        // Of a collector that was destroyed meanwhile.
        for (; known.count != 0; --known.count, --exclusion_count) {
            unblock_fast_path();
        }
        known.serial = serial;
    }
    if (is_excluded) {
        block_fast_path();
        ++known.count;
        ++exclusion_count;
    } else if (known.count != 0) {
        --known.count;
        --exclusion_count;
        unblock_fast_path();
    }
}

std::uint32_t unexcluded_collectors() noexcept {
    std::uint32_t bits = EVENTLOG_GATE_COLLECTORS;
    for (unsigned i = 0; exclusion_count != 0 && i < collectors_max; ++i) {
        const unsigned slot = first_collector_slot + i;
        if (excluded[i].count != 0 &&
            subscription_slots[slot].serial.load(std::memory_order_relaxed) == excluded[i].serial) {
            bits &= ~(1U << slot);
        }
    }
    return bits;
}

}  // namespace eventlog::core
