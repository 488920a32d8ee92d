// SPDX-License-Identifier: MIT
#include "ring/ring_lock.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <ctime>

#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

// A held lock is tried so many times, then the thread gives way, and so on: at first by
// sched_yield, then by sleeps that double, so that a wait makes few system calls. The limit is a
// time, because each yield can take as long as other threads use the CPU.
constexpr int tries_count = 16;
constexpr unsigned yield_count = 16;
constexpr unsigned doublings_max = 9;
constexpr std::uint64_t first_sleep = 50'000;
constexpr std::uint64_t wait_limit = 50'000'000;

/// False if a signal or a sandbox prevented the sleep.
bool sleep_for(std::uint64_t nanoseconds) noexcept {
    const errno_guard keeps_errno;
    timespec time{};
    time.tv_nsec = static_cast<long>(nanoseconds);
    // Not nanosleep(), which is a cancellation point.
    return ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr) == 0;
}

/// Gives the CPU to other threads for at most that time: a thread that holds the lock may need it.
/// `turn` counts what was done already.
void give_way(unsigned& turn, std::uint64_t at_most) noexcept {
    if (turn >= yield_count &&
        sleep_for(std::min(first_sleep << std::min(turn - yield_count, doublings_max), at_most))) {
        ++turn;
        return;
    }
    static_cast<void>(::sched_yield());
    turn += turn < yield_count ? 1 : 0;
}

/// The pid namespace part of a lock word: half of the namespace's inode number.
std::uint64_t short_namespace(std::uint64_t pid_namespace) noexcept {
    return pid_namespace & 0xffffffffU;
}

std::uint64_t own_holder_id() noexcept {
    return thread_id() | short_namespace(own_identity().pid_namespace) << 32U;
}

// The kernel sets this bit in the low half of a lock whose holder has ended.
constexpr std::uint64_t owner_died_bit = FUTEX_OWNER_DIED;
static_assert(std::endian::native == std::endian::little);

[[gnu::tls_model("initial-exec")]] constinit thread_local robust_list_head* known_list = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool has_asked_for_list = false;

/// The calling thread's list of robust futexes, registered by the C library. nullptr if there is
/// none.
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
    // /proc has entries for threads as for processes.
    return holder != 0 && holder >> 32U == short_namespace(own_pid_namespace()) &&
           !is_thread_alive(static_cast<std::uint32_t>(holder));
}

ring_lock::ring_lock(subscription_slot& slot, eventlog_ring* ring) noexcept
    : mark_(thread_slot_locks[static_cast<std::size_t>(&slot - subscription_slots.data())]),
      is_outermost_(mark_.load(std::memory_order_relaxed) == 0),
      word_(ring->lock),
      unresponsive_holder_(slot.unresponsive_holder) {
    // No exchange: only handlers of this thread run in between, and they restore the mark.
    mark_.store(1, std::memory_order_relaxed);
    // The mark precedes the lock: a child forked from here on must not use the lock, because it
    // would take it in its parent's name.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    own_holder_ = own_holder_id();
    mark_.store(static_cast<std::uint32_t>(own_holder_), std::memory_order_relaxed);
    // The system call precedes the lock, because other threads wait from then on.
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

/// Registers the lock unless an entry is pending: the C library, or an outer ring_lock, may have
/// been interrupted by the handler that runs this. Called after the lock was taken, because the
/// kernel only checks the thread id in the word.
void ring_lock::set_robust_pending(robust_list_head* list, eventlog_ring* ring) noexcept {
    if (list != nullptr && list->list_op_pending == nullptr) {
        robust_ = list;
        store_pending_entry(
            reinterpret_cast<robust_list*>(reinterpret_cast<std::uintptr_t>(&ring->lock) -
                                           static_cast<std::uintptr_t>(list->futex_offset)));
    }
}

/// Takes the lock if its word is `holder` (0: free). On failure `holder` is the current holder.
void ring_lock::try_take_from(__u64& holder) noexcept {
    held_ = word_.compare_exchange_strong(holder, own_holder_, std::memory_order_acquire,
                                          std::memory_order_relaxed);
}

/// Tries for a limited time; returns the holder if the lock was not taken. A holder that kept it
/// for all that time is remembered, and later events do not wait for it: it may be stopped, or it
/// died where this process cannot detect it (another pid namespace, or before the lock was
/// registered with the kernel).
__u64 ring_lock::wait() noexcept {
    std::uint64_t end = 0;
    __u64 first_holder = 0;
    bool is_same_holder = true;
    unsigned turn = 0;
    for (int look = 1;; ++look) {
        __u64 holder = 0;
        try_take_from(holder);
        // One of the threads that see the dead holder takes the lock over; the rest wait for that
        // thread.
        if (!held_ && (holder & owner_died_bit) != 0) {
            try_take_from(holder);
        }
        if (held_ || holder == own_holder_) {
            return holder;
        }
        if (look % tries_count != 0) {
            continue;
        }
        const std::uint64_t now = coarse_monotonic_now();
        if (end == 0) {
            end = now + wait_limit;
            first_holder = holder;
        }
        is_same_holder = is_same_holder && holder == first_holder;
        if (now >= end && is_same_holder) {
            unresponsive_holder_.store(holder, std::memory_order_relaxed);
        }
        if (now >= end || holder == unresponsive_holder_.load(std::memory_order_relaxed)) {
            return holder;
        }
        give_way(turn, end - now);
    }
}

}  // namespace eventlog::core
