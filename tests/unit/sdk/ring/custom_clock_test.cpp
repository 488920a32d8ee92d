// SPDX-License-Identifier: MIT
//
// Events with times by a custom clock of the program.
#include "ring/custom_clock.hpp"

#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "record/clock_converter.hpp"
#include "ring/clock.hpp"
#include "ring/rseq.hpp"
#include "ring_fixture.hpp"
#include "run_in_child.hpp"
#include "scoped_environment.hpp"

namespace {

using namespace std::chrono_literals;
using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::run_in_child;

struct step {
    std::uint64_t number;
};
struct note {
    std::string_view text;
};
using simulation = eventlog::provider<"simulation", step, note>;

constexpr std::uint64_t mega = 1'000'000;
// In nanoseconds: the machine's clocks are read one after the other, and their rate is measured
// over some milliseconds.
constexpr std::int64_t precision = 100'000;

std::atomic<std::uint64_t> counter{0};

std::uint64_t read_counter(void* /*context*/) {
    return counter.load();
}

/// A counter of real time; the context points to its frequency.
std::uint64_t read_ticks(void* context) {
    const std::uint64_t now = eventlog::core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
    return static_cast<std::uint64_t>(static_cast<double>(now) *
                                      static_cast<double>(*static_cast<std::uint64_t*>(context)) /
                                      1e9);
}

eventlog_clock_source source_of(std::uint64_t (*read)(void*), std::uint64_t frequency,
                                std::uint32_t bits = 64, void* context = nullptr) {
    return {sizeof(eventlog_clock_source), bits, frequency, read, context};
}

/// With subscriptions on the processor's counter and on CLOCK_MONOTONIC.
class custom_clock : public ::testing::TestWithParam<const char*> {
  public:
    custom_clock() { counter = 5'000'000'000; }
    ~custom_clock() override {
        eventlog_set_clock(nullptr);
        eventlog::core::recalibration_interval = interval;
    }
    custom_clock(const custom_clock&) = delete;
    custom_clock& operator=(const custom_clock&) = delete;

  protected:
    static bool set(const eventlog_clock_source& source) { return eventlog_set_clock(&source); }

    /// The received times, as nanoseconds of CLOCK_MONOTONIC.
    std::vector<std::int64_t> received_times() {
        const std::uint32_t kind = listener.source().header().clock;
        if (kind == EVENTLOG_CLOCK_TSC) {
            std::this_thread::sleep_for(5ms);  // measures the rate
        }
        elog::clock_converter clock(kind);
        clock.add(first);
        clock.add(eventlog::core::read_clock_sample(kind));
        listener.poll();
        std::vector<std::int64_t> times;
        for (const received_record& record : listener.records()) {
            times.push_back(clock.monotonic(record.header.time));
        }
        return times;
    }

    const std::int64_t interval = eventlog::core::recalibration_interval;
    const eventlog::test::scoped_environment_variable tsc{"EVENTLOG_TSC", GetParam()};
    const eventlog::test::pinned_to_one_cpu pinned;
    event_listener listener{"simulation:*"};
    eventlog_clock_sample first =
        eventlog::core::read_clock_sample(listener.source().header().clock);
};

std::int64_t machine_now() {
    return static_cast<std::int64_t>(eventlog::core::read_clock(EVENTLOG_CLOCK_MONOTONIC));
}

TEST_P(custom_clock, sets_event_time_differences) {
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    simulation::emit(step{0});
    counter += 5 * mega;
    simulation::emit(step{1});
    counter += 1;
    simulation::emit(step{2});
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 3U);
    EXPECT_NEAR(static_cast<double>(times[1] - times[0]), 5e9,
                5e6);  // the rate over 5 ms is imprecise
    EXPECT_NEAR(static_cast<double>(times[2] - times[1]), 1000, 10);
}

TEST_P(custom_clock, starts_at_system_clock) {
    const std::int64_t before = machine_now();
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    const std::int64_t after = machine_now();
    simulation::emit(step{0});
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 1U);
    EXPECT_GT(times[0], before - precision);
    EXPECT_LT(times[0], after + precision);
}

TEST_P(custom_clock, stamps_events_on_every_path) {
    event_listener other(std::vector<std::string>{"simulation:*#"},
                         {7});  // a session filter disables the fast path
    simulation::emit(step{0});
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    simulation::emit(step{1});
    simulation::emit(note{"brief"});
    const std::string longer(700, 'x');
    simulation::emit(note{longer});
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 4U);
    EXPECT_NEAR(static_cast<double>(times[2] - times[1]), 0, precision);
    EXPECT_NEAR(static_cast<double>(times[3] - times[1]), 0, precision);
    EXPECT_EQ(listener.records()[0].header.flags, 0);
    for (std::size_t i = 1; i < times.size(); ++i) {
        EXPECT_EQ(listener.records()[i].header.flags, EVENTLOG_RECORD_CUSTOM_TIME) << i;
    }
}

TEST_P(custom_clock, applies_to_later_subscriptions) {
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    event_listener late("simulation:*");
    simulation::emit(step{0});
    counter += 3;
    simulation::emit(step{1});
    late.poll();
    ASSERT_EQ(late.records().size(), 2U);
    EXPECT_EQ(late.records()[0].header.flags, EVENTLOG_RECORD_CUSTOM_TIME);
    EXPECT_GT(late.records()[1].header.time, late.records()[0].header.time);
}

TEST_P(custom_clock, may_step_back_and_stop) {
    ASSERT_TRUE(set(source_of(read_counter, 1000)));
    simulation::emit(step{0});
    simulation::emit(step{1});
    counter -= 10;
    simulation::emit(step{2});
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 3U);
    EXPECT_NEAR(static_cast<double>(times[1] - times[0]), 0, precision);
    EXPECT_NEAR(static_cast<double>(times[2] - times[0]), -10e6, 1e5);
}

TEST_P(custom_clock, handles_impossible_times) {
    ASSERT_TRUE(set(source_of(read_counter, 1)));
    for (const std::uint64_t value :
         {std::uint64_t{0}, UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 3}) {
        counter = value;
        simulation::emit(step{value});
    }
    listener.poll();
    ASSERT_EQ(listener.records().size(), 4U);
    for (const received_record& record : listener.records()) {
        EXPECT_NE(record.header.time, 0U);
        EXPECT_EQ(record.header.flags, EVENTLOG_RECORD_CUSTOM_TIME);
    }
}

TEST_P(custom_clock, narrow_counter_unwraps_across_long_pause) {
    // Both counters wrap every 11 ms, close to the limit.
    struct {
        std::uint32_t bits;
        std::uint64_t frequency;
    } const counters[] = {{16, 6'000'000}, {24, 1'536'000'000}};
    for (const auto& [bits, ticks] : counters) {
        std::uint64_t frequency = ticks;
        ASSERT_TRUE(set(source_of(read_ticks, frequency, bits, &frequency)));
        listener.clear_records();
        std::vector<std::pair<std::int64_t, std::int64_t>> real;  // before and after
        for (const auto pause : {0ms, 1ms, 25ms, 4ms, 60ms}) {
            std::this_thread::sleep_for(pause);
            const std::int64_t before = machine_now();
            simulation::emit(step{0});
            real.emplace_back(before, machine_now());
        }
        const std::vector<std::int64_t> times = received_times();
        ASSERT_EQ(times.size(), real.size());
        for (std::size_t i = 0; i < times.size(); ++i) {
            EXPECT_GT(times[i], real[i].first - precision) << bits << " bits, event " << i;
            EXPECT_LT(times[i], real[i].second + precision) << bits << " bits, event " << i;
        }
    }
}

TEST_P(custom_clock, ignores_bits_above_its_width) {
    std::uint64_t frequency = 1000 * mega;
    const auto read = [](void* context) {
        static std::atomic<std::uint64_t> noise{0};
        return (noise += 0x5500'0000'0000) | (read_ticks(context) & 0xffffffffU);
    };
    ASSERT_TRUE(set(source_of(read, frequency, 32, &frequency)));
    const std::int64_t before = machine_now();
    simulation::emit(step{0});
    const std::int64_t after = machine_now();
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 1U);
    EXPECT_GT(times[0], before - precision);
    EXPECT_LT(times[0], after + precision);
}

TEST_P(custom_clock, can_be_unset) {
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    simulation::emit(step{0});
    ASSERT_TRUE(eventlog_set_clock(nullptr));
    const std::int64_t before = machine_now();
    simulation::emit(step{1});
    const std::int64_t after = machine_now();
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 2U);
    EXPECT_EQ(listener.records()[1].header.flags, 0);
    EXPECT_GT(times[1], before - precision);
    EXPECT_LT(times[1], after + precision);
}

TEST_P(custom_clock, disables_fast_path_while_set) {
    simulation::emit(step{0});
    const eventlog::core::subscription_slot* slot = eventlog::test::slot_of(listener);
    ASSERT_NE(slot, nullptr);
    const std::uint32_t usual = slot->fast_cpus;
    const bool has_counter = listener.source().header().clock == EVENTLOG_CLOCK_TSC;
    EXPECT_EQ(usual != 0, has_counter && eventlog::core::rseq_available());
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    EXPECT_EQ(slot->fast_cpus, 0U);
    ASSERT_TRUE(eventlog_set_clock(nullptr));
    EXPECT_EQ(slot->fast_cpus, usual);
}

TEST_P(custom_clock, invalid_is_rejected_without_effect) {
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    EXPECT_FALSE(set(source_of(nullptr, mega)));
    EXPECT_FALSE(set(source_of(read_counter, 0)));
    EXPECT_FALSE(set(source_of(read_counter, 10'000 * mega + 1)));
    EXPECT_FALSE(set(source_of(read_counter, mega, 0)));
    EXPECT_FALSE(set(source_of(read_counter, mega, 7)));
    EXPECT_FALSE(set(source_of(read_counter, mega, 65)));
    EXPECT_FALSE(set(source_of(read_counter, 26'000, 8)));  // wraps after 9.8 ms
    EXPECT_TRUE(set(source_of(read_counter, 25'000, 8)));   // after 10.2 ms
    EXPECT_TRUE(set(source_of(read_counter, 10'000 * mega)));
    eventlog_clock_source old = source_of(read_counter, mega);
    old.size = 8;
    EXPECT_FALSE(set(old));
    simulation::emit(step{0});
    listener.poll();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_EQ(listener.records()[0].header.flags, EVENTLOG_RECORD_CUSTOM_TIME);
}

TEST_P(custom_clock, continues_in_forked_child) {
    ASSERT_TRUE(set(source_of(read_counter, mega)));
    ASSERT_EQ(run_in_child([] {
                  simulation::emit(step{0});
                  counter += 2 * mega;
                  simulation::emit(step{1});
                  return 0;
              }),
              0);
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 2U);
    EXPECT_NEAR(static_cast<double>(times[1] - times[0]), 2e9, 2e6);
}

// The delay hides a number of wraps from the library; the next reading corrects it.
TEST_P(custom_clock, narrow_counter_recovers_after_delayed_read) {
    static std::atomic<std::chrono::milliseconds> delay{0ms};
    static std::uint64_t frequency = 6'000'000;
    const auto read = [](void* /*context*/) {
        std::this_thread::sleep_for(delay.load());
        return read_ticks(&frequency);
    };
    ASSERT_TRUE(set(source_of(read, frequency, 16)));
    // Two readings that seem 4 ms too early each, in a wrap of 11 ms.
    for (const auto some : {7ms, 3ms}) {
        std::this_thread::sleep_for(3ms);
        delay = some;
        simulation::emit(step{0});
    }
    delay = 0ms;
    const std::int64_t before = machine_now();
    simulation::emit(step{1});
    const std::int64_t after = machine_now();
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 3U);
    EXPECT_GT(times[2], before - precision);
    EXPECT_LT(times[2], after + precision);
}

// Emitting from a clock function is forbidden, but it terminates, and the events are received.
TEST_P(custom_clock, emitting_from_clock_function_does_not_recurse) {
    const auto read = [](void* /*context*/) {
        simulation::emit(note{"read"});
        return counter.load();
    };
    ASSERT_TRUE(set(source_of(read, mega)));
    listener.poll();
    listener.clear_records();
    simulation::emit(step{0});
    listener.poll();
    ASSERT_FALSE(listener.records().empty());
    EXPECT_LT(listener.records().size(),
              20U);  // some paths read the clock more than once per event
    EXPECT_EQ(listener.event_name(listener.records().back()), "step");
}

// A clock function may block, and may call the library.
TEST_P(custom_clock, blocking_clock_function_does_not_block_providers) {
    static std::atomic<bool> is_reading{false};
    static std::atomic<bool> has_answer{false};
    is_reading = false;
    has_answer = false;
    const auto read = [](void* /*context*/) {
        is_reading = true;
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!has_answer && std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(1ms);
        }
        EXPECT_TRUE(has_answer);
        return counter.load();
    };
    std::thread other([] {
        while (!is_reading) {
            std::this_thread::yield();
        }
        EXPECT_EQ(simulation::status().code, EVENTLOG_STATUS_OK);
        has_answer = true;
    });
    EXPECT_TRUE(set(source_of(read, mega)));
    other.join();
}

/// A <chrono> clock that advances in steps of three seconds.
struct leaping_clock {
    using duration = std::chrono::duration<std::int64_t, std::milli>;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<leaping_clock>;
    static time_point now() { return time_point(duration(leaps * 3000)); }
    static std::atomic<int> leaps;
};
std::atomic<int> leaping_clock::leaps{0};

TEST_P(custom_clock, accepts_chrono_clock) {
    eventlog::set_clock<leaping_clock>();
    simulation::emit(step{0});
    ++leaping_clock::leaps;
    simulation::emit(step{1});
    eventlog::reset_clock();
    simulation::emit(step{2});
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 3U);
    EXPECT_NEAR(static_cast<double>(times[1] - times[0]), 3e9, 3e6);
    EXPECT_EQ(listener.records()[2].header.flags, 0);
}

// Neither the new frequency nor the new origin applies to the old clock's value.
TEST_P(custom_clock, replacement_during_read_yields_consistent_time) {
    enum stages { passing, stopping, stopped, going_on };
    static std::atomic<int> stage{passing};
    const auto read = [](void* /*context*/) {
        int expected = stopping;
        if (stage.compare_exchange_strong(expected, stopped)) {
            while (stage != going_on) {
                std::this_thread::yield();
            }
        }
        return counter.load();
    };
    eventlog::core::recalibration_interval = 1'000'000;
    ASSERT_TRUE(set(source_of(read, mega)));
    std::this_thread::sleep_for(15ms);  // so that the machine's clocks need another reading
    counter += 1000 * mega;
    stage = stopping;
    std::thread emitter([] { simulation::emit(step{0}); });
    while (stage != stopped) {
        std::this_thread::yield();
    }
    const std::int64_t before = machine_now();
    EXPECT_TRUE(set(source_of([](void* /*context*/) { return std::uint64_t{7}; }, 1000)));
    const std::int64_t after = machine_now();
    stage = going_on;
    emitter.join();
    const std::vector<std::int64_t> times = received_times();
    ASSERT_EQ(times.size(), 1U);
    EXPECT_GT(times[0], before - precision);
    EXPECT_LT(times[0], after + precision);
}

// Threads and a signal handler emit while other threads replace the clock. Each event has the time
// of one of the clocks, which all count real time. The library recalibrates both every two
// milliseconds; their frequencies differ so much that ticks of one would be seconds of the other.
TEST_P(custom_clock, is_consistent_per_event_under_concurrent_replacement) {
    static std::uint64_t slow = 3'276'800;
    static std::uint64_t fast = 1000 * mega;
    const auto emit = [](int /*signal*/) { simulation::emit(step{1}); };
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = emit;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    const std::int64_t begin = machine_now();
    simulation::emit(step{0});
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&stop] {
            while (!stop) {
                simulation::emit(step{0});
                std::this_thread::sleep_for(50us);
            }
        });
    }
    for (int round = 0; round < 15; ++round) {
        EXPECT_TRUE(set(source_of(read_ticks, slow, 16, &slow)));
        ::pthread_kill(threads[0].native_handle(), SIGUSR1);
        EXPECT_TRUE(set(source_of(read_ticks, fast, 24, &fast)));
        ::pthread_kill(threads[1].native_handle(), SIGUSR1);
        EXPECT_TRUE(eventlog_set_clock(nullptr));
        listener.poll();
    }
    stop = true;
    for (std::thread& thread : threads) {
        thread.join();
    }
    ::sigaction(SIGUSR1, &before, nullptr);
    const std::int64_t end = machine_now();
    std::size_t own = 0;
    const std::vector<std::int64_t> times = received_times();
    for (std::size_t i = 0; i < times.size(); ++i) {
        EXPECT_GT(times[i], begin - precision);
        EXPECT_LT(times[i], end + precision);
        own += listener.records()[i].header.flags == EVENTLOG_RECORD_CUSTOM_TIME ? 1U : 0U;
    }
    EXPECT_GT(own, 0U);
    EXPECT_LT(own, times.size());
}

INSTANTIATE_TEST_SUITE_P(tsc, custom_clock, ::testing::Values("on", "off"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
