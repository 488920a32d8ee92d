// SPDX-License-Identifier: MIT
//
// The lock of the ring that everyone shares. It names its holder, so that a thread that dies
// holding it stops nobody: whoever finds it dead takes over. There is nothing to repair, because a
// record exists only once the control word says so. A signal handler that interrupts the holder
// sees its own thread there and gives up. If it forks, the lock stays the parent's: see
// replace_locked_regions.
//
// Only who lives in the same pid namespace can find a holder dead. So the kernel is told where the
// lock is while it is held, as of a robust futex (set_robust_list(2)): when the holder ends,
// however it does, the kernel marks the word, and everybody sees that.
#pragma once

#include <linux/eventlog.h>
#include <linux/futex.h>

#include <atomic>
#include <cstdint>

#include "ring/subscription_slots.hpp"

namespace eventlog::core {

/// Holds the lock of that ring of the slot while it lives, if it could be had within some
/// milliseconds. Async-signal-safe. Inside a slot_user, or where the slot cannot be unmapped.
class ring_lock {
  public:
    ring_lock(subscription_slot& slot, eventlog_ring* ring) noexcept;
    ~ring_lock() {
        if (held_) {
            // In this order: the kernel looks at the thread's number alone, which in another pid
            // namespace may be that of the next holder.
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
    /// Whether we are in a forked child, and the lock and the ring are the parent's: all that has
    /// been stored since, or some of it, went nowhere.
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

    std::atomic<std::uint8_t>& mark_;
    bool is_outermost_;  // not that of a handler inside of another
    std::atomic_ref<__u64> word_;
    std::atomic<std::uint64_t>& unresponsive_holder_;
    __u64 own_holder_ = 0;
    bool held_ = false;
    robust_list_head* robust_ = nullptr;  // of this thread, while it names the lock
};

/// Whether the thread that a lock's word names is certain to have ended: then nobody holds the
/// lock. False for 0, which is nobody.
[[nodiscard]] bool has_holder_died(std::uint64_t holder) noexcept;

}  // namespace eventlog::core
