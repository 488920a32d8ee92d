// SPDX-License-Identifier: MIT
#include "cli/stop_signal.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>

#include "base/unfinished_files.hpp"
#include "cli/quantities.hpp"
#include "terminal/progress_line.hpp"

namespace elog {
namespace {

std::atomic<int> request_count{0};
std::atomic<int> request_signal{0};
std::atomic<bool> request_by_terminal{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void note_request(int signal, siginfo_t* info, void* /*context*/) {
    request_signal.store(signal, std::memory_order_relaxed);
    request_by_terminal.store(info->si_code == SI_KERNEL, std::memory_order_relaxed);
    request_count.fetch_add(1, std::memory_order_release);
}

constexpr std::array stop_signals{SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, stop_signals.size()> actions_before{};

/// Ends the process by the signal, with the action that it had before: the default one, or that of
/// a progress line.
extern "C" void remove_files_and_reraise(int signal) {
    remove_unfinished_files();
    erase_progress();
    for (std::size_t index = 0; index < stop_signals.size(); ++index) {
        if (stop_signals[index] == signal) {
            static_cast<void>(::sigaction(signal, &actions_before[index], nullptr));
        }
    }
    static_cast<void>(std::raise(signal));
    ::_exit(128 + signal);  // the default action does not end the first process of a PID namespace
}

bool is_from_here(const struct sigaction& action) noexcept {
    return (action.sa_flags & SA_SIGINFO) != 0 ? action.sa_sigaction == note_request
                                               : action.sa_handler == remove_files_and_reraise;
}

std::atomic<pause_request> last_pause_request{pause_request::none};
static_assert(std::atomic<pause_request>::is_always_lock_free);

extern "C" void note_pause_request(int signal) {
    last_pause_request.store(signal == SIGUSR1 ? pause_request::pause : pause_request::resume,
                             std::memory_order_relaxed);
}

/// An ignored signal stays ignored, for example under nohup.
void handle(int signal, const struct sigaction& action) {
    struct sigaction before {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        static_cast<void>(::sigaction(signal, &action, nullptr));
    }
}

}  // namespace

void catch_stop_signals() {
    struct sigaction action {};
    action.sa_sigaction = note_request;
    action.sa_flags = SA_SIGINFO;
    for (const int signal : stop_signals) {
        handle(signal, action);
    }
}

void remove_files_on_stop_signals() {
    struct sigaction action {};
    action.sa_handler = remove_files_and_reraise;
    action.sa_flags = static_cast<int>(SA_NODEFER);
    for (std::size_t index = 0; index < stop_signals.size(); ++index) {
        struct sigaction before {};
        if (::sigaction(stop_signals[index], nullptr, &before) == 0 &&
            before.sa_handler != SIG_IGN && !is_from_here(before)) {
            actions_before[index] = before;
            static_cast<void>(::sigaction(stop_signals[index], &action, nullptr));
        }
    }
}

delayed_stop_signals::delayed_stop_signals() noexcept {
    sigset_t delayed{};
    static_cast<void>(sigemptyset(&delayed));
    for (const int signal : stop_signals) {
        static_cast<void>(sigaddset(&delayed, signal));
    }
    static_cast<void>(::pthread_sigmask(SIG_BLOCK, &delayed, &before_));
}

delayed_stop_signals::~delayed_stop_signals() {
    static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr));
}

stop_request stop_requested() noexcept {
    const int count = request_count.load(std::memory_order_acquire);
    return {count, request_signal.load(std::memory_order_relaxed),
            request_by_terminal.load(std::memory_order_relaxed)};
}

void catch_pause_signals() {
    struct sigaction action {};
    action.sa_handler = note_pause_request;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGUSR1, SIGUSR2}) {
        handle(signal, action);
    }
}

pause_request take_pause_request() noexcept {
    return last_pause_request.exchange(pause_request::none, std::memory_order_relaxed);
}

deadline::deadline(const std::optional<std::string>& duration) {
    if (duration) {
        duration_ = parse_duration(*duration);
    }
}

bool deadline::has_passed() {
    const auto now = std::chrono::steady_clock::now();
    if (duration_ && !end_) {
        end_ = now + *duration_;
    }
    return end_ && now >= *end_;
}

std::function<bool()> make_stop_condition(const std::optional<std::string>& duration) {
    return [end = deadline(duration)]() mutable {
        const bool has_passed = end.has_passed();
        return stop_requested().count != 0 || has_passed;
    };
}

}  // namespace elog
