// SPDX-License-Identifier: MIT
//
// The lock of the registry, which is the list of this process's providers and their attachments.
//
// Held while a provider is published, withdrawn or attached, and across a fork. An emitting thread
// only tries to take it: it may run in a signal handler that interrupted the holder.
#pragma once

#include <mutex>

namespace eventlog::core {

class registry_lock {
  public:
    registry_lock() noexcept;
    explicit registry_lock(std::try_to_lock_t) noexcept;
    ~registry_lock();
    registry_lock(const registry_lock&) = delete;
    registry_lock& operator=(const registry_lock&) = delete;
    [[nodiscard]] bool held() const noexcept { return held_; }

  private:
    bool held_;
};

/// Handlers for pthread_atfork. Parent and child unlock after the fork.
void lock_registry_before_fork() noexcept;
void unlock_registry_after_fork() noexcept;

}  // namespace eventlog::core
