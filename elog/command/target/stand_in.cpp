// SPDX-License-Identifier: MIT
#include "target/stand_in.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/failure.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

sigset_t signals_to_hand_on() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD}) {
        sigaddset(&signals, each);
    }
    return signals;
}

[[noreturn]] void end_by(int signal) noexcept {
    // The child's memory is the one to look at, if any.
    const rlimit none{0, 0};
    static_cast<void>(::setrlimit(RLIMIT_CORE, &none));
    static_cast<void>(std::signal(signal, SIG_DFL));
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    static_cast<void>(::raise(signal));
    static_cast<void>(::sigprocmask(SIG_UNBLOCK, &one, nullptr));
    ::_exit(128 + signal);
}

/// What has become of the child; returns if it goes on.
void follow(pid_t child) noexcept {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG | WUNTRACED) != child) {
        return;
    }
    if (WIFEXITED(status)) {
        ::_exit(WEXITSTATUS(status));
    }
    if (WIFSIGNALED(status)) {
        end_by(WTERMSIG(status));
    }
    // Who has started this process waits for it to stop, and lets it go on.
    static_cast<void>(::raise(SIGSTOP));
    static_cast<void>(::kill(child, SIGCONT));
}

/// A key at the terminal is for both, and the child has heard of it. That the terminal is gone only
/// who leads the session hears.
bool is_by_key(const siginfo_t& info) noexcept {
    return info.si_code == SI_KERNEL &&
           (info.si_signo == SIGINT || info.si_signo == SIGQUIT || info.si_signo == SIGTSTP);
}

[[noreturn]] void stand_for(pid_t child, const sigset_t& signals) noexcept {
    for (;;) {
        siginfo_t info{};
        const int signal = ::sigwaitinfo(&signals, &info);
        if (signal == SIGCHLD) {
            follow(child);
        } else if (signal > 0 && !is_by_key(info)) {
            static_cast<void>(::kill(child, signal));
        }
    }
}

/// In the child. `life` hangs up when the other process ends.
void end_with_stand_in(const unique_fd& life) noexcept {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGTERM, 0UL, 0UL, 0UL));
    // It may have ended before we asked for that.
    pollfd other{life.get(), 0, 0};
    if (::poll(&other, 1, 0) > 0) {
        ::_exit(128 + SIGTERM);
    }
}

}  // namespace

void leave_stand_in() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw failure("No pipe can be had ({}). Close some files, or raise the limit with: ulimit "
                      "-n",
                      std::strerror(errno));
    }
    const unique_fd life(ends[0]);
    unique_fd own_end(ends[1]);
    const sigset_t signals = signals_to_hand_on();
    sigset_t before;
    // A child whose end is not waited for could not be stood for.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    static_cast<void>(::sigprocmask(SIG_BLOCK, &signals, &before));
    const pid_t child = ::fork();
    if (child < 0) {
        const int number = errno;
        static_cast<void>(::sigprocmask(SIG_SETMASK, &before, nullptr));
        throw failure("No process can be started there ({}). Does that one still run?",
                      std::strerror(number));
    }
    if (child != 0) {
        stand_for(child, signals);
    }
    own_end = {};
    end_with_stand_in(life);
    static_cast<void>(::sigprocmask(SIG_SETMASK, &before, nullptr));
}

}  // namespace elog
