// SPDX-License-Identifier: MIT
//
// Subscriptions end while threads, signal handlers and children emit: no event is lost uncounted.
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "detach_fixture.hpp"
#include "run_in_child.hpp"
#include "trial_size.hpp"

namespace {

using namespace detach_test;
using eventlog::test::run_in_child;

// Shared with children: ThreadSanitizer delays signals, and a child forked meanwhile handles them
// as well.
std::atomic<std::uint64_t>& handled = *[] {
    void* const memory = ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr : new (memory) std::atomic<std::uint64_t>(0);
}();

/// A timer whose handler emits in the interrupted thread.
class ticking {
  public:
    ticking() {
        struct sigaction action {};
        action.sa_handler = [](int) { detach_provider::emit(wanted{handled.fetch_add(1)}); };
        action.sa_flags = SA_RESTART;
        EXPECT_EQ(::sigaction(SIGALRM, &action, &before_), 0);
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGALRM;
        EXPECT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
        const itimerspec period{{0, 200'000}, {0, 200'000}};
        EXPECT_EQ(::timer_settime(timer_, 0, &period, nullptr), 0);
    }
    ~ticking() {
        ::timer_delete(timer_);
        // A pending signal must not find the default action.
        ::signal(SIGALRM, SIG_IGN);
        ::sigaction(SIGALRM, &before_, nullptr);
    }
    ticking(const ticking&) = delete;
    ticking& operator=(const ticking&) = delete;

  private:
    struct sigaction before_ {};
    timer_t timer_{};
};

TEST_F(detach, loses_nothing_under_concurrent_emits_signals_and_forks) {
    std::optional<event_listener> staying(std::in_place, "leaving_test:*",
                                          event_listener::options{1U << 20U, 4, false});
    detach_provider::emit(wanted{0});
    std::atomic<std::uint64_t> attempted{1};
    const std::uint64_t rounds = eventlog::test::trial_size("EVENTLOG_TEST_DETACH_ROUNDS", 60);
    {
        std::atomic<bool> stop{false};
        std::vector<std::jthread> workers;
        for (int i = 0; i < 3; ++i) {
            workers.emplace_back([&] {
                while (!stop) {
                    detach_provider::emit(wanted{1});
                    detach_provider::emit(unwanted{2});
                    attempted += 2;
                    std::this_thread::yield();
                }
            });
        }
        const ticking timer;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::vector<std::unique_ptr<event_listener>> guests;
            for (std::uint64_t i = 0; i <= round % 3; ++i) {
                guests.push_back(std::make_unique<event_listener>("leaving_test:wanted"));
            }
            detach_provider::emit(unwanted{3});
            ++attempted;
            if (round % 8 == 0) {
                EXPECT_EQ(run_in_child([&] {
                              detach_provider::emit(unwanted{4});
                              return mapped_regions() > static_cast<int>(1 + guests.size()) ? 1 : 0;
                          }),
                          0)
                    << "round " << round;
                ++attempted;
            }
            guests.clear();
            staying->poll();
            staying->clear_records();
        }
        stop = true;
    }
    staying->finish();
    EXPECT_EQ(staying->totals().read + staying->totals().lost + staying->lost_by_providers(),
              attempted + handled);
    EXPECT_EQ(staying->totals().damaged, 0U);
    staying.reset();
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

}  // namespace
