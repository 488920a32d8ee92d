// SPDX-License-Identifier: MIT
//
// A flight recorder, and a recording that is read meanwhile, are paused and resumed many times
// while threads write to them. Every event emitted before a pause or after a resume is recorded or
// counted as lost, none that is emitted in between is, and no event is recorded or counted twice.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "build_kind.hpp"
#include "detached_recorder.hpp"
#include "memory/pause_log.hpp"
#include "ring/clock.hpp"

namespace {

using eventlog::test::detached_recorder;
using std::chrono::microseconds;

struct beat {
    std::uint64_t number;
};
using flight_pause = eventlog::provider<"flight_pause", beat>;

/// What the recorder was during an emit. Emits during a change may count as before or behind it.
enum class phase : std::uint8_t { recording, paused, changing };

/// Counts half the steps: 0 recording, 1 pausing, 2 paused, 3 resuming, 4 recording, ...
constexpr phase phase_of(std::uint64_t step) noexcept {
    return step % 2 != 0 ? phase::changing : step % 4 == 0 ? phase::recording : phase::paused;
}

constexpr std::uint64_t worker_shift = 32;

void spin(std::chrono::nanoseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
}

struct pace {
    std::size_t events = 0;  // of each thread, at most
    std::chrono::nanoseconds interval{0};
    bool fills_rings = false;
};

/// Emits numbered events, and notes what the recorder was during each.
class worker {
  public:
    worker(std::uint64_t index, const std::atomic<std::uint64_t>& step, pace with)
        : index_(index), step_(step), interval_(with.interval), phases_(with.events) {}

    void run(const std::atomic<bool>& enough) {
        while (!enough.load(std::memory_order_relaxed) && emitted_ < phases_.size()) {
            const std::uint64_t before = step_.load();
            flight_pause::emit(beat{index_ << worker_shift | emitted_});
            const std::uint64_t after = step_.load();
            const phase found = before == after ? phase_of(before) : phase::changing;
            phases_[emitted_++] = found;
            // Without a listener an event takes no time, and the numbers would be used up.
            if (found == phase::paused || interval_.count() != 0) {
                spin(std::max<std::chrono::nanoseconds>(interval_, microseconds(1)));
            }
        }
    }

    [[nodiscard]] phase at(std::uint64_t number) const { return phases_[number]; }
    [[nodiscard]] std::size_t emitted() const { return emitted_; }
    [[nodiscard]] std::uint64_t count(phase wanted) const {
        return static_cast<std::uint64_t>(std::count(
            phases_.begin(), phases_.begin() + static_cast<std::ptrdiff_t>(emitted_), wanted));
    }

  private:
    std::uint64_t index_;
    const std::atomic<std::uint64_t>& step_;
    std::chrono::nanoseconds interval_;
    std::vector<phase> phases_;
    std::size_t emitted_ = 0;
};

/// A recording of this process, as by elog record.
class owned_recorder {
  public:
    owned_recorder(std::string_view pattern, detached_recorder::options with)
        : source_(options_of(pattern, with)), process_(source_, sink_) {}

    [[nodiscard]] elog::recording& subscription() { return process_; }
    void drain() { process_.poll(); }
    /// Ends it, and reads the rest.
    [[nodiscard]] const eventlog::test::recorder_contents& read() {
        if (!found_) {
            const elog::recording_summary summary = process_.end();
            found_ = contents_of(sink_, summary);
        }
        return *found_;
    }

  private:
    static elog::subscription_options options_of(std::string_view pattern,
                                                 detached_recorder::options with) {
        elog::subscription_options wanted;
        wanted.patterns.add(std::string(pattern));
        wanted.buffer_size = with.buffer_size;
        wanted.buffers_per_cpu = with.buffers_per_cpu;
        return wanted;
    }

    elog::subscription source_;
    eventlog::test::number_sink sink_;
    elog::recording process_;
    std::optional<eventlog::test::recorder_contents> found_;
};

void drain(detached_recorder& /*recorder*/) {}
void drain(owned_recorder& recorder) {
    recorder.drain();
}

// Small rings are full in between.
constexpr int drain_interval = 40;

/// Pauses and resumes, and says so before and behind each change.
template <class Recorder>
void pause_and_resume(Recorder& recorder, std::atomic<std::uint64_t>& step, int cycles) {
    for (int cycle = 0; cycle < cycles; ++cycle) {
        const microseconds length(100 * (cycle % 7));
        if (cycle % drain_interval == 0) {
            drain(recorder);
        }
        std::this_thread::sleep_for(length);
        ++step;
        recorder.subscription().pause();
        ++step;
        std::this_thread::sleep_for(microseconds(600) - length);
        ++step;
        recorder.subscription().resume();
        ++step;
    }
}

std::uint64_t lost_in_full_rings() {
    return flight_pause::status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_full;
}

std::uint64_t lost_by_program() {
    const eventlog_counters all = flight_pause::status().routes[EVENTLOG_ROUTE_MEMORY].counters;
    return all.lost_full + all.lost_too_large + all.lost_busy + all.lost_unattached;
}

class load {
  public:
    load(std::uint64_t threads, pace with) : running_(threads) {
        for (std::uint64_t i = 0; i < threads; ++i) {
            workers_.push_back(std::make_unique<worker>(i, step, with));
        }
        for (const auto& each : workers_) {
            threads_.emplace_back([this, &each] {
                each->run(enough_);
                --running_;
            });
        }
    }
    ~load() { finish(); }
    load(const load&) = delete;
    load& operator=(const load&) = delete;

    void finish() {
        enough_.store(true);
        for (std::thread& each : threads_) {
            each.join();
        }
        threads_.clear();
    }
    [[nodiscard]] const std::vector<std::unique_ptr<worker>>& workers() const { return workers_; }
    [[nodiscard]] bool have_ended() const { return running_.load() == 0; }
    [[nodiscard]] std::uint64_t count(phase wanted) const {
        std::uint64_t sum = 0;
        for (const auto& each : workers_) {
            sum += each->count(wanted);
        }
        return sum;
    }

    std::atomic<std::uint64_t> step{0};

  private:
    std::atomic<bool> enough_{false};
    std::atomic<std::uint64_t> running_;
    std::vector<std::unique_ptr<worker>> workers_;
    std::vector<std::thread> threads_;
};

/// Waits for an event that was emitted after the last resume: the program attaches when it can.
void wait_for_recorded_event(const detached_recorder& recorder, const load& emitters) {
    // Each thread may be in an emit that began before the resume ended.
    const std::size_t enough = recorder.read().numbers.size() + emitters.workers().size() + 1;
    for (auto now = recorder.read();
         now.numbers.size() < enough && now.summary.full == 0 && !emitters.have_ended();
         now = recorder.read()) {
        std::this_thread::sleep_for(microseconds(100));
    }
}

void wait_for_recorded_event(owned_recorder& recorder, const load& emitters) {
    recorder.drain();
    const std::uint64_t enough =
        recorder.subscription().current_summary().events + emitters.workers().size() + 1;
    for (auto now = recorder.subscription().current_summary();
         now.events < enough && now.full == 0 && !emitters.have_ended();
         now = recorder.subscription().current_summary()) {
        std::this_thread::sleep_for(microseconds(100));
        recorder.drain();
    }
}

const int pause_cycles = eventlog::test::is_slow_run() ? 100 : 400;
/// More than are used up while the program cannot attach yet.
constexpr pace full_speed{12'000'000, {}, true};
/// All events of both threads fit into the ring of one CPU, at most 32 bytes each.
constexpr pace fitting{200'000, microseconds(10)};
constexpr detached_recorder::options fitting_rings{4U << 20U, 4, false};

/// Adds the events that were certainly emitted in a pause to `paused`.
template <class Recorder>
void check_conservation(Recorder& recorder, int cycles, pace with, std::uint64_t& paused) {
    const std::uint64_t lost_before = lost_by_program();
    const std::uint64_t full_before = lost_in_full_rings();
    load emitters(2, with);
    pause_and_resume(recorder, emitters.step, cycles);
    wait_for_recorded_event(recorder, emitters);
    // The rings of a slow machine are not full yet.
    while (with.fills_rings && lost_in_full_rings() == full_before && !emitters.have_ended()) {
        std::this_thread::sleep_for(microseconds(100));
    }
    emitters.finish();
    const auto found = recorder.read();
    ASSERT_EQ(std::adjacent_find(found.numbers.begin(), found.numbers.end()), found.numbers.end())
        << "an event was recorded twice";
    std::uint64_t certain = 0;
    for (const std::uint64_t each : found.numbers) {
        const worker& by = *emitters.workers().at(each >> worker_shift);
        const std::uint64_t number = each & ((std::uint64_t{1} << worker_shift) - 1);
        ASSERT_LT(number, by.emitted());
        ASSERT_NE(by.at(number), phase::paused) << "event " << number;
        certain += by.at(number) == phase::recording ? 1 : 0;
    }
    const std::uint64_t uncertain = found.numbers.size() - certain;
    const std::uint64_t lost = lost_by_program() - lost_before;
    const std::uint64_t missing = emitters.count(phase::recording) - certain;
    EXPECT_GE(lost, missing);
    EXPECT_LE(lost, missing + emitters.count(phase::changing) - uncertain);
    // The same, by the recorder's counts. Only the program counts what it could not attach for.
    EXPECT_LE(found.summary.lost, lost);
    EXPECT_EQ(found.summary.overwritten, 0U);
    EXPECT_EQ(found.damaged_sequences, 0U);
    EXPECT_GT(certain, 0U);
    paused += emitters.count(phase::paused);
}

template <class Recorder>
void expect_conservation(Recorder& recorder, int cycles, pace with) {
    std::uint64_t paused = 0;
    check_conservation(recorder, cycles, with, paused);
    EXPECT_GT(paused, 0U);
}

/// Each recorder is new, so that the program attaches during the first pauses. Beside load no
/// thread may run in the five pauses of a recorder, but in one of a hundred.
template <class Recorder>
void expect_conservation_while_attaching() {
    std::uint64_t paused = 0;
    for (int round = 0; round < 20; ++round) {
        Recorder recorder("flight_pause:*", fitting_rings);
        check_conservation(recorder, 5, fitting, paused);
    }
    EXPECT_GT(paused, 0U);
}

TEST(flight_pause, conserves_events_without_losses) {
    detached_recorder recorder("flight_pause:*", fitting_rings);
    expect_conservation(recorder, pause_cycles, fitting);
    EXPECT_EQ(recorder.read().summary.full, 0U);
    EXPECT_EQ(elog::read_pauses(recorder.file()).count, static_cast<std::uint32_t>(pause_cycles));
    const std::vector<elog::recording_mark> last = recorder.read().marks;
    ASSERT_EQ(last.size(), std::size_t{2} * EVENTLOG_PAUSES_MAX);
    EXPECT_EQ(last.front().number, std::uint64_t(pause_cycles) - EVENTLOG_PAUSES_MAX + 1);
    EXPECT_EQ(last.back().number, std::uint64_t(pause_cycles));
}

TEST(flight_pause, conserves_events_in_full_rings) {
    detached_recorder recorder("flight_pause:*", {128U << 10U, 2, false});
    expect_conservation(recorder, pause_cycles, full_speed);
    EXPECT_GT(recorder.read().summary.full, 0U);
}

/// Begins and ends in turn, and in the order of time.
void expect_marks(const std::vector<elog::recording_mark>& marks, int cycles) {
    ASSERT_EQ(marks.size(), 2 * static_cast<std::size_t>(cycles));
    EXPECT_TRUE(std::is_sorted(marks.begin(), marks.end()));
    for (std::size_t i = 0; i < marks.size(); ++i) {
        EXPECT_EQ(marks[i].number, i / 2 + 1);
        EXPECT_EQ(marks[i].kind, i % 2 == 0 ? elog::mark_kind::pause : elog::mark_kind::resume);
    }
}

TEST(record_pause, conserves_events_without_losses) {
    owned_recorder recorder("flight_pause:*", fitting_rings);
    expect_conservation(recorder, pause_cycles, fitting);
    EXPECT_EQ(recorder.read().summary.full, 0U);
    expect_marks(recorder.read().marks, pause_cycles);
}

TEST(record_pause, conserves_events_in_full_rings) {
    owned_recorder recorder("flight_pause:*", {128U << 10U, 2, false});
    expect_conservation(recorder, pause_cycles, full_speed);
    EXPECT_GT(recorder.read().summary.full, 0U);
    expect_marks(recorder.read().marks, pause_cycles);
}

TEST(record_pause, conserves_events_while_programs_attach) {
    expect_conservation_while_attaching<owned_recorder>();
}

TEST(flight_pause, conserves_events_while_programs_attach) {
    expect_conservation_while_attaching<detached_recorder>();
}

/// Nothing is missing outside of the times that the log has.
TEST(flight_pause, log_covers_all_dropped_events) {
    detached_recorder recorder("flight_pause:*", {1U << 20U, 4, false});
    flight_pause::emit(beat{0});
    const std::uint32_t clock = recorder.subscription().region().header.clock;
    for (int cycle = 0; cycle < 40; ++cycle) {
        const std::uint64_t before = eventlog::core::read_clock_ordered(clock);
        recorder.subscription().pause();
        const std::uint64_t paused = eventlog::core::read_clock_ordered(clock);
        recorder.subscription().resume();
        const std::uint64_t after = eventlog::core::read_clock_ordered(clock);
        const elog::recorder_pause last = elog::read_pauses(recorder.file()).last.back();
        EXPECT_GE(last.begin, before);
        EXPECT_LE(last.begin, paused);
        EXPECT_GE(last.end, paused);
        EXPECT_LE(last.end, after);
    }
    EXPECT_EQ(elog::read_pauses(recorder.file()).count, 40U);
    EXPECT_EQ(elog::read_pauses(recorder.file()).last.size(), std::size_t{EVENTLOG_PAUSES_MAX});
}

}  // namespace
