// SPDX-License-Identifier: MIT
#include "emit/attach.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#include "emit/attach_looks.hpp"
#include "emit/collectors.hpp"
#include "emit/detach.hpp"
#include "emit/notification.hpp"
#include "emit/provider_entry.hpp"
#include "emit/wanted_events.hpp"
#include "platform/populate.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "platform/time_namespace.hpp"
#include "provider/own_gate.hpp"
#include "ring/clock.hpp"
#include "ring/ring_lock.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/process_file_room.hpp"
#include "shm/subscription_file.hpp"

namespace eventlog::core {
namespace {

// Retry interval after a failed attach. Bounds the system calls of an emit.
constexpr std::uint64_t attach_retry_interval = 1'000'000;

/// How many events are wanted; `limited`: whether one of them in some sessions only.
unsigned count_wanted(const eventlog_provider& provider, std::string_view filter,
                      bool& limited) noexcept {
    limited = false;
    return for_each_wanted(provider, filter, [&](std::uint16_t /*event*/, verdict found) {
        limited = limited || found == verdict::in_session;
    });
}

/// Must precede the attachment, so that no event outside of the wanted sessions is written. False
/// if there is no memory. Most programs never need any.
bool store_session_limits(eventlog_provider& provider, unsigned slot, std::string_view filter,
                          bool limited) noexcept {
    if (!limited && !provider.session_limited.is_allocated()) {
        return true;
    }
    if (!provider.session_limited.allocate()) {
        return false;
    }
    const auto bit = static_cast<std::uint16_t>(1U << slot);
    for_each_wanted(provider, filter, [&](std::uint16_t event, verdict found) {
        std::atomic<std::uint16_t>& limits = provider.session_limited[event];
        if (found == verdict::in_session) {
            limits.fetch_or(bit, std::memory_order_relaxed);
        } else {
            limits.fetch_and(static_cast<std::uint16_t>(~bit), std::memory_order_relaxed);
        }
    });
    return true;
}

void set_gate_bits(eventlog_provider& provider, unsigned slot, std::string_view filter) noexcept {
    for_each_wanted(provider, filter, [&](std::uint16_t event, verdict) {
        provider.gate_word(event).fetch_or(1U << slot, std::memory_order_release);
    });
}

/// The events whose bits clear_gate_bits() has cleared. Under the registry lock.
constinit std::array<bool, EVENTLOG_EVENTS_MAX> cleared_events{};

/// Until end_clearing(), other threads count events for a subscription whose bits are among them.
[[gnu::noinline]] void clear_gate_bits(eventlog_provider& provider, unsigned slot) noexcept {
    // In this order: an emit that does not find a bit sees the slot, or that the attach has ended
    // and has set the bit again.
    provider.cleared_slots.fetch_or(1U << slot, std::memory_order_relaxed);
    set_notification_request(provider, true);
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        const std::uint32_t before =
            provider.gate_word(event).fetch_and(~(1U << slot), std::memory_order_relaxed);
        cleared_events[event] = (before & 1U << slot) != 0;
    }
    // A consumer publishes its subscription, then sets bits; this process clears bits, then scans
    // for subscriptions. The fence makes at least one of them see the other.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Sets the bits again if the look after it could not find out whose they are.
[[gnu::noinline]] void restore_gate_bits(eventlog_provider& provider, unsigned slot) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        if (cleared_events[event]) {
            provider.gate_word(event).fetch_or(1U << slot, std::memory_order_release);
        }
    }
}

/// After the bits of the subscription that was found are set.
void end_clearing(eventlog_provider& provider, unsigned slot) noexcept {
    provider.cleared_slots.fetch_and(~(1U << slot), std::memory_order_release);
}

/// Not destroyed: the library is used after its destructors.
union static_subscription {
    constexpr static_subscription() noexcept : file{} {}
    ~static_subscription() {}
    static_subscription(const static_subscription&) = delete;
    static_subscription& operator=(const static_subscription&) = delete;
    subscription_file file;
};
constinit static_subscription opened_subscription{};

/// The subscription of a slot, opened in static memory. One at a time. errno is 0, or the reason
/// why it is unreadable.
class found_subscription {
  public:
    found_subscription(const directory& where, unsigned slot) noexcept
        : known_serial_(slot_serial(slot)) {
        // Open only in a child created without fork() while another thread was attaching.
        opened_subscription.file.forget();
        errno = 0;
        result_ = opened_subscription.file.open(where, slot, ignored_error);
    }
    ~found_subscription() { opened_subscription.file.close(); }
    found_subscription(const found_subscription&) = delete;
    found_subscription& operator=(const found_subscription&) = delete;

    [[nodiscard]] subscription_file::found result() const noexcept { return result_; }
    [[nodiscard]] const subscription_file& file() const noexcept {
        return opened_subscription.file;
    }
    /// The serial that the slot had before the file was opened. A later subscription, also one
    /// behind a file that was removed by hand, stores its own after it has the name.
    [[nodiscard]] std::uint64_t known_serial() const noexcept { return known_serial_; }

  private:
    std::uint64_t known_serial_;
    subscription_file::found result_ = subscription_file::found::nothing;
};

// Of a shared ring that an attach reserves: its pages are filled with zeros meanwhile.
constexpr std::uint64_t reserved_at_once_max = std::uint64_t{8} << 20U;

/// Whether the attach reserves the shared ring. A larger one gets each buffer before its first use,
/// unless this process has no other means than its descriptor.
bool is_reserved_at_once(const region_geometry& geometry) noexcept {
    return std::uint64_t{geometry.buffer_count} * geometry.buffer_size <= reserved_at_once_max ||
           !can_populate();
}

/// Reserves the memory of the shared ring in a process that writes to no other ring. Done while it
/// has a descriptor, because a sandbox may forbid it later. If it fails, each buffer is allocated
/// before its first use.
[[gnu::noinline]] void reserve_shared_ring(subscription_slot& slot,
                                           const subscription_file& subscription) noexcept {
    const region_geometry& geometry = subscription.geometry();
    const std::uint32_t index = geometry.ring_count - 1;
    eventlog_ring* const ring = slot.ring(index);
    const auto is_reserved = [&] {
        return shared(ring->reserved_buffers).load(std::memory_order_relaxed) ==
               geometry.buffer_count;
    };
    const auto reserve_all = [&] {
        return reserve_room(subscription.file(), geometry.buffer_offset(index, 0),
                            std::uint64_t{geometry.buffer_count} * geometry.buffer_size);
    };
    if (rseq_available() || !is_shared_ring_lazy(subscription.header()) || is_reserved() ||
        !is_reserved_at_once(geometry)) {
        return;
    }
    // A signal would make the kernel undo a partial reservation and start again.
    const signal_guard guard;
    // First without the lock, because it takes long: one pass to allocate pages, one to zero them.
    for (int time = 0; time < 2; ++time) {
        if (!reserve_all()) {
            return;
        }
    }
    // The holder of the lock may be freeing a buffer that it could not allocate completely. With
    // the lock held, what is allocated stays: no process frees buffers below the stored number, and
    // the next holder sees that number.
    const ring_lock lock(slot, ring);
    if (lock.held() && !is_reserved() && reserve_all()) {
        shared(ring->reserved_buffers).store(geometry.buffer_count, std::memory_order_relaxed);
    }
}

[[gnu::noinline]] attach_outcome attach_to_region(eventlog_provider& provider, unsigned index,
                                                  const subscription_file& subscription,
                                                  entry_time entries) noexcept {
    subscription_slot& slot = subscription_slots[index];
    const std::uint64_t serial = subscription.header().serial;
    if (slot.mapping.load(std::memory_order_relaxed) == 0 ||
        slot.serial.load(std::memory_order_relaxed) != serial) {
        // This process may have moved to another time namespace since it has published.
        if (subscription.header().clock == EVENTLOG_CLOCK_MONOTONIC) {
            read_time_offsets();
        }
        if (!unmap_slot(slot) ||
            !map_slot(slot, subscription.file(), subscription.header(), subscription.geometry())) {
            return attach_outcome::retry_later;
        }
        reserve_shared_ring(slot, subscription);
    }
    attachment& place = provider.attachment_to(index);
    if (place.is_attached_to(serial)) {
        // The entry remains valid if the same region is mapped again.
        place.mapping.store(slot.mapping.load(std::memory_order_relaxed),
                            std::memory_order_release);
        return attach_outcome::attached;
    }
    if (entries == entry_time::first_emit && prepare_late_entry(provider, place, subscription)) {
        return attach_outcome::attached;
    }
    return take_new_entry(provider, place, subscription);
}

attach_look attach_to_file(eventlog_provider& provider, unsigned slot,
                           const found_subscription& found, entry_time entries) noexcept {
    const subscription_file& subscription = found.file();
    if (subscription.has_ended()) {
        return {attach_outcome::no_match};
    }
    const std::string_view filter = filter_of(subscription.header());
    const process_identity& self = own_identity();
    bool limited = false;
    if (!wants_process(filter, self.pid, self.name.data()) ||
        count_wanted(provider, filter, limited) == 0) {
        return {attach_outcome::no_match};
    }
    if (!may_be_read()) {
        return {attach_outcome::retry_later};
    }
    if (!take_own_gate(provider)) {
        replace_slot_serial(slot, found.known_serial(), subscription.header().serial);
        // Unless its successor in the slot, which may not want this provider, has stored its own.
        const bool counts = slot_serial(slot) == subscription.header().serial &&
                            !subscription.has_ended() && !subscription.is_paused();
        note_missed_subscription(provider, slot, counts);
        return {attach_outcome::retry_later};
    }
    // Without memory the bits are set nevertheless, so that an emit tries again.
    const attach_outcome result =
        store_session_limits(provider, slot, filter, limited) && prepare_attachments(provider)
            ? attach_to_region(provider, slot, subscription, entries)
            : attach_outcome::retry_later;
    // The subscription may have been removed meanwhile, and schema and shared ring reserved after
    // its memory was freed. The consumer removes the name, then frees the memory; this process
    // reserves, then checks the name; so at least one of them frees the reservation. If the name
    // alone was removed (for example by a cleaner of directories), the subscription has not ended,
    // and its consumer ends it.
    if (subscription.is_removed() && subscription.has_ended()) {
        release_memory(subscription.file(), subscription.geometry());
        return {attach_outcome::no_match};
    }
    bool has_set_bits = false;
    if (result != attach_outcome::no_match) {
        replace_slot_serial(slot, found.known_serial(), subscription.header().serial);
        if (is_slot_replaced(slot, subscription.header().serial)) {
            // The file was removed by hand during this attach. The events of its successor may be
            // others, and the region is left to unmap_dead_regions().
            return {attach_outcome::no_match};
        }
        // Of a paused subscription, the process that resumes it sets the bits: it stores the state,
        // then scans; this process has published the provider, then reads the state. The fence
        // makes at least one of them see the other.
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!subscription.is_paused()) {
            // If it is paused meanwhile, these bits stay. Clearing them could clear those that the
            // next resume sets, and its events would be missing.
            set_gate_bits(provider, slot, filter);
            has_set_bits = true;
        }
        // If it has ended meanwhile, its consumer may have cleared the gate before the bits were
        // set.
        if (subscription.has_ended()) {
            return {attach_outcome::no_match, has_set_bits};
        }
    }
    return {result, has_set_bits};
}

attach_look attach_once(eventlog_provider& provider, unsigned slot,
                        const directory& where) noexcept {
    const found_subscription found(where, slot);
    switch (found.result()) {
        case subscription_file::found::usable:
            return attach_to_file(provider, slot, found, entry_time::now);
        case subscription_file::found::unreadable:
            return {attach_outcome::retry_later};
        case subscription_file::found::nothing:
        case subscription_file::found::unusable:
            break;
    }
    return {attach_outcome::no_match};
}

attach_outcome attach_or_clear_gate(eventlog_provider& provider, unsigned slot,
                                    const directory& where) noexcept {
    // The bits in a child created without fork() are its parent's.
    if (!is_own_process()) {
        return attach_once(provider, slot, where).outcome;
    }
    attach_look last;
    bool has_cleared = false;
    const attach_outcome outcome =
        attach_or_clear([&] { return last = attach_once(provider, slot, where); },
                        [&] {
                            clear_gate_bits(provider, slot);
                            has_cleared = true;
                        });
    if (has_cleared && last.outcome == attach_outcome::retry_later && !last.has_set_bits) {
        restore_gate_bits(provider, slot);
    }
    end_clearing(provider, slot);
    return outcome;
}

}  // namespace

bool attach(eventlog_provider& provider, unsigned slot, const directory_path& path) noexcept {
    if (take_late_entry(provider, provider.attachment_to(slot))) {
        return true;
    }
    directory where;
    errno = 0;
    const attach_outcome outcome = where.open(path, if_missing::fail, ignored_error)
                                       ? attach_or_clear_gate(provider, slot, where)
                                       : attach_outcome::retry_later;
    note_attach(provider, outcome != attach_outcome::retry_later);
    // Also unmaps a region that was mapped in vain.
    unmap_dead_regions();
    return outcome == attach_outcome::attached;
}

present_subscriptions attach_to_present(eventlog_provider& provider, const directory& where,
                                        entry_time entries) noexcept {
    present_subscriptions found;
    for (std::uint32_t slots = present_slots(where.subscriptions); slots != 0; slots &= slots - 1) {
        const auto slot = static_cast<unsigned>(std::countr_zero(slots));
        const found_subscription opened(where, slot);
        if (opened.result() == subscription_file::found::unreadable && errno != EACCES) {
            // Without descriptors, or in a sandbox: it may want the provider's events.
            note_attach(provider, false);
            note_missed_subscription(provider, slot, true);
            found.has_unreadable = true;
        }
        if (opened.result() != subscription_file::found::usable) {
            continue;
        }
        if (opened.file().has_owner()) {
            static_cast<void>(attach_to_file(provider, slot, opened, entries));
        } else {
            found.has_dead = true;
        }
    }
    return found;
}

void attach_to_all(eventlog_provider& provider, const directory& where,
                   entry_time entries) noexcept {
    if (attach_to_present(provider, where, entries).has_dead) {
        const directory_lock lock(where);
        if (lock.held()) {
            remove_dead_subscriptions(where);
        }
    }
}

/// Called when a bit is set for a slot that the provider is not attached to. Returns false while
/// another thread attaches.
bool attach_now(eventlog_provider& provider, unsigned slot) noexcept {
    if (coarse_monotonic_now() <
        provider.attachment_to(slot).not_before.load(std::memory_order_relaxed)) {
        return false;
    }
    const signal_guard guard;
    const registry_lock lock(std::try_to_lock);
    if (!lock.held() || (!provider.published && !is_collector_slot(slot)) ||
        !prepare_attachments(provider)) {
        return false;
    }
    const bool attached = is_collector_slot(slot) ? attach_to_collector(provider, slot)
                                                  : attach(provider, slot, own_directory());
    provider.attachment_to(slot).not_before.store(
        attached ? 0 : coarse_monotonic_now() + attach_retry_interval, std::memory_order_relaxed);
    return attached;
}

}  // namespace eventlog::core
