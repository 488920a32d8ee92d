// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cerrno>

namespace eventlog::core {

/// Scope guard for work that the application did not request: saves errno, blocks signals and
/// disables thread cancellation. A handler can neither fork nor leave by longjmp while this library
/// holds a lock.
class signal_guard {
  public:
    signal_guard() noexcept : errno_(errno) {
        sigset_t all;
        sigfillset(&all);
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &all, &signals_));
        static_cast<void>(::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_));
    }
    ~signal_guard() {
        static_cast<void>(::pthread_setcancelstate(cancel_state_, nullptr));
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &signals_, nullptr));
        errno = errno_;
    }
    signal_guard(const signal_guard&) = delete;
    signal_guard& operator=(const signal_guard&) = delete;

  private:
    int errno_;
    int cancel_state_ = PTHREAD_CANCEL_ENABLE;
    sigset_t signals_{};
};

}  // namespace eventlog::core
