// SPDX-License-Identifier: MIT
#include "ring/ring_lock.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <cstddef>

#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

// How often a held lock is looked at again at once, and for how long, giving way to others in
// between. Not a number of turns: each can take as long as others have the CPU.
constexpr int spin_count = 16;
constexpr std::uint64_t wait_limit = 50'000'000;

/// What a pid namespace is called in a lock: half of its number has to do.
std::uint64_t short_namespace(std::uint64_t pid_namespace) noexcept {
    return pid_namespace & 0xffffffffU;
}

std::uint64_t own_holder_id() noexcept {
    return thread_id() | short_namespace(own_identity().pid_namespace) << 32U;
}

// What the kernel makes of the low half of a lock whose holder has ended.
constexpr std::uint64_t owner_died_bit = FUTEX_OWNER_DIED;
static_assert(std::endian::native == std::endian::little);

[[gnu::tls_model("initial-exec")]] constinit thread_local robust_list_head* known_list = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool has_asked_for_list = false;

/// The thread's list of robust futexes, as the C library has made it. nullptr if it has none.
robust_list_head* robust_list_of_thread() noexcept {
    if (!has_asked_for_list) {
        has_asked_for_list = true;
        const signal_guard guard;
        robust_list_head* list = nullptr;
        std::size_t size = 0;
        if (::syscall(SYS_get_robust_list, 0, &list, &size) == 0 && size == sizeof *list) {
            known_list = list;
        }
    }
    return known_list;
}

}  // namespace

bool has_holder_died(std::uint64_t holder) noexcept {
    if ((holder & owner_died_bit) != 0) {
        return true;
    }
    const signal_guard guard;
    const std::uint64_t pid_namespace = own_pid_namespace();
    // Threads have entries in /proc as processes do.
    return holder != 0 && holder >> 32U == short_namespace(pid_namespace) &&
           !is_alive(static_cast<std::uint32_t>(holder), 0, pid_namespace);
}

ring_lock::ring_lock(subscription_slot& slot, eventlog_ring* ring) noexcept
    : mark_(thread_slot_locks[static_cast<std::size_t>(&slot - subscription_slots.data())]),
      is_outermost_(mark_.load(std::memory_order_relaxed) == 0),
      word_(ring->lock),
      unresponsive_holder_(slot.unresponsive_holder) {
    // No exchange: only this thread's handlers come in between, and they leave it as it was.
    mark_.store(1, std::memory_order_relaxed);
    // Marked first: a child that is forked from here on has nothing to do with the lock, which it
    // would take in its parent's name.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    own_holder_ = own_holder_id();
    // Asked for before the lock is ours: others wait from then on.
    robust_list_head* const list = robust_list_of_thread();
    __u64 holder = wait();
    if (!held_ && holder != own_holder_ && has_holder_died(holder)) {
        try_take_from(holder);
    }
    if (held_) {
        set_robust_pending(list, ring);
        if (unresponsive_holder_.load(std::memory_order_relaxed) != 0) {
            unresponsive_holder_.store(0, std::memory_order_relaxed);
        }
    }
}

/// What the C library itself is just doing with its list, or a lock around this one, goes first: a
/// handler may have interrupted it. Not before the lock is ours, because the kernel looks at the
/// thread's number alone.
void ring_lock::set_robust_pending(robust_list_head* list, eventlog_ring* ring) noexcept {
    if (list != nullptr && list->list_op_pending == nullptr) {
        robust_ = list;
        store_pending_entry(
            reinterpret_cast<robust_list*>(reinterpret_cast<std::uintptr_t>(&ring->lock) -
                                           static_cast<std::uintptr_t>(list->futex_offset)));
    }
}

/// Takes the lock if `holder` has it: 0 for nobody. If not, `holder` is who has it.
void ring_lock::try_take_from(__u64& holder) noexcept {
    held_ = word_.compare_exchange_strong(holder, own_holder_, std::memory_order_acquire,
                                          std::memory_order_relaxed);
}

/// Tries for a while; returns who has the lock if it is not ours. A holder that was waited for in
/// vain may have been stopped, or may be in a pid namespace where we cannot see that it has died,
/// just before it told the kernel, or where nobody can: the next event does not wait for it again.
__u64 ring_lock::wait() noexcept {
    std::uint64_t end = 0;
    for (int look = 0;; ++look) {
        __u64 holder = 0;
        try_take_from(holder);
        // Of several who see that it has died one takes over, for whom the others wait.
        if (!held_ && (holder & owner_died_bit) != 0) {
            try_take_from(holder);
        }
        if (held_ || holder == own_holder_) {
            return holder;
        }
        if (look < spin_count) {
            continue;
        }
        const std::uint64_t now = coarse_monotonic_now();
        end = end == 0 ? now + wait_limit : end;
        if (now >= end) {
            unresponsive_holder_.store(holder, std::memory_order_relaxed);
        }
        if (holder == unresponsive_holder_.load(std::memory_order_relaxed)) {
            return holder;
        }
        static_cast<void>(::sched_yield());
    }
}

}  // namespace eventlog::core
