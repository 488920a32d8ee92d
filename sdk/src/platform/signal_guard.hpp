// SPDX-License-Identifier: MIT
//
// Scope guards for errno, signals and thread cancellation.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

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

/// A set of signals as the kernel has it. The C library's sigset_t has 128 bytes, which is much on
/// a signal stack.
struct signal_mask {
    static constexpr std::size_t bits = 8 * sizeof(unsigned long);
    unsigned long words[(_NSIG - 1) / bits];
};

/// Not pthread_sigmask, which has such a set on the stack as well.
inline void change_signals(int how, const signal_mask& mask, signal_mask* before) noexcept {
    static_cast<void>(::syscall(SYS_rt_sigprocmask, how, &mask, before, sizeof mask));
}

inline void restore_signals(const signal_mask& before) noexcept {
    change_signals(SIG_SETMASK, before, nullptr);
}

/// Blocks all other signals of the calling thread; those that the program has blocked stay so.
inline void block_signals(signal_mask& before) noexcept {
    signal_mask others{};
    for (unsigned long& word : others.words) {
        word = ~0UL;
    }
    const auto leave_out = [&others](int number) {
        const auto bit = static_cast<std::size_t>(number - 1);
        others.words[bit / signal_mask::bits] &= ~(1UL << bit % signal_mask::bits);
    };
    for (const int number : synchronous_signals) {
        leave_out(number);
    }
    // As the C library, which cancels threads and changes their users by the first real-time
    // signals.
    for (int number = __SIGRTMIN; number < SIGRTMIN; ++number) {
        leave_out(number);
    }
    change_signals(SIG_BLOCK, others, &before);
}

/// Scope guard: blocks the calling thread's signals, but for the synchronous ones.
class signal_block {
  public:
    signal_block() noexcept { block_signals(signals_); }
    ~signal_block() { restore_signals(signals_); }
    signal_block(const signal_block&) = delete;
    signal_block& operator=(const signal_block&) = delete;

  private:
    signal_mask signals_{};
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
