// SPDX-License-Identifier: MIT
//
// The lock of the shared ring. It names its holder, so a thread that dies while holding it blocks
// no other thread: a waiter that detects the death takes the lock over. There is nothing to repair,
// because a record exists only once the control word includes it. A signal handler that interrupts
// the holder finds its own thread in the lock and gives up. If that handler forks, the lock stays
// the parent's: see replace_locked_regions.
//
// Only processes of the same pid namespace can detect a dead holder. So the held lock is registered
// with the kernel like a robust futex (set_robust_list(2)): when the holder ends, in whatever way,
// the kernel marks the word, which is visible to all processes.
#pragma once

#include <linux/eventlog.h>
#include <linux/futex.h>

#include <atomic>
#include <cstdint>

#include "ring/subscription_slots.hpp"

namespace eventlog::core {

/// Holds the slot's ring lock while it lives, if it was available within 50 ms. A holder is waited
/// for once. Async-signal-safe. Precondition: inside a slot_user, or the slot cannot be unmapped.
class ring_lock {
  public:
    ring_lock(subscription_slot& slot, eventlog_ring* ring) noexcept;
    ~ring_lock() {
        if (held_) {
            // This order matters: the kernel only checks the thread id, and the next holder may
            // have the same id in another pid namespace.
            if (robust_ != nullptr) {
                store_pending_entry(nullptr);
            }
            word_.store(0, std::memory_order_release);
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (is_outermost_) {
            mark_.store(0, std::memory_order_relaxed);
        }
    }
    ring_lock(const ring_lock&) = delete;
    ring_lock& operator=(const ring_lock&) = delete;

    [[nodiscard]] bool held() const noexcept { return held_; }
    /// Whether this is a forked child, so lock and ring are the parent's: stores since the fork may
    /// have had no effect.
    [[nodiscard]] bool belongs_to_parent() const noexcept {
        return mark_.load(std::memory_order_relaxed) == 0;
    }

  private:
    void try_take_from(__u64& holder) noexcept;
    [[nodiscard]] __u64 wait() noexcept;
    void set_robust_pending(robust_list_head* list, eventlog_ring* ring) noexcept;
    void store_pending_entry(robust_list* entry) noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        std::atomic_ref(robust_->list_op_pending).store(entry, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }

    std::atomic<std::uint32_t>& mark_;
    bool is_outermost_;  // false in a signal handler that interrupted another ring_lock of the slot
    std::atomic_ref<__u64> word_;
    std::atomic<std::uint64_t>& unresponsive_holder_;
    __u64 own_holder_ = 0;
    bool held_ = false;
    robust_list_head* robust_ = nullptr;  // this thread's list, while it names the lock
};

/// Whether the thread named in a lock word has certainly ended, so that the lock has no holder.
/// False for 0 (a free lock).
[[nodiscard]] bool has_holder_died(std::uint64_t holder) noexcept;

}  // namespace eventlog::core
