// SPDX-License-Identifier: MIT
#include "cli/stop_signal.hpp"

#include <atomic>
#include <csignal>

#include "cli/quantities.hpp"

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
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        handle(signal, action);
    }
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
