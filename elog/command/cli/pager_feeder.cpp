// SPDX-License-Identifier: MIT
#include "cli/pager_feeder.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <fmt/core.h>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "cli/pager_process.hpp"
#include "platform/unique_fd.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

constexpr int exit_complete = 0;
constexpr int exit_incomplete = 1;

// Signals of a terminal, by which a user ends a pager.
constexpr int user_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Whether a pager with that status has shown what its user wanted to see.
bool is_wanted_end(int status) noexcept {
    constexpr int by_signal = 128;  // in the status of a shell
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - by_signal;
    const bool is_by_user = std::find(std::begin(user_signals), std::end(user_signals), signal) !=
                            std::end(user_signals);
    return is_by_user || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::string describe_end(int status) {
    return WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                               : fmt::format("ended with exit status {}", WEXITSTATUS(status));
}

class feeder {
  public:
    feeder(std::string_view command, int input) : command_(command), input_(input) {}

    [[nodiscard]] bool start();
    /// Feeds the started pager until its end. Returns the exit status.
    [[nodiscard]] int run();

  private:
    [[nodiscard]] bool has_ended() noexcept;
    void wait() noexcept;
    void read_input() noexcept;
    void write_pending() noexcept;
    void close_output_at_end() noexcept;
    [[nodiscard]] std::uint64_t unread() const noexcept;
    void print_everything();

    std::string command_;
    int input_;
    bool input_ended_ = false;
    unique_fd pager_input_;
    unique_fd output_;         // to the pager
    unique_fd child_signals_;  // readable after SIGCHLD
    pid_t pager_ = -1;
    int status_ = 0;
    std::array<char, std::size_t{64} << 10U> part_{};
    std::string_view pending_;   // of the part
    std::uint64_t written_ = 0;  // bytes, to the pager
};

bool feeder::start() {
    sigset_t children{};
    sigset_t before{};
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    std::array<int, 2> ends{};
    if (::pthread_sigmask(SIG_BLOCK, &children, &before) != 0 ||
        ::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return false;
    }
    pager_input_ = unique_fd(ends[0]);
    output_ = unique_fd(ends[1]);
    child_signals_ = unique_fd(::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK));
    // Of the two ends, only this one becomes non-blocking.
    if (!child_signals_ || ::fcntl(output_.get(), F_SETFL, O_NONBLOCK) != 0) {
        return false;
    }
    const std::optional<pid_t> started = spawn_pager(command_, pager_input_.get(), before);
    if (!started) {
        return false;
    }
    pager_ = *started;
    // A key that interrupts elog or the pager must not end the feeder before them.
    for (const int signal : user_signals) {
        static_cast<void>(std::signal(signal, SIG_IGN));
    }
    return true;
}

bool feeder::has_ended() noexcept {
    const pid_t ended = ::waitpid(pager_, &status_, WNOHANG);
    return ended == pager_ || (ended < 0 && errno != EINTR);
}

void feeder::read_input() noexcept {
    const ssize_t got = ::read(input_, part_.data(), part_.size());
    if (got > 0) {
        pending_ = std::string_view(part_.data(), static_cast<std::size_t>(got));
    }
    input_ended_ = got == 0 || (got < 0 && errno != EINTR);
}

void feeder::write_pending() noexcept {
    const ssize_t written = ::write(output_.get(), pending_.data(), pending_.size());
    if (written > 0) {
        written_ += static_cast<std::uint64_t>(written);
        pending_.remove_prefix(static_cast<std::size_t>(written));
    }
}

void feeder::close_output_at_end() noexcept {
    if (input_ended_ && pending_.empty()) {
        output_ = unique_fd();
    }
}

/// Waits for input, for room in the pager's pipe, or for the end of the pager.
void feeder::wait() noexcept {
    constexpr int none = -1;  // poll ignores it
    std::array<pollfd, 3> wanted{{{child_signals_.get(), POLLIN, 0},
                                  {input_ended_ || !pending_.empty() ? none : input_, POLLIN, 0},
                                  {pending_.empty() ? none : output_.get(), POLLOUT, 0}}};
    if (::poll(wanted.data(), wanted.size(), -1) <= 0) {
        return;
    }
    if (wanted[0].revents != 0) {
        signalfd_siginfo ignored{};  // the pager may also have stopped or continued
        static_cast<void>(!::read(child_signals_.get(), &ignored, sizeof ignored));
    }
    if (wanted[1].revents != 0) {
        read_input();
    }
    if (wanted[2].revents != 0) {
        write_pending();
    }
    close_output_at_end();
}

std::uint64_t feeder::unread() const noexcept {
    int size = 0;
    return ::ioctl(pager_input_.get(), FIONREAD, &size) == 0 ? static_cast<std::uint64_t>(size) : 0;
}

/// Writes to standard output until the input ends. Throws user_error or output_closed.
void feeder::print_everything() {
    std::array<char, std::size_t{64} << 10U> part{};
    const auto copy = [&part](int from) {
        while (true) {
            const ssize_t got = ::read(from, part.data(), part.size());
            if (got > 0) {
                write_all(STDOUT_FILENO, {part.data(), static_cast<std::size_t>(got)});
            } else if (got == 0 || errno != EINTR) {
                return;
            }
        }
    };
    output_ = unique_fd();
    copy(pager_input_.get());
    write_all(STDOUT_FILENO, pending_);
    copy(input_);
}

int feeder::run() {
    while (!has_ended()) {
        wait();
    }
    const std::uint64_t left = unread();
    const bool has_read_all = input_ended_ && pending_.empty() && left == 0;
    if (has_read_all || is_wanted_end(status_)) {
        return exit_complete;
    }
    if (left != written_) {
        print_diagnostic(
            "elog: The pager '{}' {} before it had read all of the output. Use another "
            "one, or --no-pager.",
            command_, describe_end(status_));
        return exit_incomplete;
    }
    print_diagnostic("elog: The pager '{}' {} and has read nothing: the output follows without it.",
                     command_, describe_end(status_));
    try {
        print_everything();
    } catch (const output_closed&) {
        return exit_incomplete;
    } catch (const user_error& error) {
        print_diagnostic("elog: {}", error.what());
        return exit_incomplete;
    }
    return exit_complete;
}

/// In the new process. `started` gets a byte when the pager runs.
[[noreturn]] void feed(std::string_view command, int input, int started) {
    int status = exit_incomplete;
    feeder work(command, input);
    if (work.start()) {
        static_cast<void>(!::write(started, "", 1));
        ::close(started);
        status = work.run();
    }
    ::_exit(status);
}

}  // namespace

std::optional<pid_t> start_pager_feeder(const std::string& command, int input, int output) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return std::nullopt;
    }
    const unique_fd has_started(ends[0]);
    unique_fd started(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) {
        return std::nullopt;
    }
    if (child == 0) {
        ::close(output);
        feed(command, input, started.get());
    }
    started = unique_fd();
    char mark = 0;
    ssize_t got = 0;
    do {
        got = ::read(has_started.get(), &mark, 1);
    } while (got < 0 && errno == EINTR);
    if (got == 1) {
        return child;
    }
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return std::nullopt;
}

}  // namespace elog
