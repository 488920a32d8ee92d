// SPDX-License-Identifier: MIT
//
// A bounded wait for the lock of the directory of subscriptions.
#pragma once

#include <optional>

#include "shm/subscription_file.hpp"

namespace elog {

/// The lock of a directory, with a bounded wait. Processes hold it for moments, unless one is
/// stopped meanwhile, so the wait ends after 20 s or when a signal is caught.
class timed_directory_lock {
  public:
    explicit timed_directory_lock(const eventlog::core::directory& where) noexcept;

    [[nodiscard]] bool held() const noexcept { return lock_ && lock_->held(); }

    /// Throws user_error that names the holder, unless the lock is held.
    void throw_unless_held() const;

  private:
    const eventlog::core::directory& where_;
    std::optional<eventlog::core::directory_lock> lock_;
};

}  // namespace elog
