// SPDX-License-Identifier: MIT
//
// Under load, with more threads than CPUs, signal handlers and a reader that is sometimes too slow:
// attempted = read + lost, exactly; nothing torn, nothing twice, each thread's events in order.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "build_kind.hpp"
#include "clock.hpp"
#include "listener.hpp"

namespace {

using eventlog::test::heard_record;
using eventlog::test::listener;

struct step {
    std::uint64_t number;
    std::uint64_t check;
    std::uint32_t worker;
    std::string_view text;
};
struct interruption {
    std::uint64_t number;
    std::uint64_t check;
};
using conservation = eventlog::provider<"conservation", step, interruption>;

std::uint64_t check_of(std::uint64_t number, std::uint64_t salt) {
    return (number + salt) * 0x9e3779b97f4a7c15U;
}

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

void emit_steps(std::uint32_t worker, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
        conservation::emit(step{i, check_of(i, worker), worker, letters.substr(0, i % 50)});
    }
}

std::atomic<std::uint64_t> interruptions{0};

extern "C" void emit_from_handler(int /*signal*/) {
    const std::uint64_t number = interruptions.fetch_add(1);
    conservation::emit(interruption{number, check_of(number, 99)});
}

/// Checks every record that was heard and forgets it: memory stays small.
class checker {
  public:
    explicit checker(listener& ears) : ears_(ears) {}

    void take() {
        ears_.poll();
        for (const heard_record& record : ears_.records()) {
            check(record);
        }
        ears_.forget_records();
    }

    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t handled() const { return handled_; }

  private:
    std::uint64_t number(const heard_record& record, const char* field) {
        return std::get<std::uint64_t>(ears_.field(record, field));
    }

    void check(const heard_record& record) {
        const std::uint64_t index = number(record, "number");
        if (ears_.event_name(record) == "interruption") {
            ASSERT_EQ(number(record, "check"), check_of(index, 99));
            ++handled_;
            return;
        }
        const std::uint64_t worker = number(record, "worker");
        ASSERT_EQ(number(record, "check"), check_of(index, worker));
        ASSERT_EQ(std::get<std::string_view>(ears_.field(record, "text")),
                  letters.substr(0, index % 50));
        // Within a ring a thread's events are in order; it may go from ring to ring.
        auto [place, first] = next_.try_emplace({record.ring, worker}, 0);
        ASSERT_GE(index, place->second);
        place->second = index + 1;
        // On a ring everything is in the order of time, and numbered without a gap but for losses.
        // Where the processor has no clock that can be read inside the restartable sequence, it is
        // read before that, and a thread that is held up in between is late.
        auto [time, fresh] = time_.try_emplace(record.ring, 0);
        if (clock_ == EVENTLOG_CLOCK_TSC) {
            ASSERT_GE(record.header.time, time->second);
        }
        time->second = record.header.time;
        ++steps_;
    }

    listener& ears_;
    eventlog_clock clock_ = eventlog::core::best_clock();
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> next_;
    std::map<std::uint32_t, std::uint64_t> time_;
    std::uint64_t steps_ = 0;
    std::uint64_t handled_ = 0;
};

// Sanitizers are slow; what they look for does not need many events.
constexpr std::uint64_t events_per_thread = eventlog::test::is_slow ? 20'000 : 300'000;
constexpr std::uint32_t thread_count = 8;

void run_load(std::chrono::microseconds reader_pause, bool expect_loss) {
    listener ears("conservation:*", {128U << 10U, 4});
    checker check(ears);
    conservation::emit(step{0, check_of(0, thread_count), thread_count, ""});  // attaches
    std::atomic<std::uint32_t> running{thread_count};
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < thread_count; ++worker) {
        threads.emplace_back([worker, &running] {
            emit_steps(worker, events_per_thread);
            running.fetch_sub(1);
        });
    }
    while (running.load() != 0) {
        check.take();
        std::this_thread::sleep_for(reader_pause);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    ears.source().end();
    check.take();
    static_cast<void>(ears.reader().finish());
    const std::uint64_t attempted = thread_count * events_per_thread + 1;
    const elog::ring_totals totals = ears.totals();
    EXPECT_EQ(totals.damaged, 0U);
    EXPECT_EQ(totals.read, check.steps());
    EXPECT_EQ(totals.read + totals.lost + ears.lost_by_providers(), attempted);
    if (expect_loss) {
        EXPECT_GT(totals.lost, 0U);
    }
    std::uint64_t lost_by_provider = 0;
    for (const auto& [id, provider] : ears.providers()) {
        lost_by_provider += ears.reader().losses_of(id).full;
    }
    EXPECT_EQ(lost_by_provider, totals.lost);
}

TEST(conservation, holds_with_a_reader_that_keeps_up) {
    run_load(std::chrono::microseconds(100), false);
}

TEST(conservation, holds_with_a_reader_that_is_too_slow) {
    run_load(std::chrono::milliseconds(30), true);
}

TEST(conservation, holds_with_signal_handlers_that_emit_while_the_thread_emits) {
    struct sigaction action {};
    action.sa_handler = emit_from_handler;
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    interruptions = 0;
    listener ears("conservation:*", {1U << 20U, 4});
    checker check(ears);
    conservation::emit(step{0, check_of(0, 0), 0, ""});
    std::atomic<bool> done{false};
    std::thread worker([&] {
        for (std::uint64_t i = 1; i <= events_per_thread; ++i) {
            conservation::emit(step{i, check_of(i, 0), 0, letters.substr(0, i % 50)});
        }
        done = true;
        while (done) {
            std::this_thread::yield();  // stays while signals may still come
        }
    });
    while (!done) {
        for (int i = 0; i < 20; ++i) {
            ::pthread_kill(worker.native_handle(), SIGUSR1);
        }
        check.take();
    }
    done = false;
    worker.join();
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    ears.source().end();
    check.take();
    static_cast<void>(ears.reader().finish());
    const elog::ring_totals totals = ears.totals();
    EXPECT_GT(check.handled(), 0U);
    EXPECT_EQ(check.steps() + check.handled(), totals.read);
    EXPECT_EQ(totals.read + totals.lost + ears.lost_by_providers(),
              events_per_thread + 1 + interruptions.load());
}

TEST(conservation, holds_while_other_subscriptions_come_and_go) {
    listener ears("conservation:step", {1U << 20U, 4});
    checker check(ears);
    conservation::emit(step{0, check_of(0, thread_count), thread_count, ""});
    std::atomic<std::uint32_t> running{2};
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
        threads.emplace_back([worker, &running] {
            emit_steps(worker, events_per_thread);
            running.fetch_sub(1);
        });
    }
    int others = 0;
    while (running.load() != 0) {
        listener other("conservation:step");
        check.take();
        other.poll();
        other.finish();
        EXPECT_EQ(other.totals().damaged, 0U);
        ++others;
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    ears.source().end();
    check.take();
    static_cast<void>(ears.reader().finish());
    EXPECT_GT(others, 0);
    EXPECT_EQ(ears.totals().read + ears.totals().lost + ears.lost_by_providers(),
              2 * events_per_thread + 1);
}

}  // namespace
