// SPDX-License-Identifier: MIT
//
// The subscriptions mapped by this process: one slot for each bit of a gate word. Behind the slots
// of subscriptions are those of collectors, whose regions are private memory of this process and
// are in no directory. Writers treat both alike.
//
// A region can end at any time, while threads write to it and signal handlers interrupt them.
// Writers take no lock. Instead:
//
// - Each mapping of a region has a number, which this process never uses again. A slot has the
//   number of its mapping, 0 when it is empty. A writer remembers the number at its start
//   (acquire), and accesses the region either inside a restartable sequence that compares the
//   number first, or inside a slot_user, which is counted before it compares.
// - Unmapping sets the number to 0, restarts all running sequences (membarrier), then requires that
//   there are no users: it does not sleep, but is retried later.
//
// The geometry in a slot may be overwritten while a writer with an old number still reads it. The
// computed addresses are then invalid, and the writer's comparison of the number fails before it
// uses any of them. A subscription that is mapped again, at another address, has another number, so
// that no comparison accepts a geometry that was read before.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "platform/thread_count.hpp"
#include "platform/unique_fd.hpp"
#include "ring/gate_layout.hpp"
#include "ring/region.hpp"

namespace eventlog::core {

/// The number of a slot is that of its bit in gate words.
inline constexpr unsigned first_collector_slot = std::countr_zero(EVENTLOG_GATE_COLLECTORS);
inline constexpr unsigned collectors_max = std::popcount(EVENTLOG_GATE_COLLECTORS);
inline constexpr unsigned slots_end = first_collector_slot + collectors_max;
inline constexpr std::uint32_t all_slot_bits =
    EVENTLOG_GATE_SUBSCRIPTIONS | EVENTLOG_GATE_COLLECTORS;

[[nodiscard]] constexpr bool is_collector_slot(unsigned slot) noexcept {
    return slot >= first_collector_slot;
}

// The fields of an emit come first and fill two cache lines.
struct alignas(64) subscription_slot {
    std::atomic<std::uint64_t> mapping{0};
    std::atomic<std::uint32_t*> state{nullptr};  // in the region
    std::atomic<unsigned char*> rings{nullptr};
    std::atomic<std::uint64_t> ring_stride{0};
    std::atomic<unsigned char*> first_buffer{nullptr};
    std::atomic<std::uint64_t> ring_bytes{0};  // size of all buffers of a ring
    std::atomic<std::uint64_t> buffer_size{0};
    std::atomic<std::uint64_t> buffer_units{0};
    std::atomic<std::uint64_t> buffer_mask{0};  // buffer count - 1
    /// CPUs below this number have a ring for sequences; 0 without sequences.
    std::atomic<std::uint32_t> sequence_cpus{0};
    /// As sequence_cpus, but 0 if the fast path cannot be used: another clock than its own, a
    /// custom clock, or events that are wanted in some sessions only.
    std::atomic<std::uint32_t> fast_cpus{0};
    /// A copy of process_counter_layout.stride.
    std::atomic<std::uint32_t> counter_stride{0};

    std::atomic<std::uint32_t> ring_count{0};
    std::atomic<std::uint32_t> clock{0};  // the region's, and custom_clock_bit
    /// Whether a buffer switch does not wait for the reader.
    std::atomic<bool> overwrites{false};
    /// Whether buffers of the shared ring get their memory on first use.
    std::atomic<bool> shared_ring_is_lazy{false};
    /// Whether it is a collector's, whose events no other process can read.
    std::atomic<bool> is_private{false};
    bool has_session_rules = false;  // under the registry lock
    /// The subscription's, while the region is mapped.
    std::atomic<std::uint64_t> serial{0};
    std::atomic<unsigned char*> base{nullptr};
    std::atomic<eventlog_provider_entry*> providers{nullptr};
    std::uint64_t mapped_size = 0;  // under the registry lock

    /// The sessions that rules with # refer to.
    std::atomic<std::uint32_t> session_count{0};
    std::array<std::atomic<std::uint64_t>, EVENTLOG_SESSIONS_MAX> sessions{};

    /// The threads that use the region outside of a restartable sequence.
    thread_count users;
    /// The last holder of the shared ring's lock that did not release it while a thread of this
    /// process waited; 0 if there is none.
    std::atomic<std::uint64_t> unresponsive_holder{0};
    /// Coarse monotonic nanoseconds before which a failed allocation for the shared ring is not
    /// retried. UINT64_MAX if this process cannot allocate at all, whatever the creator of the
    /// region could; 0 after success.
    std::atomic<std::uint64_t> allocation_not_before{0};
    /// Of a collector: events lost because their provider was not attached yet.
    std::atomic<std::uint64_t> lost_unattached{0};

    [[nodiscard]] eventlog_region* region() const noexcept {
        return reinterpret_cast<eventlog_region*>(base.load(std::memory_order_relaxed));
    }
    [[nodiscard]] eventlog_ring* ring(std::uint32_t index) const noexcept {
        return reinterpret_cast<eventlog_ring*>(rings.load(std::memory_order_relaxed) +
                                                index *
                                                    ring_stride.load(std::memory_order_relaxed));
    }
    [[nodiscard]] eventlog_provider_entry* entry(std::uint32_t provider_id) const noexcept {
        return providers.load(std::memory_order_relaxed) + provider_id;
    }
    [[nodiscard]] bool wants_session(std::uint64_t session) const noexcept {
        const std::uint32_t count = session_count.load(std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < count && i < sessions.size(); ++i) {
            if (sessions[i].load(std::memory_order_relaxed) == session) {
                return true;
            }
        }
        return false;
    }
    /// The first of the ring's buffers, which are contiguous.
    [[nodiscard]] unsigned char* buffers(std::uint32_t ring_index) const noexcept {
        return first_buffer.load(std::memory_order_relaxed) +
               ring_index * ring_bytes.load(std::memory_order_relaxed);
    }
};

/// Constant-initialized: valid before any constructor and after any destructor.
[[gnu::visibility("hidden")]] extern std::array<subscription_slot, slots_end> subscription_slots;

/// By slot: not 0 while the calling thread holds the lock of the slot's shared ring, or is about to
/// take it, and the ring is the process's own; the thread's id as in the lock, or 1 before that is
/// known. Atomic, because a handler that interrupts the thread may fork.
[[gnu::tls_model("initial-exec"),
  gnu::visibility(
      "hidden")]] extern constinit thread_local std::array<std::atomic<std::uint32_t>, slots_end>
    thread_slot_locks;

/// While it lives, and if it holds, the mapping with that number stays.
class slot_user {
  public:
    // Sequentially consistent, pairs with unmap_slot: either this thread sees the cleared number,
    // or unmap_slot sees this user.
    slot_user(subscription_slot& slot, std::uint64_t mapping) noexcept
        : user_(slot.users), holds_(slot.mapping.load(std::memory_order_seq_cst) == mapping) {}

    [[nodiscard]] bool holds() const noexcept { return holds_; }

  private:
    thread_count::user user_;
    bool holds_;
};

// All functions below require the registry lock.

/// Called once per process, and again in a forked child. Whether running sequences can be
/// restarted; without that (kernels before 5.10, some seccomp filters) no sequences may be used.
[[nodiscard]] bool register_membarrier() noexcept;

/// Empties the slot. False if it has, or may have, users; retry later.
[[nodiscard]] bool unmap_slot(subscription_slot& slot) noexcept;

/// Fills an empty slot. False if the file cannot be mapped.
[[nodiscard]] bool map_slot(subscription_slot& slot, const unique_fd& file,
                            const eventlog_region& header,
                            const region_geometry& geometry) noexcept;

/// Fills the empty slot of a collector. `base` is private memory with a complete region; the slot
/// owns it from now on.
void fill_collector_slot(subscription_slot& slot, unsigned char* base,
                         const region_geometry& geometry) noexcept;

/// Recomputes the clocks of all slots after the program has set or removed its custom clock.
void update_slot_clocks() noexcept;

/// A bit for each slot with a mapping, including those of ended subscriptions.
[[nodiscard]] std::uint32_t mapped_slots() noexcept;

/// Unmaps all regions that have ended, and those of subscriptions that are not in the mask
/// `needed`. False if one of them has, or may have, users: its slot is empty then, and a later call
/// unmaps it. A region that can never be unmapped, because a sandbox forbids it, does not count as
/// incomplete.
[[nodiscard]] bool unmap_slots_except(std::uint32_t needed) noexcept;

/// Unmaps the regions of all subscriptions, with those of flight recorders, when the library is
/// unloaded, the process ends, or may not give events to their reader any more. Those of collectors
/// stay, for threads that still read. Returns as unmap_slots_except.
bool unmap_all_slots() noexcept;

/// Called in a forked child, where other threads do not exist, and whose clock may differ.
void reset_slots_after_fork() noexcept;

/// Called in a forked child that publishes its providers again: an emit that a signal handler has
/// interrupted to fork finds another mapping, and starts again under the child's name.
void renumber_mappings() noexcept;

/// Called in a forked child before it maps anything, because a signal handler that interrupted the
/// holder of a shared ring's lock may have forked. Both processes then continue as the holder, but
/// the lock is the parent's. So private memory replaces that region in the child, with a state that
/// marks it as ended: the rest of the interrupted write is harmless, wherever it was, even between
/// two instructions. The slot is empty; a later mapping replaces the memory. The region of a
/// collector is the child's own; there the lock of a thread that the child does not have is free.
void replace_locked_regions() noexcept;

}  // namespace eventlog::core
