// SPDX-License-Identifier: MIT
#include "target/child_runner.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include "base/user_error.hpp"
#include "target/pipe.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;
using std::chrono::steady_clock;

// A killed process ends at once, or after a system call that cannot be interrupted.
constexpr std::chrono::milliseconds end_interval{10};
constexpr int end_tries = 100;
// Room for thousands of providers with hundreds of fields, and for a complaint about each.
constexpr std::size_t output_max = 64U << 20U;
constexpr std::size_t complaints_size_max = 1U << 20U;

/// Has the kernel kill this process when its parent ends. A change of user clears that setting, so
/// it is set again afterwards.
void exit_with_parent(pid_t parent) noexcept {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL));
    if (::getppid() != parent) {
        ::_exit(1);
    }
}

[[noreturn]] void run_work(const std::function<void()>& enter, const std::function<void()>& work,
                           pipe_ends& output, pipe_ends& complaints) noexcept {
    const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (::dup2(nothing.get(), STDIN_FILENO) < 0 || ::dup2(output.write.get(), STDOUT_FILENO) < 0 ||
        ::dup2(complaints.write.get(), STDERR_FILENO) < 0) {
        ::_exit(1);
    }
    // Closes the inherited ends: after the parent's death a write fails instead of waiting.
    output = {};
    complaints = {};
    try {
        enter();
        exit_with_parent(::getppid());
        work();
    } catch (const std::exception& error) {
        print_diagnostic("elog: {}", error.what());
        ::_exit(1);
    } catch (...) {
        ::_exit(1);
    }
    ::_exit(0);
}

/// The output of one of the child's pipes.
struct output_pipe {
    const unique_fd& from;
    std::string& to;
    std::size_t size_max = 0;
    bool ended = false;

    /// Reads once. False if the output exceeds `size_max`.
    [[nodiscard]] bool take() {
        std::array<char, 65536> part{};
        const ssize_t size = ::read(from.get(), part.data(), part.size());
        if (size < 0) {
            ended = errno != EINTR && errno != EAGAIN;
            return true;
        }
        ended = size == 0;
        to.append(part.data(), static_cast<std::size_t>(size));
        return to.size() <= size_max;
    }
};

/// Reads both pipes until they end, the time is over, or an output is too large.
child_result::outcome drain_both(output_pipe& first, output_pipe& second,
                                 steady_clock::time_point end) {
    while (!first.ended || !second.ended) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now()).count();
        if (left <= 0) {
            return child_result::outcome::timed_out;
        }
        std::array<pollfd, 2> ends{};
        ends[0] = {first.ended ? -1 : first.from.get(), POLLIN, 0};
        ends[1] = {second.ended ? -1 : second.from.get(), POLLIN, 0};
        static_cast<void>(::poll(ends.data(), ends.size(), static_cast<int>(left)));
        if ((ends[0].revents != 0 && !first.take()) || (ends[1].revents != 0 && !second.take())) {
            return child_result::outcome::output_too_large;
        }
    }
    return child_result::outcome::done;
}

/// The exit status of the child; nothing if it does not end although it has been killed.
std::optional<int> reap_child(pid_t child, bool kill_it) {
    int status = 0;
    for (int tries = 0; tries < end_tries; ++tries) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return status;
        }
        if (ended < 0) {
            break;  // no child any more: its number may belong to another process
        }
        if (kill_it) {
            static_cast<void>(::kill(child, SIGKILL));
        }
        std::this_thread::sleep_for(end_interval);
        // The pipes have ended and the process has not: kill it in the next round.
        kill_it = true;
    }
    return std::nullopt;
}

}  // namespace

pipe_ends make_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw user_error(
            "No pipe can be created ({}). Close some files, or raise the limit with: ulimit -n",
            std::strerror(errno));
    }
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

child_result run_in_child(const std::function<void()>& enter, const std::function<void()>& work,
                          std::chrono::nanoseconds timeout) {
    const steady_clock::time_point end =
        steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(timeout);
    pipe_ends output = make_pipe();
    pipe_ends complaints = make_pipe();
    // With SIGCHLD ignored, the exit status of the child would be lost.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    const pid_t child = ::fork();
    if (child < 0) {
        throw user_error(
            "No process can be started ({}). End some, or raise the limit with: ulimit "
            "-u",
            std::strerror(errno));
    }
    if (child == 0) {
        run_work(enter, work, output, complaints);
    }
    output.write = {};
    complaints.write = {};
    child_result answer;
    output_pipe out{output.read, answer.output, output_max};
    output_pipe err{complaints.read, answer.complaints, complaints_size_max};
    answer.how = drain_both(out, err, end);
    const std::optional<int> status = reap_child(child, answer.how != child_result::outcome::done);
    if (!status) {
        answer.how = child_result::outcome::timed_out;
    } else if (answer.how == child_result::outcome::done && *status != 0) {
        answer.how = child_result::outcome::failed;
        answer.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    }
    return answer;
}

}  // namespace elog
