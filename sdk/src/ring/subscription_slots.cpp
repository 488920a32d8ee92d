// SPDX-License-Identifier: MIT
#include "ring/subscription_slots.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "platform/startup_section.hpp"
#include "ring/custom_clock.hpp"
#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"

namespace eventlog::core {

constinit std::array<subscription_slot, slots_end> subscription_slots{};

[[gnu::tls_model(
    "initial-exec")]] constinit thread_local std::array<std::atomic<std::uint32_t>, slots_end>
    thread_slot_locks{};

namespace {

// The number of the last mapping. Under the registry lock.
[[EVENTLOG_STARTUP_SECTION]] constinit std::uint64_t last_mapping = 0;
// A bit for each slot with a base: most programs have few, and reading all slots would map eight
// pages. Under the registry lock.
[[EVENTLOG_STARTUP_SECTION]] constinit std::uint32_t slots_with_base = 0;

std::uint32_t bit_of(const subscription_slot& slot) noexcept {
    return 1U << (&slot - subscription_slots.data());
}

bool membarrier(int command) noexcept {
    return ::syscall(SYS_membarrier, command, 0U, 0) == 0;
}

/// The fast path also counts, so it needs a CPU that has a counter word.
void update_slot_clock(subscription_slot& slot, std::uint32_t region_clock) noexcept {
    const bool is_fast =
        region_clock == EVENTLOG_CLOCK_TSC && !slot.has_session_rules && !has_custom_clock();
    const std::uint32_t cpus = slot.sequence_cpus.load(std::memory_order_relaxed);
    slot.clock.store(region_clock | (has_custom_clock() ? custom_clock_bit : 0),
                     std::memory_order_relaxed);
    slot.fast_cpus.store(is_fast ? std::min(cpus, process_counter_layout.cpus) : 0,
                         std::memory_order_relaxed);
}

}  // namespace

bool register_membarrier() noexcept {
    return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ);
}

namespace {

enum class unmapping { done, later, never };

unmapping try_to_unmap(subscription_slot& slot) noexcept {
    if ((slots_with_base & bit_of(slot)) == 0) {
        return unmapping::done;
    }
    slot.mapping.store(0, std::memory_order_seq_cst);
    unsigned char* base = slot.base.load(std::memory_order_relaxed);
    if (base == nullptr) {
        return unmapping::done;  // a child created by a raw system call in the middle of a change
    }
    // A running sequence that compared the number before may still use the geometry and the region.
    // If a sandbox has blocked membarrier since the start, such sequences cannot be excluded, and
    // the mapping must stay.
    if (rseq_available() && !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ)) {
        return unmapping::never;
    }
    if (!slot.users.is_zero()) {
        return unmapping::later;
    }
    slot.base.store(nullptr, std::memory_order_relaxed);
    slots_with_base &= ~bit_of(slot);
    slot.serial.store(0, std::memory_order_relaxed);
    static_cast<void>(::munmap(base, slot.mapped_size));
    return unmapping::done;
}

/// Of a slot with a mapping: whether the subscription has ended, or an earlier unmapping is
/// incomplete.
bool has_ended(const subscription_slot& slot) noexcept {
    return slot.mapping.load(std::memory_order_relaxed) == 0 ||
           is_end_state(shared(slot.region()->state).load(std::memory_order_relaxed));
}

}  // namespace

bool unmap_slot(subscription_slot& slot) noexcept {
    return try_to_unmap(slot) == unmapping::done;
}

namespace {

void fill_slot(subscription_slot& slot, unsigned char* bytes, const eventlog_region& header,
               const region_geometry& geometry) noexcept {
    const auto set = [](auto& field, auto value) { field.store(value, std::memory_order_relaxed); };
    const std::uint32_t cpus = rseq_available() ? geometry.ring_count - 1 : 0;
    set(slot.base, bytes);
    slots_with_base |= bit_of(slot);
    set(slot.state, &reinterpret_cast<eventlog_region*>(bytes)->state);
    set(slot.rings, bytes + geometry.rings_offset);
    set(slot.ring_stride, geometry.ring_stride);
    set(slot.first_buffer, bytes + geometry.buffers_offset);
    set(slot.ring_bytes, std::uint64_t{geometry.buffer_count} * geometry.buffer_size);
    set(slot.buffer_size, geometry.buffer_size);
    set(slot.buffer_units, geometry.buffer_size / EVENTLOG_RECORD_ALIGNMENT);
    set(slot.buffer_mask, geometry.buffer_count - 1);
    set(slot.sequence_cpus, cpus);
    slot.has_session_rules = std::memchr(header.filter, '#', sizeof header.filter) != nullptr;
    update_slot_clock(slot, header.clock);
    set(slot.counter_stride, process_counter_layout.stride);
    set(slot.session_count, header.session_count);
    for (std::size_t i = 0; i < slot.sessions.size(); ++i) {
        set(slot.sessions[i], header.sessions[i]);
    }
    set(slot.ring_count, geometry.ring_count);
    set(slot.overwrites, overwrites(header));
    set(slot.shared_ring_is_lazy, is_shared_ring_lazy(header));
    set(slot.allocation_not_before, 0U);
    set(slot.lost_unattached, 0U);
    set(slot.providers,
        reinterpret_cast<eventlog_provider_entry*>(bytes + geometry.providers_offset));
    slot.mapped_size = geometry.total_size;
    set(slot.serial, header.serial);
    slot.mapping.store(++last_mapping, std::memory_order_release);
}

}  // namespace

bool map_slot(subscription_slot& slot, const unique_fd& file, const eventlog_region& header,
              const region_geometry& geometry) noexcept {
    void* base =
        ::mmap(nullptr, geometry.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (base == MAP_FAILED) {
        return false;
    }
    fill_slot(slot, static_cast<unsigned char*>(base), header, geometry);
    return true;
}

void fill_collector_slot(subscription_slot& slot, unsigned char* base,
                         const region_geometry& geometry) noexcept {
    slot.is_private.store(true, std::memory_order_relaxed);
    fill_slot(slot, base, *reinterpret_cast<const eventlog_region*>(base), geometry);
}

void update_slot_clocks() noexcept {
    for (subscription_slot& slot : subscription_slots) {
        update_slot_clock(slot, slot.clock.load(std::memory_order_relaxed) & ~custom_clock_bit);
    }
}

std::uint32_t mapped_slots() noexcept {
    return slots_with_base;
}

bool unmap_slots_except(std::uint32_t needed) noexcept {
    bool is_complete = true;
    for (std::uint32_t left = slots_with_base; left != 0; left &= left - 1) {
        const auto i = static_cast<unsigned>(std::countr_zero(left));
        subscription_slot& slot = subscription_slots[i];
        // A flight recorder keeps the records of ended providers, and so does a collector.
        const bool is_needed = (needed & 1U << i) != 0 || is_collector_slot(i) ||
                               slot.overwrites.load(std::memory_order_relaxed);
        const bool is_live = !has_ended(slot);
        if (is_live && is_needed) {
            continue;
        }
        const std::uint64_t mapping = slot.mapping.load(std::memory_order_relaxed);
        const unmapping result = try_to_unmap(slot);
        if (result == unmapping::never && is_live) {
            // Restored: a provider that the subscription wants may be registered later.
            slot.mapping.store(mapping, std::memory_order_release);
        }
        is_complete = result != unmapping::later && is_complete;
    }
    return is_complete;
}

bool unmap_all_slots() noexcept {
    bool is_complete = true;
    for (unsigned i = 0; i < first_collector_slot; ++i) {
        is_complete = try_to_unmap(subscription_slots[i]) != unmapping::later && is_complete;
    }
    return is_complete;
}

void reset_slots_after_fork() noexcept {
    for (subscription_slot& slot : subscription_slots) {
        slot.users.forget_other_threads();
        const std::uint64_t then = slot.allocation_not_before.load(std::memory_order_relaxed);
        if (then != 0 && then != UINT64_MAX) {
            slot.allocation_not_before.store(0, std::memory_order_relaxed);
        }
    }
}

void renumber_mappings() noexcept {
    for (subscription_slot& slot : subscription_slots) {
        if (slot.mapping.load(std::memory_order_relaxed) != 0) {
            slot.mapping.store(++last_mapping, std::memory_order_release);
        }
    }
}

namespace {

/// In a forked child. A holder that is the forking thread, interrupted, goes on; one that waits
/// finds the lock free. `mark` is that thread's in thread_slot_locks.
void release_collector_lock(subscription_slot& slot, std::uint32_t mark) noexcept {
    if (slot.base.load(std::memory_order_relaxed) != nullptr) {
        eventlog_ring* const ring = slot.ring(slot.ring_count.load(std::memory_order_relaxed) - 1);
        const auto holder =
            static_cast<std::uint32_t>(shared(ring->lock).load(std::memory_order_relaxed));
        if (mark == 0 || (holder & FUTEX_TID_MASK) != mark) {
            shared(ring->lock).store(0, std::memory_order_relaxed);
        }
    }
    slot.unresponsive_holder.store(0, std::memory_order_relaxed);
}

}  // namespace

void replace_locked_regions() noexcept {
    for (unsigned i = 0; i < slots_end; ++i) {
        subscription_slot& slot = subscription_slots[i];
        if (is_collector_slot(i)) {
            release_collector_lock(slot, thread_slot_locks[i].load(std::memory_order_relaxed));
            continue;
        }
        unsigned char* const base = slot.base.load(std::memory_order_relaxed);
        if (thread_slot_locks[i].load(std::memory_order_relaxed) == 0 || base == nullptr) {
            continue;
        }
        // Mapped elsewhere, then moved in one step: if there is no room, the parent's ring must
        // stay mapped, because a hole would crash the rest of the write.
        void* const own = ::mmap(nullptr, slot.mapped_size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (own != MAP_FAILED && ::mremap(own, slot.mapped_size, slot.mapped_size,
                                          MREMAP_MAYMOVE | MREMAP_FIXED, base) == MAP_FAILED) {
            static_cast<void>(::munmap(own, slot.mapped_size));
        }
        slot.mapping.store(0, std::memory_order_seq_cst);
        // The lock's holder treats the outcome of its record as unknown.
        thread_slot_locks[i].store(0, std::memory_order_relaxed);
    }
}

}  // namespace eventlog::core
