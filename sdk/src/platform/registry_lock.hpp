// SPDX-License-Identifier: MIT
//
// The lock of the registry, which is the list of this process's providers and their attachments.
//
// Held while a provider is published, withdrawn or attached, and across a fork. An emitting thread
// only tries to take it: it may run in a signal handler that interrupted the holder.
//
// The holder blocks all signals but the synchronous ones, whose handlers may emit, fork or call
// exit(). So a thread that holds the lock does not get it again, and does not wait either: a
// registration fails, a status is not known, a destructor does nothing. A child that such a handler
// forks has a copy of a registry in the middle of a change. It never gets the lock; for everything
// else it is like a child of _Fork(3).
//
// The lock is in the page that copies of the address space find wiped (wiped_on_fork.hpp), and all
// functions are async-signal-safe.
#pragma once

#include <cstdint>
#include <mutex>

namespace eventlog::core {

class registry_lock {
  public:
    /// Waits, unless the calling thread is the holder: then it is not held().
    registry_lock() noexcept;
    explicit registry_lock(std::try_to_lock_t) noexcept;
    ~registry_lock();
    registry_lock(const registry_lock&) = delete;
    registry_lock& operator=(const registry_lock&) = delete;
    [[nodiscard]] bool held() const noexcept { return holder_ != 0; }

  private:
    std::uint32_t holder_;
};

/// Handlers for pthread_atfork. Signals are blocked from the first until the end of the second:
/// a handler that forks would wait for its own thread.
void lock_registry_before_fork() noexcept;
void unlock_registry_after_fork() noexcept;

/// Called in the child before unlock_registry_after_fork. False in a child that must leave the
/// registry alone, because a handler of the holding thread has forked it.
[[nodiscard]] bool hold_registry_in_child() noexcept;

}  // namespace eventlog::core
