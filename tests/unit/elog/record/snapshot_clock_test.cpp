// SPDX-License-Identifier: MIT
#include "record/snapshot_clock.hpp"

#include <cstdint>
#include <cstdlib>
#include <span>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "decoded_records.hpp"
#include "listener.hpp"
#include "memory/recording.hpp"
#include "record/clock_converter.hpp"
#include "ring/clock.hpp"

namespace {

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t hour = 3600 * second;
constexpr std::uint64_t year = hour * 24 * 365;

/// Three ticks per nanosecond.
struct machine {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic = 0;
    std::uint64_t realtime = 50 * year;

    void run(std::uint64_t time) {
        ticks += 3 * time;
        monotonic += time;
        realtime += time;
    }
    [[nodiscard]] eventlog_clock_sample read() const { return {ticks, monotonic, realtime}; }
};

class snapshot_clock : public ::testing::Test {
  protected:
    snapshot_clock() {
        state.run(hour);
        header.clock = EVENTLOG_CLOCK_TSC;
        header.clock_start = state.read();
    }

    /// The error, in nanoseconds, of the shown time of an event emitted a minute ago.
    std::int64_t error_of_a_minute_ago() {
        state.run(10 * second);
        const eventlog_clock_sample said = state.read();
        state.run(60 * second);
        const eventlog_clock_sample now = state.read();
        state.run(second / 50);
        const eventlog_clock_sample later = state.read();
        elog::clock_converter clock(header.clock);
        clock.add(elog::extrapolate_start_reading(header, now, later));
        clock.add(later);
        EXPECT_EQ(clock.pairs().size(), 2U);
        return clock.realtime(said.clock) - static_cast<std::int64_t>(said.realtime);
    }

    machine state;
    eventlog_region header{};
};

TEST_F(snapshot_clock, equals_start_clock_without_changes) {
    EXPECT_LT(std::abs(error_of_a_minute_ago()), 1000);
    const eventlog_clock_sample now = state.read();
    state.run(second / 50);
    const eventlog_clock_sample start = elog::extrapolate_start_reading(header, now, state.read());
    EXPECT_EQ(start.clock, header.clock_start.clock);
    EXPECT_EQ(start.monotonic, header.clock_start.monotonic);
    EXPECT_EQ(start.realtime, header.clock_start.realtime);
}

TEST_F(snapshot_clock, handles_wall_clock_step) {
    for (const std::uint64_t step : {8 * hour, year, 0 - 8 * hour}) {
        state.realtime += step;
        EXPECT_LT(std::abs(error_of_a_minute_ago()), 1000) << step;
    }
}

TEST_F(snapshot_clock, handles_suspend_with_running_ticks) {
    state.ticks += 8 * hour * 3;
    state.realtime += 8 * hour;
    EXPECT_LT(std::abs(error_of_a_minute_ago()), 1000);
}

TEST_F(snapshot_clock, handles_suspend_with_stopped_ticks) {
    state.realtime += 8 * hour;
    EXPECT_LT(std::abs(error_of_a_minute_ago()), 1000);
}

TEST_F(snapshot_clock, handles_suspend_with_reset_ticks) {
    state.ticks = 0;
    state.realtime += 8 * hour;
    EXPECT_LT(std::abs(error_of_a_minute_ago()), 1000);
}

TEST_F(snapshot_clock, passes_nanoseconds_through) {
    header.clock = EVENTLOG_CLOCK_MONOTONIC;
    header.clock_start = {hour, hour, 50 * year};
    const eventlog_clock_sample now{2 * hour, 2 * hour, 60 * year};
    const eventlog_clock_sample start = elog::extrapolate_start_reading(header, now, now);
    EXPECT_EQ(start.clock, hour);
    EXPECT_EQ(start.realtime, 60 * year - hour);
}

TEST_F(snapshot_clock, never_exceeds_now_with_any_header) {
    const eventlog_clock_sample now = state.read();
    state.run(second / 50);
    const std::uint64_t clock = now.clock;
    const std::uint64_t monotonic = now.monotonic;
    for (const std::uint64_t each : {std::uint64_t{0}, clock, clock + 1, UINT64_MAX}) {
        for (const std::uint64_t other : {std::uint64_t{0}, monotonic + 1, UINT64_MAX}) {
            header.clock_start = {each, other, each};
            const eventlog_clock_sample start =
                elog::extrapolate_start_reading(header, now, state.read());
            EXPECT_LE(start.clock, now.clock);
            EXPECT_LE(start.monotonic, now.monotonic);
        }
    }
    // Equal readings determine no rate.
    EXPECT_EQ(elog::extrapolate_start_reading(header, now, now).clock, now.clock);
}

struct tick {
    std::uint64_t number;
};
using present_clock_test = eventlog::provider<"present_clock_test", tick>;

/// Keeps the clock readings, and the time of the last record.
class time_sink : public elog::record_sink {
  public:
    void start(const elog::region_view& source) override {
        clock = elog::clock_converter(source.header.clock);
    }
    void take_clock(const eventlog_clock_sample& pair) override { clock.add(pair); }
    void take_provider(const elog::provider_instance& /*provider*/) override {}
    void take_run(const elog::record_run& run) override {
        last = eventlog::test::decode_records(run).back().time;
    }
    void take_loss(const elog::loss_report& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

    elog::clock_converter clock;
    std::uint64_t last = 0;
};

TEST(recording, in_overwrite_mode_converts_times_by_final_clock) {
    elog::subscription_options options;
    options.patterns.add("present_clock_test:*");
    options.buffer_size = 128U << 10U;
    options.overwrite = true;
    elog::subscription source(options);
    // The clock was set by eight hours since the start.
    const_cast<eventlog_region&>(source.header()).clock_start.realtime -= 8 * hour;
    time_sink sink;
    elog::recording process(source, sink);
    present_clock_test::emit(tick{1});
    const std::uint64_t said = eventlog::core::read_clock_sample(EVENTLOG_CLOCK_MONOTONIC).realtime;
    static_cast<void>(process.run([] { return true; }));
    ASSERT_NE(sink.last, 0U);
    const std::int64_t away = sink.clock.realtime(sink.last) - static_cast<std::int64_t>(said);
    EXPECT_LT(std::abs(away), static_cast<std::int64_t>(hour));
}

}  // namespace
