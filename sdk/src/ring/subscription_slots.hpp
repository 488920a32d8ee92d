// SPDX-License-Identifier: MIT
//
// The subscriptions that this process has mapped: one slot for each bit of a gate word.
//
// A region can go away at any time, while threads are writing to it and signal handlers interrupt
// them. Nobody takes a lock to write, so:
//
//   - A slot has a serial, 0 when it is empty. A writer remembers the serial with which it began,
//     and everything it does to the region happens either inside a restartable sequence that
//     compares the serial first, or inside a slot_user, which counts itself in before comparing.
//   - To unmap, the serial is set to 0, then all running restartable sequences are made to start
//     over (membarrier), then the users are waited for: not by sleeping, but by coming back later.
//
// The geometry in a slot may be overwritten while a writer with an old serial still reads it. It
// then computes nonsense, and its comparison of the serial fails before it uses any of it.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/unique_fd.hpp"
#include "ring/region.hpp"

namespace eventlog::core {

// What an emit needs is ready to use, and stands in the first two lines of the cache.
struct alignas(64) subscription_slot {
    std::atomic<std::uint64_t> serial{0};
    std::atomic<std::uint32_t*> state{nullptr};  // the region's
    std::atomic<unsigned char*> rings{nullptr};
    std::atomic<std::uint64_t> ring_stride{0};
    std::atomic<unsigned char*> first_buffer{nullptr};
    std::atomic<std::uint64_t> ring_bytes{0};  // of all buffers of a ring
    std::atomic<std::uint64_t> buffer_size{0};
    std::atomic<std::uint64_t> buffer_units{0};
    std::atomic<std::uint64_t> buffer_mask{0};  // buffer count - 1
    /// CPUs below this have rings that a sequence writes to: 0 where there are no sequences.
    std::atomic<std::uint32_t> sequence_cpus{0};
    /// The same, but 0 also if the clock is not the one that the shortest sequence reads, or the
    /// program has one of its own, or if some events are wanted in some sessions only.
    std::atomic<std::uint32_t> fast_cpus{0};
    /// As in process_counter_layout.
    std::atomic<std::uint32_t> counter_stride{0};

    std::atomic<std::uint32_t> ring_count{0};
    std::atomic<std::uint32_t> clock{0};  // the region's, and custom_clock_bit
    /// Whether a switch does not wait for the reader. Looked at where a record finds no room.
    std::atomic<bool> overwrites{false};
    /// Whether who goes on in a buffer of the shared ring for the first time gives it its memory.
    std::atomic<bool> shared_ring_is_lazy{false};
    bool has_session_rules = false;  // under the registry's lock
    std::atomic<unsigned char*> base{nullptr};
    std::atomic<eventlog_provider_entry*> providers{nullptr};
    std::uint64_t mapped_size = 0;  // under the registry's lock

    /// The sessions whose events are wanted where the filter says so.
    std::atomic<std::uint32_t> session_count{0};
    std::array<std::atomic<std::uint64_t>, EVENTLOG_SESSIONS_MAX> sessions{};

    /// Threads that use the region outside of a restartable sequence; their line of the cache.
    alignas(64) std::atomic<std::uint32_t> users{0};
    /// Who did not give back the shared ring's lock while somebody here waited for it; 0 if nobody.
    std::atomic<std::uint64_t> unresponsive_holder{0};
    /// Coarse monotonic nanoseconds before which memory for the shared ring, of which there was
    /// none, is not asked for again. UINT64_MAX where this process cannot ask for any, whatever
    /// the maker of the region could; 0 where there has been enough so far.
    std::atomic<std::uint64_t> allocation_not_before{0};

    [[nodiscard]] eventlog_region* region() const noexcept {
        return reinterpret_cast<eventlog_region*>(base.load(std::memory_order_relaxed));
    }
    [[nodiscard]] eventlog_ring* ring(std::uint32_t index) const noexcept {
        return reinterpret_cast<eventlog_ring*>(rings.load(std::memory_order_relaxed) +
                                                index *
                                                    ring_stride.load(std::memory_order_relaxed));
    }
    [[nodiscard]] eventlog_provider_entry* entry(std::uint16_t provider_id) const noexcept {
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
    /// Where the ring's buffers begin, one behind the other.
    [[nodiscard]] unsigned char* buffers(std::uint32_t ring_index) const noexcept {
        return first_buffer.load(std::memory_order_relaxed) +
               ring_index * ring_bytes.load(std::memory_order_relaxed);
    }
};

/// Constant-initialised: valid before any constructor and after any destructor.
[[gnu::visibility("hidden")]] extern std::array<subscription_slot, EVENTLOG_SUBSCRIPTIONS_MAX>
    subscription_slots;

/// How often the calling thread is in each slot: a signal handler may have interrupted it there.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local std::array<std::uint16_t,
                                                                       EVENTLOG_SUBSCRIPTIONS_MAX>
    thread_slot_uses;

/// By slot: 1 while the calling thread has the lock of the slot's shared ring, or is about to take
/// it, and can reach that ring. Atomic, because a handler that interrupts the thread may fork.
[[gnu::tls_model("initial-exec"),
  gnu::visibility("hidden")]] extern constinit thread_local std::array<std::atomic<std::uint8_t>,
                                                                       EVENTLOG_SUBSCRIPTIONS_MAX>
    thread_slot_locks;

/// While it lives, and if it holds, the region with that serial stays mapped.
class slot_user {
  public:
    slot_user(subscription_slot& slot, std::uint64_t serial) noexcept : slot_(slot) {
        // First, and last below: should a handler fork in between, rather one user too many.
        thread_uses() += 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        // Sequentially consistent, as in unmap_slot: either we see the serial gone, or it sees us.
        slot_.users.fetch_add(1, std::memory_order_seq_cst);
        holds_ = slot_.serial.load(std::memory_order_seq_cst) == serial;
    }
    ~slot_user() {
        slot_.users.fetch_sub(1, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        thread_uses() -= 1;
    }
    slot_user(const slot_user&) = delete;
    slot_user& operator=(const slot_user&) = delete;

    [[nodiscard]] bool holds() const noexcept { return holds_; }

  private:
    [[nodiscard]] std::uint16_t& thread_uses() const noexcept {
        return thread_slot_uses[static_cast<std::size_t>(&slot_ - subscription_slots.data())];
    }

    subscription_slot& slot_;
    bool holds_;
};

// The rest under the registry's lock.

/// Once per process, and again in a forked child. Whether running sequences can be made to start
/// over: else (kernels before 5.10, some seccomp filters) there must be none.
[[nodiscard]] bool register_membarrier() noexcept;

/// Empties the slot. False if somebody is, or might be, still in it; then try again later.
[[nodiscard]] bool unmap_slot(subscription_slot& slot) noexcept;

/// Fills an empty slot. False if the file cannot be mapped.
[[nodiscard]] bool map_slot(subscription_slot& slot, const unique_fd& file,
                            const eventlog_region& header,
                            const region_geometry& geometry) noexcept;

/// By which clock events are timed from now on: the program has set one, or taken it back.
void update_slot_clocks() noexcept;

/// A bit for each slot whose region is in memory, the ended ones too.
[[nodiscard]] std::uint32_t mapped_slots() noexcept;

/// Gives back the memory of all regions that have ended, and of those whose slots are not `needed`,
/// a bit for each. False if somebody is, or might be, still in one of them: then it is empty, and
/// another call unmaps it. One that can never be unmapped, because a sandbox forbids it, is no
/// reason to call again.
[[nodiscard]] bool unmap_slots_except(std::uint32_t needed) noexcept;

/// Gives back the memory of all regions: this library is being unloaded, or the process ends.
void unmap_all_slots() noexcept;

/// In a forked child: other threads that used a slot do not exist here. The one that forked does,
/// and if it did so in a signal handler, it may be in a slot.
void reset_slot_users_after_fork() noexcept;

/// In a forked child, before it maps anything: a handler that interrupted the holder of a shared
/// ring's lock may have forked. When it returns, both threads go on as the holder, and the lock is
/// the parent's. So memory of the child's own takes the place of that region, with a state that
/// says that it has ended: there the rest of what the holder does hurts nobody, wherever it was,
/// even between two instructions. The slot is empty, and another mapping takes its place later.
void replace_locked_regions() noexcept;

}  // namespace eventlog::core
