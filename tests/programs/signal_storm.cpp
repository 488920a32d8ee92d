// SPDX-License-Identifier: MIT
//
// A thread emits continuously while its own timer interrupts it every 100 microseconds, and the
// handler emits, too; another thread sends it signals as well. It ends after COUNT handled timer
// signals.
//
//     signal_storm COUNT
//
// Prints the numbers of events that each has attempted.
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

struct work {
    std::uint64_t number;
    std::string_view text;
};
struct interruption {
    std::uint64_t number;
    std::string_view text;
};
using signal_storm = eventlog::provider<"signal_storm", work, interruption>;

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
std::atomic<std::uint64_t> handled{0};
std::atomic<std::uint64_t> ticks{0};

extern "C" void handle(int /*signal*/, siginfo_t* information, void* /*context*/) {
    ticks += information->si_code == SI_TIMER ? 1U : 0U;
    const std::uint64_t number = handled.fetch_add(1);
    signal_storm::emit(interruption{number, letters.substr(0, number % letters.size())});
}

/// A timer whose signals go to the calling thread.
class ticking {
  public:
    explicit ticking(long nanoseconds) {
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGUSR1;
        event._sigev_un._tid = ::gettid();
        const itimerspec every{{0, nanoseconds}, {0, nanoseconds}};
        if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0 ||
            ::timer_settime(timer_, 0, &every, nullptr) != 0) {
            std::perror("signal_storm: timer");
            std::exit(1);
        }
    }
    ticking(const ticking&) = delete;
    ticking& operator=(const ticking&) = delete;
    ~ticking() { ::timer_delete(timer_); }

  private:
    timer_t timer_{};
};

}  // namespace

int main(int argument_count, char** arguments) {
    const std::uint64_t wanted = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    ::sigaction(SIGUSR1, &action, nullptr);

    std::atomic<bool> stop{false};
    std::thread other([&stop, target = ::pthread_self()] {
        while (!stop) {
            ::pthread_kill(target, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    });
    std::uint64_t worked = 0;
    {
        const ticking timer(100'000);
        while (ticks < wanted) {
            for (int i = 0; i < 100; ++i, ++worked) {
                signal_storm::emit(work{worked, letters.substr(0, worked % letters.size())});
            }
        }
    }
    stop = true;
    other.join();
    ::signal(SIGUSR1, SIG_IGN);
    std::printf("work %" PRIu64 "\ninterruption %" PRIu64 "\ntick %" PRIu64 "\n", worked,
                handled.load(), ticks.load());
}
