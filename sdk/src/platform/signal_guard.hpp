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

/// The signals that an instruction or a system call of the thread itself raises. If they are
/// blocked then, the kernel ends the process, although the program may handle them: a sandbox with
/// SECCOMP_RET_TRAP, a just-in-time compiler that repairs faults. So no mask of this library has
/// them, and their handlers may run while it holds a lock.
inline constexpr int synchronous_signals[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};

/// Blocks all other signals of the calling thread; those that the program has blocked stay so.
inline void block_signals(sigset_t& before) noexcept {
    sigset_t others;
    sigfillset(&others);
    for (const int number : synchronous_signals) {
        sigdelset(&others, number);
    }
    static_cast<void>(::pthread_sigmask(SIG_BLOCK, &others, &before));
}

/// Scope guard: blocks the calling thread's signals, but for the synchronous ones.
class signal_block {
  public:
    signal_block() noexcept { block_signals(signals_); }
    ~signal_block() { static_cast<void>(::pthread_sigmask(SIG_SETMASK, &signals_, nullptr)); }
    signal_block(const signal_block&) = delete;
    signal_block& operator=(const signal_block&) = delete;

  private:
    sigset_t signals_{};
};

/// Scope guard: disables cancellation of the calling thread.
class cancellation_block {
  public:
    cancellation_block() noexcept {
        static_cast<void>(::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_));
    }
    ~cancellation_block() { static_cast<void>(::pthread_setcancelstate(state_, nullptr)); }
    cancellation_block(const cancellation_block&) = delete;
    cancellation_block& operator=(const cancellation_block&) = delete;

  private:
    int state_ = PTHREAD_CANCEL_ENABLE;
};

/// Scope guard for work that the application did not request: saves errno, blocks signals and
/// disables thread cancellation. The handler of an asynchronous signal can neither fork nor leave
/// by longjmp while this library holds a lock.
class signal_guard {
  public:
    signal_guard() noexcept = default;
    ~signal_guard() = default;
    signal_guard(const signal_guard&) = delete;
    signal_guard& operator=(const signal_guard&) = delete;

  private:
    errno_guard errno_;
    cancellation_block cancellation_;
    signal_block signals_;
};

}  // namespace eventlog::core
