// SPDX-License-Identifier: MIT
//
// Files with records of custom clocks contain all of them, find each by its time, and keep the
// order of all other records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "custom_clock_recording.hpp"
#include "file/block_file.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/index_chain.hpp"
#include "file/recording_follower.hpp"
#include "import/file_merge.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::custom_clock;

/// The numbers of the records by the machine's clock, in order of time.
numbers order_by_time(std::vector<timed> all) {
    all.erase(std::remove_if(all.begin(), all.end(), [](const timed& each) { return each.is_own; }),
              all.end());
    std::stable_sort(all.begin(), all.end(),
                     [](const timed& one, const timed& other) { return one.time < other.time; });
    numbers found;
    for (const timed& each : all) {
        found.push_back(each.number);
    }
    return found;
}

void expect_all(const contents& found, const std::vector<timed>& written) {
    EXPECT_EQ(found.twice, 0U);
    ASSERT_EQ(found.records.size(), written.size());
    for (const timed& each : written) {
        const auto record = found.records.find(each.number);
        ASSERT_NE(record, found.records.end());
        EXPECT_EQ(record->second.time, each.time);
        EXPECT_EQ(record->second.is_own, each.is_own);
    }
    EXPECT_EQ(found.order_of_other_records, order_by_time(written));
}

TEST(custom_clock_file, contains_all_records) {
    for (const auto& [name, own] : custom_clocks) {
        SCOPED_TRACE(name);
        const custom_clock_recording recording("strange.elog", own);
        expect_all(read(recording.path), recording.written);
        EXPECT_TRUE(elog::check_file(recording.path).damages.empty());
    }
}

/// Requires index sections to choose from, one of them without records.
void expect_sections(const std::string& path, std::size_t least) {
    elog::block_file file(path);
    const auto sections = elog::read_index_chain(file);
    ASSERT_TRUE(sections.has_value());
    EXPECT_GE(sections->size(), least);
    const auto has_none = [](const elog::index_section& each) { return each.head.records == 0; };
    EXPECT_TRUE(std::any_of(sections->begin(), sections->end(), has_none));
}

TEST(custom_clock_file, time_range_matches_full_file) {
    std::mt19937_64 random(4);
    for (const auto& [name, own] : custom_clocks) {
        SCOPED_TRACE(name);
        for (const bool is_ended : {true, false}) {
            const custom_clock_recording recording("parts.elog", own, is_ended);
            expect_sections(recording.path, 5);
            const contents whole = read(recording.path);
            std::vector<std::int64_t> times;
            for (const auto& [number, record] : whole.records) {
                times.push_back(record.realtime);
            }
            std::sort(times.begin(), times.end());
            constexpr std::size_t parts = 6;
            for (std::size_t i = 0; i < parts; ++i) {
                const std::size_t even = (2 * i + 1) * times.size() / (2 * parts);
                const std::int64_t from = times[i % 2 == 0 ? even : random() % times.size()];
                const std::int64_t length = i % 4 < 2 ? 1 : std::int64_t{1} << random() % 33;
                const elog::time_range range{from, i + 1 == parts ? INT64_MAX : from + length};
                elog::file_reader file(recording.path, range);
                EXPECT_TRUE(file.used_index());
                const contents part = read(file);
                std::map<std::uint64_t, shown> expected;
                for (const auto& [number, record] : whole.records) {
                    if (range.contains(record.realtime)) {
                        expected.emplace(number, record);
                    }
                }
                EXPECT_EQ(part.twice, 0U);
                EXPECT_EQ(part.records, expected) << from << " " << range.to;
            }
        }
    }
}

TEST(custom_clock_file, merge_keeps_all_times) {
    for (const auto& [name, own] : custom_clocks) {
        SCOPED_TRACE(name);
        const custom_clock_recording one("one.elog", own);
        const custom_clock_recording other("other.elog", slow, true, 1'000'000);
        const std::string path = test::scratch_directory() + "/merged.elog";
        const elog::merge_summary summary = elog::merge_files({other.path, one.path}, {path});
        std::vector<timed> all = other.written;
        all.insert(all.end(), one.written.begin(), one.written.end());
        EXPECT_EQ(summary.copied.records, all.size());
        const contents merged = read(path);
        expect_all(merged, all);
        EXPECT_TRUE(elog::check_file(path).damages.empty());
        for (const std::string& part : {one.path, other.path}) {
            for (const auto& [number, record] : read(part).records) {
                const auto found = merged.records.find(number);
                ASSERT_NE(found, merged.records.end());
                EXPECT_EQ(found->second, record);
            }
        }
    }
}

/// A recording on a clock of nanoseconds with a single clock reading.
std::string write_small_event(const std::string& name, const std::vector<timed>& wanted) {
    std::string path = test::scratch_directory() + "/" + name;
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = 1;
    host.recording = 78;
    elog::file_writer writer(path, host);
    writer.write_clock({5, 5, second});
    writer.write_provider(test::mark_provider());
    const test::bytes records = records_of(wanted);
    elog::record_run run;
    run.count = wanted.size();
    run.bytes = records;
    writer.write_run(run);
    writer.write_end();
    return path;
}

TEST(custom_clock_file, opens_quickly_with_future_times) {
    const std::string early =
        write_small_event("early.elog", {{100, second, true}, {1, 10}, {3, 30}});
    const std::string late = write_small_event("late.elog", {{2, 20}, {4, 40}});
    EXPECT_EQ(elog::file_reader(early).earliest(), 0U);
    EXPECT_EQ(elog::file_reader(late).earliest(), 20U);
    const std::string path = test::scratch_directory() + "/in_time.elog";
    static_cast<void>(elog::merge_files({late, early}, {path}));
    EXPECT_EQ(read(path).order_of_other_records, (numbers{1, 2, 3, 4}));
}

TEST(custom_clock_library, yields_and_copies_future_times_without_waiting) {
    const std::string path = test::scratch_directory() + "/copied_by_library.elog";
    std::vector<elog::source> parts;
    parts.push_back(elog::open(
        write_small_event("own.elog", {{1, 10}, {100, second, true}, {3, 30}, {101, 7, true}})));
    parts.push_back(elog::open(write_small_event("others.elog", {{2, 20}, {4, 40}})));
    elog::source merged = elog::merge(std::move(parts));
    elog::sink copy = elog::write_file(path);
    numbers found;
    for (const elog::record& record : merged) {
        found.push_back(record["number"].as<std::uint64_t>().value_or(0));
        copy.put(record);
    }
    copy.finish();
    EXPECT_EQ(found, (numbers{1, 100, 2, 3, 101, 4}));
    const contents copied = read(path);
    EXPECT_EQ(copied.order_of_other_records, (numbers{1, 2, 3, 4}));
    ASSERT_EQ(copied.records.size(), 6U);
    EXPECT_TRUE(copied.records.at(100).is_own);
    EXPECT_EQ(copied.records.at(100).realtime, std::int64_t{2 * second - 5});
    EXPECT_TRUE(copied.records.at(101).is_own);
    EXPECT_EQ(copied.records.at(101).realtime, std::int64_t{second + 2});
}

TEST(custom_clock_file, keeps_clock_readings_for_time_range) {
    const custom_clock_recording recording("needed.elog", jumping);
    elog::file_reader whole(recording.path);
    EXPECT_EQ(whole.required_clock_readings().size(),
              custom_clock_recording::seconds + custom_clock_recording::quiet_readings);
    const std::int64_t from = 10'022 * std::int64_t{second};
    elog::file_reader part(recording.path, {from, from + std::int64_t{second}});
    const std::vector<eventlog_clock_sample> needed = part.required_clock_readings();
    ASSERT_GE(needed.size(), 4U);
    EXPECT_LT(needed.size(), 8U);
    constexpr std::uint64_t first = start + custom_clock_recording::late;
    EXPECT_EQ(needed.front().monotonic, first);
    EXPECT_EQ(needed.back().monotonic, first + custom_clock_recording::seconds * second);
    elog::clock_converter fewer(EVENTLOG_CLOCK_TSC);
    for (const eventlog_clock_sample& reading : needed) {
        fewer.add(reading);
    }
    const contents found = read(part);
    EXPECT_GT(found.records.size(), 0U);
    for (const auto& [number, record] : found.records) {
        EXPECT_EQ(fewer.realtime(record.time), record.realtime);
    }
}

TEST(custom_clock_file, follow_shows_records_with_future_times) {
    const std::string path = test::scratch_directory() + "/followed.elog";
    std::optional<elog::file_writer> writer;
    writer.emplace(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer->write_clock({10, 10, second}, 10);
    writer->write_provider(test::mark_provider());
    const auto write = [&](std::uint32_t ring, std::uint64_t sequence, std::vector<timed> wanted) {
        const test::bytes records = records_of(wanted);
        elog::record_run run;
        run.ring = ring;
        run.sequence = sequence;
        run.count = wanted.size();
        run.bytes = records;
        writer->write_run(run);
    };
    write(0, 0, {{1, 15}, {2, UINT64_MAX, true}, {3, 1, true}, {4, 40}});
    write(1, 0, {{5, 3600 * second, true}, {6, 2, true}});
    writer->write_clock({30, 30, second + 20}, 30);
    numbers found;
    std::vector<std::size_t> found_when_idle;
    elog::recording_follower recording(path);
    recording.follow([&](const elog::merged_record& record,
                         const elog::clock_converter&) { found.push_back(number_of(record)); },
                     [&] {
                         found_when_idle.push_back(found.size());
                         if (found_when_idle.size() == 1) {
                             write(1, 2, {{7, 3600 * second, true}});
                         } else if (writer) {
                             writer->write_end();
                             writer.reset();
                         }
                     },
                     [] { return false; });
    // All but the fourth record: an earlier one could still follow.
    ASSERT_GE(found_when_idle.size(), 2U);
    EXPECT_EQ(found_when_idle[0], 5U);
    EXPECT_EQ(found_when_idle[1], 6U);
    EXPECT_EQ(found, (numbers{5, 6, 1, 2, 3, 7, 4}));
}

TEST(custom_clock_file, follow_frees_memory_of_shown_records) {
    const std::string path = test::scratch_directory() + "/followed_long.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.write_provider(test::mark_provider());
    constexpr std::uint64_t readings = 1000;
    for (std::uint64_t i = 1; i <= readings; ++i) {
        writer.write_clock({10 * i, 10 * i, second + 10 * i}, 10 * i);
        const test::bytes records = records_of({{i, 10 * i, i == readings - 10}});
        elog::record_run run;
        run.ring = i == readings - 10 ? 1 : 0;
        run.sequence = i == readings - 10 ? 0 : i - (i > readings - 10 ? 2 : 1);
        run.count = 1;
        run.bytes = records;
        writer.write_run(run);
    }
    elog::recording_follower recording(path);
    EXPECT_GE(recording.file().retained_locations(), 2 * readings - 1);
    numbers found;
    bool is_idle = false;
    recording.follow([&](const elog::merged_record& record,
                         const elog::clock_converter&) { found.push_back(number_of(record)); },
                     [&] { is_idle = true; }, [&] { return is_idle; });
    EXPECT_EQ(found, first_numbers(readings));
    EXPECT_LE(recording.file().retained_locations(), 2U);
}

}  // namespace
