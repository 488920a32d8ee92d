// SPDX-License-Identifier: MIT
#include "ring_lock.hpp"

#include <sched.h>

#include <cstddef>

#include "clock.hpp"
#include "process.hpp"
#include "unnoticed.hpp"

namespace eventlog::core {
namespace {

// How often a held lock is looked at again at once, and for how long, giving way to others in
// between. Not a number of turns: each can take as long as others have the CPU.
constexpr int looks_at_once = 16;
constexpr std::uint64_t patience = 50'000'000;

/// What a pid namespace is called in a lock: half of its number has to do.
std::uint64_t short_namespace(std::uint64_t pid_namespace) noexcept {
    return pid_namespace & 0xffffffffU;
}

std::uint64_t holder_name() noexcept {
    return thread_id() | short_namespace(own_identity().pid_namespace) << 32U;
}

}  // namespace

bool has_holder_died(std::uint64_t holder) noexcept {
    const unnoticed guard;
    const std::uint64_t pid_namespace = own_pid_namespace();
    // Threads have entries in /proc as processes do.
    return holder != 0 && holder >> 32U == short_namespace(pid_namespace) &&
           !is_alive(static_cast<std::uint32_t>(holder), 0, pid_namespace);
}

ring_lock::ring_lock(subscription_slot& slot, eventlog_ring* ring) noexcept
    : mark_(own_slot_locks[static_cast<std::size_t>(&slot - subscription_slots.data())]),
      is_outermost_(mark_.load(std::memory_order_relaxed) == 0),
      word_(ring->lock),
      stuck_(slot.stuck_holder) {
    // No exchange: only this thread's handlers come in between, and they leave it as it was.
    mark_.store(1, std::memory_order_relaxed);
    // Marked first: a child that is forked from here on has nothing to do with the lock, which it
    // would take in its parent's name.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    own_holder_ = holder_name();
    __u64 holder = wait();
    if (held_) {
        if (stuck_.load(std::memory_order_relaxed) != 0) {
            stuck_.store(0, std::memory_order_relaxed);
        }
    } else if (holder != own_holder_ && has_holder_died(holder)) {
        take_from(holder);
    }
}

/// Takes the lock if `holder` has it: 0 for nobody. If not, `holder` is who has it.
void ring_lock::take_from(__u64& holder) noexcept {
    held_ = word_.compare_exchange_strong(holder, own_holder_, std::memory_order_acquire,
                                          std::memory_order_relaxed);
}

/// Tries for a while; returns who has the lock if it is not ours. A holder that was waited for in
/// vain may have been stopped, or may be in a pid namespace where we cannot see that it has died:
/// the next event does not wait for it again.
__u64 ring_lock::wait() noexcept {
    std::uint64_t end = 0;
    for (int look = 0;; ++look) {
        __u64 holder = 0;
        take_from(holder);
        if (held_ || holder == own_holder_) {
            return holder;
        }
        if (look < looks_at_once) {
            continue;
        }
        const std::uint64_t now = coarse_now();
        end = end == 0 ? now + patience : end;
        if (now >= end) {
            stuck_.store(holder, std::memory_order_relaxed);
        }
        if (holder == stuck_.load(std::memory_order_relaxed)) {
            return holder;
        }
        static_cast<void>(::sched_yield());
    }
}

}  // namespace eventlog::core
