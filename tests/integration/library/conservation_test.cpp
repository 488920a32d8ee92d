// SPDX-License-Identifier: MIT
//
// Under load, with more threads than CPUs, signal handlers and a temporarily slow reader: attempted
// = read + lost + overwritten, exactly; no record is torn or duplicated, and each thread's events
// are in order.
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
#include "listener.hpp"
#include "ring/clock.hpp"
#include "ring/rseq.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;

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

void emit_step(std::uint32_t worker, std::uint64_t number) {
    conservation::emit(
        step{number, check_of(number, worker), worker, letters.substr(0, number % 50)});
}

/// Threads that emit their share, and then continue until finish(). They pause when the allowed
/// number of events is emitted; at first there is no limit.
class workers {
  public:
    static constexpr std::uint64_t at_a_time = 100;

    workers(std::uint32_t count, std::uint64_t share, std::uint64_t allowed = UINT64_MAX)
        : allowed_(allowed) {
        for (std::uint32_t worker = 0; worker < count; ++worker) {
            threads_.emplace_back([this, worker, share] { work(worker, share); });
        }
    }

    /// The number of events emitted so far, or a few more.
    [[nodiscard]] std::uint64_t emitted() const { return emitted_.load(); }

    /// Limits the events of all threads together since their start. Each thread completes the
    /// events that it has begun.
    void allow(std::uint64_t events) { allowed_.store(events); }

    /// Sends a signal to the first thread, which lives until finish().
    void interrupt(int signal) { ::pthread_kill(threads_.front().native_handle(), signal); }

    /// Ends the threads and returns the number of emitted events.
    std::uint64_t finish() {
        enough_.store(true);
        for (std::thread& thread : threads_) {
            thread.join();
        }
        return emitted_.load();
    }

  private:
    void work(std::uint32_t worker, std::uint64_t share) {
        for (std::uint64_t i = 0; i < share || !enough_.load(); i += at_a_time) {
            const std::uint64_t last = emitted_.fetch_add(at_a_time) + at_a_time;
            while (last > allowed_.load() && !enough_.load()) {
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
            for (std::uint64_t k = 0; k < at_a_time; ++k) {
                emit_step(worker, i + k);
            }
        }
    }

    std::atomic<std::uint64_t> emitted_{0};
    std::atomic<std::uint64_t> allowed_;
    std::atomic<bool> enough_{false};
    std::vector<std::thread> threads_;
};

std::atomic<std::uint64_t> interruptions{0};

extern "C" void emit_from_handler(int /*signal*/) {
    const std::uint64_t number = interruptions.fetch_add(1);
    conservation::emit(interruption{number, check_of(number, 99)});
}

/// Pending signals of one kind merge into one. Sanitizers delay signals.
void wait_for_handler(std::uint64_t count) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
    while (interruptions < count && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
}

/// Checks every received record and discards it, so that memory stays small.
class checker {
  public:
    explicit checker(event_listener& listener) : listener_(listener) {}

    void take() {
        listener_.poll();
        for (const received_record& record : listener_.records()) {
            check(record);
        }
        listener_.clear_records();
    }

    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] std::uint64_t handled() const { return handled_; }

  private:
    std::uint64_t number(const received_record& record, const char* field) {
        return std::get<std::uint64_t>(listener_.field(record, field));
    }

    void check(const received_record& record) {
        const std::uint64_t index = number(record, "number");
        if (listener_.event_name(record) == "interruption") {
            ASSERT_EQ(number(record, "check"), check_of(index, 99));
            ++handled_;
            return;
        }
        const std::uint64_t worker = number(record, "worker");
        ASSERT_EQ(number(record, "check"), check_of(index, worker));
        ASSERT_EQ(std::get<std::string_view>(listener_.field(record, "text")),
                  letters.substr(0, index % 50));
        // Within a ring a thread's events are in order; the thread may change between rings.
        auto [place, first] = next_.try_emplace({record.ring, worker}, 0);
        ASSERT_GE(index, place->second);
        place->second = index + 1;
        // A ring is in order of time, and its sequence numbers have no gap except losses. If the
        // processor's clock cannot be read inside the restartable sequence, it is read before the
        // sequence, and an interrupted thread is late.
        auto [time, fresh] = time_.try_emplace(record.ring, 0);
        if (clock_ == EVENTLOG_CLOCK_TSC) {
            ASSERT_GE(record.header.time, time->second);
        }
        time->second = record.header.time;
        ++steps_;
    }

    event_listener& listener_;
    eventlog_clock clock_ = eventlog::core::best_clock();
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> next_;
    std::map<std::uint32_t, std::uint64_t> time_;
    std::uint64_t steps_ = 0;
    std::uint64_t handled_ = 0;
};

// Sanitizers and emulated processors are slow, and need fewer events.
const std::uint64_t events_per_thread = eventlog::test::is_slow_run() ? 20'000 : 300'000;
constexpr std::uint32_t thread_count = 8;

constexpr event_listener::options small_rings{128U << 10U, 4};
constexpr event_listener::options large_rings{1U << 20U, 4};
constexpr event_listener::options overwritten_rings{128U << 10U, 4, true};

/// Ends the subscription and checks the counts.
void expect_conservation(event_listener& listener, checker& check, std::uint64_t attempted) {
    listener.source().end();
    check.take();
    static_cast<void>(listener.reader().finish());
    const elog::ring_totals totals = listener.totals();
    EXPECT_EQ(totals.damaged, 0U);
    EXPECT_EQ(totals.read, check.steps() + check.handled());
    EXPECT_EQ(totals.read + totals.lost + totals.overwritten + listener.lost_by_providers(),
              attempted);
    std::uint64_t lost_by_provider = 0;
    for (const auto& [id, provider] : listener.providers()) {
        lost_by_provider += listener.reader().losses_of(id).full;
    }
    EXPECT_EQ(lost_by_provider, totals.lost);
}

/// The limit on unread events keeps them within the buffers, so that no event is lost whenever the
/// reader runs.
TEST(conservation, holds_without_loss_with_fast_reader) {
    constexpr std::uint64_t unread_max = 2000;
    constexpr std::uint64_t record_max = EVENTLOG_EXTENDED_HEADER_SIZE + 80;
    // A thread may have begun events beyond the limit when it is stopped.
    static_assert((unread_max + thread_count * workers::at_a_time + 1) * record_max <
                  (small_rings.buffers_per_cpu - 1) * (small_rings.buffer_size - record_max));
    const std::uint64_t wanted = thread_count * events_per_thread / 4;
    event_listener listener("conservation:*", small_rings);
    checker check(listener);
    emit_step(thread_count, 0);  // attaches the provider
    workers load(thread_count, 0, unread_max);
    std::uint64_t settled = 0;
    for (int idle = 0; load.emitted() < wanted && idle < 100'000; ++idle) {
        check.take();
        const std::uint64_t now =
            check.steps() + listener.totals().lost + listener.lost_by_providers();
        idle = now == settled ? idle : 0;
        settled = now;
        load.allow(settled + unread_max);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    EXPECT_GE(load.emitted(), wanted) << "for 10 s nothing was read or known to be lost";
    const std::uint64_t attempted = load.finish() + 1;
    expect_conservation(listener, check, attempted);
    EXPECT_EQ(listener.totals().lost, 0U);
    // On a shared ring, a thread gives up after waiting too long for its lock.
    EXPECT_LE(listener.lost_by_providers(), eventlog::core::rseq_available() ? 0 : attempted / 2);
}

TEST(conservation, holds_with_slow_reader) {
    // More than all rings hold, for any distribution of the writers.
    const std::uint64_t too_many = thread_count * events_per_thread / 3;
    event_listener listener("conservation:*", small_rings);
    checker check(listener);
    emit_step(thread_count, 0);
    workers load(thread_count, events_per_thread);
    for (std::uint64_t round = 1; round <= 3; ++round) {
        while (load.emitted() < round * too_many) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        check.take();
    }
    expect_conservation(listener, check, load.finish() + 1);
    EXPECT_GT(listener.totals().lost, 0U);
}

TEST(conservation, holds_in_overwrite_mode) {
    // In a slow build a round takes seconds: the reader shares the CPUs with all emitting threads.
    const std::uint64_t rounds = eventlog::test::is_slow_run() ? 5 : 20;
    const std::uint64_t round_size = thread_count * events_per_thread / rounds;
    event_listener listener("conservation:*", overwritten_rings);
    checker check(listener);
    emit_step(thread_count, 0);
    workers load(thread_count, events_per_thread);
    // The reader polls occasionally, and is overtaken while it copies.
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        while (load.emitted() < round * round_size) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        check.take();
    }
    expect_conservation(listener, check, load.finish() + 1);
    EXPECT_EQ(listener.totals().lost, 0U);
    EXPECT_GT(listener.totals().overwritten, 0U);
}

TEST(conservation, holds_with_emitting_signal_handlers) {
    constexpr std::uint64_t signal_count = 200;
    struct sigaction action {};
    action.sa_handler = emit_from_handler;
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    interruptions = 0;
    event_listener listener("conservation:*", large_rings);
    checker check(listener);
    emit_step(thread_count, 0);
    workers load(1, events_per_thread);
    // All events of the handler are lost, and counted, while signals arrive only when the thread
    // holds the lock of a shared ring: in an emulator that may last.
    while (load.emitted() < events_per_thread || interruptions < signal_count ||
           check.handled() == 0) {
        for (int i = 0; i < 20; ++i) {
            const std::uint64_t next = interruptions + 1;
            load.interrupt(SIGUSR1);
            wait_for_handler(next);
        }
        check.take();
    }
    const std::uint64_t steps = load.finish() + 1;
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    expect_conservation(listener, check, steps + interruptions);
}

TEST(conservation, holds_while_other_subscriptions_start_and_end) {
    constexpr int interfering_subscriptions = 10;
    event_listener listener("conservation:step", large_rings);
    checker check(listener);
    emit_step(thread_count, 0);
    workers load(2, events_per_thread);
    for (int others = 0;
         others < interfering_subscriptions || load.emitted() < 2 * events_per_thread; ++others) {
        event_listener other("conservation:step");
        check.take();
        other.poll();
        other.finish();
        EXPECT_EQ(other.totals().damaged, 0U);
    }
    expect_conservation(listener, check, load.finish() + 1);
}

}  // namespace
