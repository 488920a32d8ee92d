// SPDX-License-Identifier: MIT
#include "target/pid_namespace_proxy.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/user_error.hpp"
#include "target/pipe.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

sigset_t forwarded_signals() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int each :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD}) {
        sigaddset(&signals, each);
    }
    return signals;
}

[[noreturn]] void exit_by_signal(int signal) noexcept {
    // Only the core dump of the child is of interest.
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

/// Ends or stops as the child did; returns if the child runs on.
void mirror_child(pid_t child) noexcept {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG | WUNTRACED) != child) {
        return;
    }
    if (WIFEXITED(status)) {
        ::_exit(WEXITSTATUS(status));
    }
    if (WIFSIGNALED(status)) {
        exit_by_signal(WTERMSIG(status));
    }
    // The parent of this process sees it stop, and continues it.
    static_cast<void>(::raise(SIGSTOP));
    static_cast<void>(::kill(child, SIGCONT));
}

/// The terminal sends a key's signal to both processes, so it is not forwarded. SIGHUP of a closed
/// terminal goes only to the session leader, so it is forwarded.
bool is_from_terminal(const siginfo_t& info) noexcept {
    return info.si_code == SI_KERNEL &&
           (info.si_signo == SIGINT || info.si_signo == SIGQUIT || info.si_signo == SIGTSTP);
}

[[noreturn]] void run_proxy(pid_t child, const sigset_t& signals) noexcept {
    for (;;) {
        siginfo_t info{};
        const int signal = ::sigwaitinfo(&signals, &info);
        if (signal == SIGCHLD) {
            mirror_child(child);
        } else if (signal > 0 && !is_from_terminal(info)) {
            static_cast<void>(::kill(child, signal));
        }
    }
}

/// Runs in the child. `life` is hung up when the proxy ends.
void exit_with_proxy(const unique_fd& life) noexcept {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGTERM, 0UL, 0UL, 0UL));
    // The proxy may have ended before prctl().
    pollfd other{life.get(), 0, 0};
    if (::poll(&other, 1, 0) > 0) {
        ::_exit(128 + SIGTERM);
    }
}

}  // namespace

void fork_with_proxy() {
    pipe_ends ends = make_pipe();
    const sigset_t signals = forwarded_signals();
    sigset_t before;
    // With SIGCHLD ignored, the exit status of the child would be lost.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    static_cast<void>(::sigprocmask(SIG_BLOCK, &signals, &before));
    const pid_t child = ::fork();
    if (child < 0) {
        const int number = errno;
        static_cast<void>(::sigprocmask(SIG_SETMASK, &before, nullptr));
        throw user_error(
            "No process can be started there ({}). Check that its container is running.",
            std::strerror(number));
    }
    if (child != 0) {
        run_proxy(child, signals);
    }
    ends.write = {};
    exit_with_proxy(ends.read);
    static_cast<void>(::sigprocmask(SIG_SETMASK, &before, nullptr));
}

}  // namespace elog
