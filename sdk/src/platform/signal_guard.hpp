// SPDX-License-Identifier: MIT
//
// Scope guards for errno, signals and thread cancellation.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>

namespace eventlog::core {

/// Scope guard: restores errno.
class errno_guard {
  public:
    errno_guard() noexcept : errno_(errno) {}
    ~errno_guard() { errno = errno_; }
    errno_guard(const errno_guard&) = delete;
    errno_guard& operator=(const errno_guard&) = delete;

  private:
    int errno_;
};

/// Scope guard: blocks the calling thread's signals.
class signal_block {
  public:
    signal_block() noexcept {
        sigset_t all;
        sigfillset(&all);
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &all, &signals_));
    }
    ~signal_block() { static_cast<void>(::pthread_sigmask(SIG_SETMASK, &signals_, nullptr)); }
    signal_block(const signal_block&) = delete;
    signal_block& operator=(const signal_block&) = delete;

  private:
    sigset_t signals_{};
};

/// Scope guard for work that the application did not request: saves errno, blocks signals and
/// disables thread cancellation. A handler can neither fork nor leave by longjmp while this library
/// holds a lock.
class signal_guard {
  public:
    signal_guard() noexcept {
        static_cast<void>(::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_));
    }
    ~signal_guard() { static_cast<void>(::pthread_setcancelstate(cancel_state_, nullptr)); }
    signal_guard(const signal_guard&) = delete;
    signal_guard& operator=(const signal_guard&) = delete;

  private:
    errno_guard errno_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
    signal_block signals_;
};

}  // namespace eventlog::core
