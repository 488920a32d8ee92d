// SPDX-License-Identifier: MIT
#include "target/place_runner.hpp"

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

#include "base/failure.hpp"
#include "platform/unique_fd.hpp"
#include "terminal/tell.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;
using std::chrono::steady_clock;

// A process that is killed ends at once, or waits for what cannot be interrupted.
constexpr std::chrono::milliseconds end_interval{10};
constexpr int end_tries = 100;
// Of thousands of providers with hundreds of fields; and of a complaint about each.
constexpr std::size_t output_max = 64U << 20U;
constexpr std::size_t complaints_size_max = 1U << 20U;

struct pipe_ends {
    unique_fd read;
    unique_fd write;
};

pipe_ends make_pipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        throw failure("No pipe can be had ({}). Close some files, or raise the limit with: ulimit "
                      "-n",
                      std::strerror(errno));
    }
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

/// Ends with its parent. What becomes another user has to be told so then, again.
void end_with(pid_t parent) noexcept {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL));
    if (::getppid() != parent) {
        ::_exit(1);
    }
}

[[noreturn]] void work_as_child(const std::function<void()>& go, const std::function<void()>& work,
                                pipe_ends& output, pipe_ends& complaints) noexcept {
    const unique_fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (::dup2(nothing.get(), STDIN_FILENO) < 0 || ::dup2(output.write.get(), STDOUT_FILENO) < 0 ||
        ::dup2(complaints.write.get(), STDERR_FILENO) < 0) {
        ::_exit(1);
    }
    // Who has gone reads nothing, and whoever writes then is told.
    output = {};
    complaints = {};
    try {
        go();
        end_with(::getppid());
        work();
    } catch (const std::exception& error) {
        tell("elog: {}", error.what());
        ::_exit(1);
    } catch (...) {
        ::_exit(1);
    }
    ::_exit(0);
}

/// What comes out of one of the child's pipes.
struct stream {
    const unique_fd& from;
    std::string& to;
    std::size_t size_max = 0;
    bool ended = false;

    /// False if it is too much.
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

/// Until both have ended.
place_answer::outcome take_both(stream& first, stream& second, steady_clock::time_point end) {
    while (!first.ended || !second.ended) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now()).count();
        if (left <= 0) {
            return place_answer::outcome::too_long;
        }
        std::array<pollfd, 2> ends{};
        ends[0] = {first.ended ? -1 : first.from.get(), POLLIN, 0};
        ends[1] = {second.ended ? -1 : second.from.get(), POLLIN, 0};
        static_cast<void>(::poll(ends.data(), ends.size(), static_cast<int>(left)));
        if ((ends[0].revents != 0 && !first.take()) || (ends[1].revents != 0 && !second.take())) {
            return place_answer::outcome::too_much;
        }
    }
    return place_answer::outcome::done;
}

/// Its status; nothing if it does not end although it has been killed.
std::optional<int> end_of(pid_t child, bool kill_it) {
    int status = 0;
    for (int tries = 0; tries < end_tries; ++tries) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) {
            return status;
        }
        if (ended < 0) {
            break;  // it is no child any more: somebody else may have its number
        }
        if (kill_it) {
            static_cast<void>(::kill(child, SIGKILL));
        }
        std::this_thread::sleep_for(end_interval);
        // Its pipes have ended, and it does not: somebody keeps it.
        kill_it = true;
    }
    return std::nullopt;
}

}  // namespace

place_answer run_elsewhere(const std::function<void()>& go, const std::function<void()>& work,
                           std::chrono::nanoseconds patience) {
    const steady_clock::time_point end =
        steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(patience);
    pipe_ends output = make_pipe();
    pipe_ends complaints = make_pipe();
    // Of a child whose end is not waited for nobody could say how it has ended.
    static_cast<void>(std::signal(SIGCHLD, SIG_DFL));
    const pid_t child = ::fork();
    if (child < 0) {
        throw failure("No process can be started ({}). End some, or raise the limit with: ulimit "
                      "-u",
                      std::strerror(errno));
    }
    if (child == 0) {
        work_as_child(go, work, output, complaints);
    }
    output.write = {};
    complaints.write = {};
    place_answer answer;
    stream out{output.read, answer.output, output_max};
    stream said{complaints.read, answer.complaints, complaints_size_max};
    answer.how = take_both(out, said, end);
    const std::optional<int> status = end_of(child, answer.how != place_answer::outcome::done);
    if (!status) {
        answer.how = place_answer::outcome::too_long;
    } else if (answer.how == place_answer::outcome::done && *status != 0) {
        answer.how = place_answer::outcome::failed;
        answer.signal = WIFSIGNALED(*status) ? WTERMSIG(*status) : 0;
    }
    return answer;
}

}  // namespace elog
