// SPDX-License-Identifier: MIT
#include "platform/registry_lock.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "platform/process.hpp"
#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"
#include "platform/wiped_on_fork.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint32_t has_waiters = FUTEX_WAITERS;

// Under the lock, while it is held across a fork.
[[EVENTLOG_STARTUP_SECTION]] constinit signal_mask signals_before_fork{};
[[EVENTLOG_STARTUP_SECTION]] constinit std::uint32_t forking_thread = 0;

/// Whether this is a child that a handler of the holding thread has forked.
[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<bool> is_lost{false};

/// The fork handlers that the calling thread has run without the lock, because it held it already.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned nested_forks = 0;

/// Not thread_id(), which enables the fast path of a library that may not be prepared, and whose
/// memory of the id a child of vfork() may have replaced. Where a sandbox denies the call, the id
/// is a part of the thread's address: it is not 0, has no bit of the lock's, and differs from that
/// of the other threads.
std::uint32_t lock_holder_id() noexcept {
    const errno_guard keeps_errno;
    const long id = ::syscall(SYS_gettid);
    constexpr unsigned address_unit = 6;  // a thread has more than 64 bytes of its own
    const auto address = reinterpret_cast<std::uintptr_t>(&nested_forks) >> address_unit;
    return static_cast<std::uint32_t>(id > 0 ? id
                                             : static_cast<long>(address & FUTEX_TID_MASK) | 1);
}

void wait_for_change(std::uint32_t value) noexcept {
    const errno_guard keeps_errno;
    static_cast<void>(::syscall(SYS_futex, &wiped_on_fork.registry, FUTEX_WAIT_PRIVATE, value,
                                nullptr, nullptr, 0));
}

/// Returns the holder's id, which is the calling thread's; 0 if it holds the lock already.
std::uint32_t acquire() noexcept {
    std::atomic<std::uint32_t>& word = wiped_on_fork.registry;
    const std::uint32_t own = lock_holder_id();
    std::uint32_t found = 0;
    if (is_lost.load(std::memory_order_relaxed)) {
        return 0;
    }
    if (word.compare_exchange_strong(found, own, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        return own;
    }
    while ((found & ~has_waiters) != own) {
        if (found == 0) {
            // There may be more waiters.
            if (word.compare_exchange_strong(found, own | has_waiters, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                return own;
            }
        } else if ((found & has_waiters) != 0 ||
                   word.compare_exchange_strong(found, found | has_waiters,
                                                std::memory_order_relaxed)) {
            wait_for_change(found | has_waiters);
            found = word.load(std::memory_order_relaxed);
        }
    }
    return 0;
}

std::uint32_t try_to_acquire() noexcept {
    const std::uint32_t own = lock_holder_id();
    std::uint32_t found = 0;
    return !is_lost.load(std::memory_order_relaxed) &&
                   wiped_on_fork.registry.compare_exchange_strong(
                       found, own, std::memory_order_acquire, std::memory_order_relaxed)
               ? own
               : 0;
}

/// Does nothing in a child where the word was wiped since.
void release(std::uint32_t holder) noexcept {
    std::atomic<std::uint32_t>& word = wiped_on_fork.registry;
    std::uint32_t found = holder;
    while ((found & ~has_waiters) == holder) {
        if (word.compare_exchange_strong(found, 0, std::memory_order_release,
                                         std::memory_order_relaxed)) {
            if ((found & has_waiters) != 0) {
                const errno_guard keeps_errno;
                static_cast<void>(
                    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0));
            }
            break;
        }
    }
}

}  // namespace

registry_lock::registry_lock() noexcept : holder_(acquire()) {}

registry_lock::registry_lock(std::try_to_lock_t) noexcept : holder_(try_to_acquire()) {}

registry_lock::~registry_lock() {
    if (holder_ != 0) {
        release(holder_);
    }
}

void lock_registry_before_fork() noexcept {
    signal_mask before{};
    block_signals(before);
    if (const std::uint32_t holder = acquire(); holder != 0) {
        signals_before_fork = before;
        forking_thread = holder;
    } else {
        ++nested_forks;
        restore_signals(before);
    }
}

void unlock_registry_after_fork() noexcept {
    if (nested_forks != 0) {
        --nested_forks;
    } else if (forking_thread != 0) {
        const signal_mask before = signals_before_fork;
        const std::uint32_t holder = forking_thread;
        forking_thread = 0;
        release(holder);
        restore_signals(before);
    }
}

bool hold_registry_in_child() noexcept {
    reset_thread_id();
    if (nested_forks != 0) {
        is_lost.store(true, std::memory_order_relaxed);
        return false;
    }
    if (is_lost.load(std::memory_order_relaxed) || forking_thread == 0) {
        return false;
    }
    forking_thread = lock_holder_id();
    wiped_on_fork.registry.store(forking_thread, std::memory_order_relaxed);
    return true;
}

}  // namespace eventlog::core
