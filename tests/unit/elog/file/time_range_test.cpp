// SPDX-License-Identifier: MIT
//
// Time ranges on each clock of a recording during which CLOCK_REALTIME was set and the machine
// slept: through the index, the records are those that a full reading selects.
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "file_mutator.hpp"
#include "record/ring_records.hpp"
#include "recording_sample.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

using elog::display_clock;

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t steps = 400;  // of a second
constexpr std::array clocks{display_clock::realtime, display_clock::monotonic,
                            display_clock::boottime, display_clock::tai};

/// CLOCK_MONOTONIC of a step.
constexpr std::uint64_t time_of_step(std::uint64_t step) {
    return (1000 + step) * second;
}

/// A mark in the middle of a step.
elog::recording_mark mark_of_step(std::uint64_t step, std::uint64_t number, elog::mark_kind kind) {
    return {time_of_step(step) + second / 2, number, kind};
}

void write_block(elog::file_writer& writer, std::uint64_t begin) {
    constexpr std::uint64_t count = 20;
    std::uint64_t next = begin;
    const test::bytes records =
        elog::map_times(elog::run_reader(test::make_records(1, count)), [&](std::uint64_t) {
            next += second / (count + 1);
            return next;
        });
    elog::record_run run;
    run.count = count;
    run.bytes = records;
    writer.write_run(run);
}

/// CLOCK_REALTIME is set back by 20 s and ahead again, every 10 s. The machine sleeps for 15 s
/// before step 100. Eight pauses begin, one every three steps, after step 45, and end after step
/// 300. With `late` marks, which are written after all blocks, the recording is not finished.
class unsteady_recording {
  public:
    explicit unsteady_recording(const std::vector<elog::recording_mark>& late = {}) {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        writer.write_provider(test::mark_provider());
        for (std::uint64_t step = 0; step < steps; ++step) {
            const std::uint64_t time = time_of_step(step);
            const std::uint64_t back = step / 10 % 2 == 0 ? 0 : 20 * second;
            writer.write_clock({time, time, 1'700'000'000 * second + time - back});
            if (step == 0 || step == 100) {
                const std::int64_t slept = step == 0 ? 5 : 20;
                writer.write_offsets({time, slept * std::int64_t{second}, 37'000'000'000});
            }
            write_block(writer, time);
            write_marks(writer, step);
        }
        for (const elog::recording_mark& mark : late) {
            writer.write_mark(mark);
        }
        if (late.empty()) {
            writer.write_end();
        }
    }
    ~unsteady_recording() { static_cast<void>(::unlink(path.c_str())); }
    unsteady_recording(const unsteady_recording&) = delete;
    unsteady_recording& operator=(const unsteady_recording&) = delete;

    const std::string path = test::scratch_directory() + "/unsteady.elog";

  private:
    const test::scoped_environment_variable interval{"EVENTLOG_TEST_INDEX_BYTES", "32768"};

    static void write_marks(elog::file_writer& writer, std::uint64_t step) {
        for (std::uint64_t number = 1; number <= 8; ++number) {
            if (step == 45 + 3 * number) {
                writer.write_mark(mark_of_step(step, number, elog::mark_kind::pause));
            }
            if (step == 300 + 3 * number) {
                writer.write_mark(mark_of_step(step, number, elog::mark_kind::resume));
            }
        }
    }
};

std::vector<std::uint64_t> times_in(elog::file_reader& file) {
    std::vector<std::uint64_t> times;
    file.read([&](const elog::merged_record& record) { times.push_back(record.record.time); });
    return times;
}

/// Of the times in the whole file, those in the range.
std::vector<std::uint64_t> selected(const elog::file_reader& whole,
                                    const std::vector<std::uint64_t>& all,
                                    const elog::time_range& range) {
    std::vector<std::uint64_t> found;
    for (const std::uint64_t time : all) {
        if (range.contains(elog::to_display_time(range.clock, whole.clock(), time))) {
            found.push_back(time);
        }
    }
    return found;
}

elog::time_range range_of(display_clock clock, const elog::file_reader& whole, std::uint64_t first,
                          std::uint64_t last) {
    return {elog::to_display_time(clock, whole.clock(), time_of_step(first)),
            elog::to_display_time(clock, whole.clock(), time_of_step(last)), clock};
}

TEST(time_range, on_any_clock_selects_the_records_that_are_in_it) {
    const unsteady_recording recording;
    elog::file_reader whole(recording.path);
    const std::vector<std::uint64_t> all = times_in(whole);
    for (const display_clock clock : clocks) {
        for (std::uint64_t first = 3; first + 25 < steps; first += 13) {
            for (const std::uint64_t length : {4U, 25U}) {
                const elog::time_range range = range_of(clock, whole, first, first + length);
                elog::file_reader part(recording.path, range);
                EXPECT_EQ(times_in(part), selected(whole, all, range))
                    << elog::name_of(clock) << " " << first << " " << length;
                EXPECT_TRUE(part.used_index());
                EXPECT_LT(part.bytes_read(), whole.bytes_read());
            }
        }
    }
}

/// Changes the blocks with offsets and notes.
template <class Change>
void change_hints(const std::string& path, const Change& change) {
    test::mutable_file file(test::contents(path));
    for (test::mutable_block& block : file.blocks) {
        if (block.is(elog::block_type::offsets) || block.is(elog::block_type::note)) {
            change(block);
        }
    }
    test::replace(path, file.written());
}

/// The records and the pauses of some ranges are those of a full reading.
void expect_same_as_whole(const std::string& path, bool uses_index) {
    elog::file_reader whole(path);
    const std::vector<std::uint64_t> all = times_in(whole);
    for (const display_clock clock : {display_clock::boottime, display_clock::tai}) {
        for (const std::uint64_t first : {15U, 205U, 250U, 375U}) {
            const elog::time_range range = range_of(clock, whole, first, first + 4);
            elog::file_reader part(path, range);
            EXPECT_EQ(part.used_index(), uses_index);
            EXPECT_EQ(times_in(part), selected(whole, all, range))
                << elog::name_of(clock) << " " << first;
            for (const elog::recording_mark& mark : part.marks()) {
                EXPECT_EQ(part.clock().realtime(mark.time), whole.clock().realtime(mark.time));
            }
        }
    }
}

/// Flags above the low byte only inform, and a later version may have more members.
TEST(time_range, uses_offsets_and_pauses_of_a_newer_version) {
    const unsteady_recording flagged;
    change_hints(flagged.path, [](test::mutable_block& block) { block.flags |= 0x100; });
    expect_same_as_whole(flagged.path, true);
    const unsteady_recording longer;
    change_hints(longer.path, [](test::mutable_block& block) { block.grow_head(16); });
    expect_same_as_whole(longer.path, true);
}

TEST(time_range, with_unreadable_offsets_is_read_from_the_whole_file) {
    const unsteady_recording recording;
    bool is_first = true;
    change_hints(recording.path, [&](test::mutable_block& block) {
        if (block.is(elog::block_type::offsets) && !is_first) {
            constexpr std::uint16_t head_size = 8;
            std::memcpy(block.payload.data(), &head_size, sizeof head_size);
        }
        is_first = false;
    });
    expect_same_as_whole(recording.path, false);
}

TEST(time_range, on_steady_clock_is_one_part_of_the_recording) {
    const unsteady_recording recording;
    elog::file_reader whole(recording.path);
    for (const display_clock clock : {display_clock::monotonic, display_clock::boottime}) {
        const elog::time_range range = range_of(clock, whole, 205, 215);
        elog::file_reader part(recording.path, range);
        const std::vector<std::uint64_t> times = times_in(part);
        ASSERT_EQ(times.size(), 200U) << elog::name_of(clock);
        EXPECT_GE(times.front(), time_of_step(205));
        EXPECT_LT(times.back(), time_of_step(215));
    }
}

TEST(time_range, of_unfinished_file_selects_the_same_records_on_any_clock) {
    const unsteady_recording recording;
    test::bytes data = test::contents(recording.path);
    const std::vector<test::block_location> blocks = test::blocks_of(data);
    data.resize(blocks[blocks.size() - 40].offset);
    test::replace(recording.path, data);
    elog::file_reader whole(recording.path);
    const std::vector<std::uint64_t> all = times_in(whole);
    for (const display_clock clock : clocks) {
        for (const std::uint64_t first : {15U, 95U, 205U, 375U}) {
            const elog::time_range range = range_of(clock, whole, first, first + 14);
            elog::file_reader part(recording.path, range);
            EXPECT_EQ(times_in(part), selected(whole, all, range))
                << elog::name_of(clock) << " " << first;
        }
    }
}

TEST(time_range, needs_the_clock_readings_that_convert_its_records) {
    const unsteady_recording recording;
    elog::file_reader whole(recording.path);
    for (const display_clock clock : clocks) {
        elog::file_reader part(recording.path, range_of(clock, whole, 205, 215));
        const std::vector<std::uint64_t> times = times_in(part);
        elog::clock_converter converter(EVENTLOG_CLOCK_MONOTONIC);
        for (const eventlog_clock_sample& reading : part.required_clock_readings()) {
            converter.add(reading);
        }
        for (const std::uint64_t time : times) {
            ASSERT_EQ(converter.realtime(time), whole.clock().realtime(time));
        }
        EXPECT_LT(converter.pairs().size(), steps / 2);
    }
}

/// CLOCK_TAI is set back by 37 s within a step, at whose begin CLOCK_REALTIME was wrong.
TEST(time_range, on_tai_needs_the_clock_readings_around_a_change_of_its_offset) {
    constexpr std::uint64_t changed = 30;
    const std::uint64_t within = time_of_step(changed) + second / 4;
    const std::string path = test::scratch_directory() + "/tai.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_provider(test::mark_provider());
    for (std::uint64_t step = 0; step < 2 * changed; ++step) {
        const std::uint64_t time = time_of_step(step);
        const std::uint64_t back = step == changed ? 3000 * second : 0;
        writer.write_clock({time, time, 1'700'000'000 * second + time - back});
        if (step == 0) {
            writer.write_offsets({time, 0, 37'000'000'000});
        } else if (step == changed) {
            writer.write_offsets({time + second / 2, 0, 0});
        }
    }
    const test::bytes records = elog::map_times(elog::run_reader(test::make_records(1, 1)),
                                                [&](std::uint64_t) { return within; });
    elog::record_run run;
    run.count = 1;
    run.bytes = records;
    writer.write_run(run);
    writer.write_end();
    const elog::file_reader whole(path);
    const std::int64_t tai = whole.clock().tai(within);
    const elog::file_reader part(path, {tai, tai + 1, display_clock::tai});
    elog::clock_converter copy(EVENTLOG_CLOCK_MONOTONIC);
    for (const eventlog_clock_sample& reading : part.required_clock_readings()) {
        copy.add(reading);
    }
    EXPECT_EQ(copy.realtime(within), whole.clock().realtime(within));
    EXPECT_LT(copy.pairs().size(), changed);
}

TEST(time_range, has_pauses_with_the_times_of_a_full_reading) {
    const unsteady_recording recording;
    const elog::file_reader whole(recording.path);
    const std::vector<elog::recording_mark> all = whole.marks();
    ASSERT_EQ(all.size(), 16U);
    for (const display_clock clock : clocks) {
        for (const std::uint64_t first : {150U, 205U, 250U}) {
            const elog::file_reader part(recording.path, range_of(clock, whole, first, first + 5));
            EXPECT_TRUE(part.used_index());
            EXPECT_EQ(part.marks(), all) << elog::name_of(clock) << " " << first;
            elog::clock_converter copy(EVENTLOG_CLOCK_MONOTONIC);
            for (const eventlog_clock_sample& reading : part.required_clock_readings()) {
                copy.add(reading);
            }
            for (const elog::recording_mark& mark : all) {
                const std::int64_t wanted = whole.clock().realtime(mark.time);
                EXPECT_EQ(part.clock().realtime(mark.time), wanted) << mark.number;
                EXPECT_EQ(copy.realtime(mark.time), wanted) << mark.number;
            }
        }
    }
}

/// Some of the sections between the range and the marks are not selected, in which CLOCK_REALTIME
/// was set.
TEST(time_range, has_times_of_pauses_that_follow_the_last_index) {
    std::vector<elog::recording_mark> late;
    for (std::uint64_t step = 100; step < 180; step += 5) {
        late.push_back(mark_of_step(step, step, elog::mark_kind::pause));
    }
    const unsteady_recording recording(late);
    const elog::file_reader whole(recording.path);
    const elog::file_reader part(recording.path,
                                 range_of(display_clock::realtime, whole, 290, 295));
    EXPECT_EQ(part.marks(), whole.marks());
    for (const elog::recording_mark& mark : late) {
        EXPECT_EQ(part.clock().realtime(mark.time), whole.clock().realtime(mark.time))
            << mark.number;
    }
    EXPECT_EQ(part.providers().size(), whole.providers().size());
    EXPECT_EQ(part.damages(), std::vector<std::string>());
}

TEST(time_range, of_unfinished_file_with_a_pause_at_its_end_uses_the_index) {
    const unsteady_recording recording({mark_of_step(steps - 1, 9, elog::mark_kind::pause)});
    const elog::file_reader whole(recording.path);
    const elog::file_reader part(recording.path,
                                 range_of(display_clock::realtime, whole, 205, 215));
    EXPECT_TRUE(part.used_index());
}

/// Within a long time without records, CLOCK_REALTIME is wrong for 10 s. Records of that time, as
/// those of custom clocks may have, follow the last index.
TEST(time_range, of_unfinished_file_has_late_records_of_any_time) {
    const test::scoped_environment_variable interval("EVENTLOG_TEST_INDEX_BYTES", "32768");
    const std::string path = test::scratch_directory() + "/late.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_provider(test::mark_provider());
    for (std::uint64_t step = 0; step < 100; ++step) {
        const std::uint64_t back = step >= 45 && step < 55 ? 20 * second : 0;
        for (std::uint64_t part = 0; part < 50; ++part) {
            const std::uint64_t time = time_of_step(step) + part * second / 50;
            writer.write_clock({time, time, 1'700'000'000 * second + time - back});
        }
        if (step < 10 || step >= 90) {
            write_block(writer, time_of_step(step));
        }
    }
    write_block(writer, time_of_step(50));
    elog::file_reader whole(path);
    const std::vector<std::uint64_t> all = times_in(whole);
    const elog::time_range range = range_of(display_clock::realtime, whole, 50, 51);
    elog::file_reader part(path, range);
    EXPECT_EQ(times_in(part), selected(whole, all, range));
    EXPECT_EQ(all.size(), 21U * 20);
    EXPECT_GE(selected(whole, all, range).size(), 20U);
    elog::file_reader early(path, range_of(display_clock::realtime, whole, 2, 4));
    EXPECT_TRUE(early.used_index());
}

/// A TSC goes on for an hour while the machine sleeps, before step 100, and CLOCK_MONOTONIC stops.
constexpr std::uint64_t tsc_of_step(std::uint64_t step) {
    return time_of_step(step) + (step < 100 ? 0 : 3600 * second);
}

void write_tsc_recording(const std::string& path) {
    elog::file_writer writer(path, EVENTLOG_CLOCK_TSC, 1);
    writer.write_provider(test::mark_provider());
    for (std::uint64_t step = 0; step < steps; ++step) {
        const std::uint64_t time = tsc_of_step(step);
        writer.write_clock({time, time_of_step(step), 1'700'000'000 * second + time});
        const test::bytes records =
            elog::map_times(elog::run_reader(test::make_records(1, 20)),
                            [&](std::uint64_t) { return time + second / 2; });
        elog::record_run run;
        run.sequence = step * 20;
        run.count = 20;
        run.bytes = records;
        writer.write_run(run);
    }
    writer.write_end();
}

TEST(time_range, of_tsc_selects_records_of_a_section_in_which_the_machine_slept) {
    const test::scoped_environment_variable interval("EVENTLOG_TEST_INDEX_BYTES", "32768");
    const std::string path = test::scratch_directory() + "/tsc.elog";
    write_tsc_recording(path);
    elog::file_reader whole(path);
    const std::vector<std::uint64_t> all = times_in(whole);
    ASSERT_EQ(all.size(), steps * 20);
    for (const display_clock clock : {display_clock::realtime, display_clock::monotonic}) {
        for (std::uint64_t step = 0; step + 2 < steps; ++step) {
            const elog::time_range range{
                elog::to_display_time(clock, whole.clock(), tsc_of_step(step)),
                elog::to_display_time(clock, whole.clock(), tsc_of_step(step + 2)), clock};
            elog::file_reader part(path, range);
            EXPECT_TRUE(part.used_index());
            EXPECT_EQ(times_in(part), selected(whole, all, range))
                << elog::name_of(clock) << " " << step;
            EXPECT_LT(part.bytes_read(), whole.bytes_read());
        }
    }
}

}  // namespace
