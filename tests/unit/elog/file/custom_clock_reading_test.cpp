// SPDX-License-Identifier: MIT
//
// Reading records that a program has timed by a clock of its own: whatever that says, none is lost,
// none is waited for, each is found by its time, and all others are where they would be without it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "aggregate/aggregating_sink.hpp"
#include "aggregate/aggregator.hpp"
#include "file/block_file.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/index_chain.hpp"
#include "file/record_copier.hpp"
#include "file/recording_follower.hpp"
#include "import/file_merge.hpp"
#include "record/time_merger.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

struct timed {
    std::uint64_t number = 0;
    std::uint64_t time = 0;
    bool is_own = false;
};

/// As they stand in a ring.
test::bytes records_of(const std::vector<timed>& wanted) {
    test::bytes made;
    for (const timed& each : wanted) {
        test::bytes record = test::make_records(each.number, each.number);
        eventlog_record header{};
        std::memcpy(&header, record.data(), sizeof header);
        header.time = each.time;
        header.flags = each.is_own ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
        std::memcpy(record.data(), &header, sizeof header);
        made.insert(made.end(), record.begin(), record.end());
    }
    return made;
}

void add(elog::time_merger& merger, std::uint32_t ring, const std::vector<timed>& wanted) {
    const test::bytes records = records_of(wanted);
    elog::record_run run;
    run.ring = ring;
    run.count = wanted.size();
    run.bytes = records;
    merger.add(run);
}

std::uint64_t number_of(const elog::merged_record& record) {
    std::uint64_t number = 0;
    std::memcpy(&number, record.record.payload.data(), sizeof number);
    return number;
}

std::vector<std::uint64_t> merge(elog::time_merger& merger, std::uint64_t limit) {
    std::vector<std::uint64_t> numbers;
    merger.merge(limit, UINT64_MAX,
                 [&](const elog::merged_record& record) { numbers.push_back(number_of(record)); });
    return numbers;
}

using numbers = std::vector<std::uint64_t>;

TEST(custom_clock_merge, keeps_order_of_other_records) {
    for (const std::uint64_t any : {std::uint64_t{0}, std::uint64_t{25}, UINT64_MAX}) {
        elog::time_merger merger(2);
        add(merger, 0, {{1, 10}, {100, any, true}, {3, 30}, {101, any, true}, {5, 50}});
        add(merger, 1, {{2, 20}, {4, 40}, {6, 60}});
        numbers found = merge(merger, UINT64_MAX);
        EXPECT_EQ(found.size(), 8U);
        found.erase(std::remove_if(found.begin(), found.end(),
                                   [](std::uint64_t number) { return number >= 100; }),
                    found.end());
        EXPECT_EQ(found, (numbers{1, 2, 3, 4, 5, 6})) << any;
    }
}

TEST(custom_clock_merge, keeps_ring_order) {
    elog::time_merger merger(2);
    add(merger, 0, {{1, 10}, {100, UINT64_MAX, true}, {101, 1, true}, {3, 30}});
    add(merger, 1, {{2, 20}});
    EXPECT_EQ(merge(merger, UINT64_MAX), (numbers{1, 100, 101, 2, 3}));
}

TEST(custom_clock_merge, does_not_wait_for_future_or_past_times) {
    elog::time_merger merger(2);
    add(merger, 0, {{100, UINT64_MAX, true}, {1, 10}, {101, UINT64_MAX - 1, true}, {102, 3, true}});
    add(merger, 1, {{2, 20}});
    EXPECT_EQ(merge(merger, 0), (numbers{100}));
    EXPECT_EQ(merge(merger, 10), (numbers{1, 101, 102}));
    add(merger, 0, {{103, UINT64_MAX, true}});
    EXPECT_EQ(merge(merger, 10), (numbers{103}));
    EXPECT_EQ(merge(merger, 20), (numbers{2}));
}

TEST(custom_clock_merge, orders_by_custom_clock_if_it_is_the_only_clock) {
    elog::time_merger merger(3);
    add(merger, 0, {{1, 1000, true}, {4, 4000, true}, {5, 5000, true}});
    add(merger, 2, {{2, 2000, true}, {3, 3000, true}, {6, 6000, true}});
    EXPECT_EQ(merge(merger, 0), (numbers{1, 2, 3, 4, 5, 6}));
}

constexpr std::uint64_t second = 1'000'000'000;
constexpr std::uint64_t ticks = 3;  // in a nanosecond
constexpr std::uint64_t start = 100 * second;

/// A recording of half a minute, in several sections of the index, on a clock of 3 ticks a
/// nanosecond whose rate changes a little and whose wall clock is set back by an hour near the end.
/// Ring 0 has records of the machine's clock, ring 1 of a clock of its own, ring 2 both. For a
/// second there are none, but so many readings of the clocks that a section has nothing else.
class custom_clock_recording {
  public:
    static constexpr std::uint64_t seconds = 30;
    static constexpr std::uint64_t quiet_second = 20;
    static constexpr std::uint64_t quiet_readings = 2100;
    static constexpr std::uint64_t set_back_at = 28;
    static constexpr std::uint64_t blocks = 120;  // in a second
    static constexpr std::uint64_t in_block = 2;
    static constexpr std::uint64_t late = 300'000;  // readings, behind what they say is complete
    static constexpr std::uint32_t rings = 3;

    /// `own` says what the program's clock says, as nanoseconds of the machine's, at that time.
    template <class Clock>
    custom_clock_recording(const std::string& name, Clock own, bool is_ended = true,
                      std::uint64_t first_number = 1)
        : path(test::scratch_directory() + "/" + name), next_(first_number) {
        elog::host_block host{};
        host.clock = EVENTLOG_CLOCK_TSC;
        host.ring_count = rings;
        host.recording = 77;
        host.version = elog::file_version;
        elog::file_writer writer(path, host);
        writer.write_provider(test::mark_provider());
        std::vector<std::uint64_t> sequences(rings);
        for (std::uint64_t s = 0; s < seconds; ++s) {
            write_clock(writer, s * second);
            for (std::uint64_t i = 1; s == quiet_second && i < quiet_readings; ++i) {
                write_clock(writer, s * second + i * 400'000);
            }
            for (std::uint64_t b = 0; s != quiet_second && b < blocks; ++b) {
                const std::uint64_t begin = start + s * second + b * (second / blocks);
                write_block(writer, static_cast<std::uint32_t>(b % rings), begin, own, sequences);
            }
        }
        write_clock(writer, seconds * second);
        if (is_ended) {
            writer.write_end();
        }
    }

    /// The rate changes at each reading, by up to 40 millionths of a second. What is known of the
    /// records that follow is from a little before the reading, and some are from between.
    static void write_clock(elog::file_writer& writer, std::uint64_t complete) {
        const std::uint64_t passed = complete + late;
        const std::uint64_t set_back = passed < set_back_at * second ? 0 : 3600 * second;
        const std::uint64_t clock = ticks * (start + passed) + passed / 400'000 % 5 * 30'000;
        writer.write_clock({clock, start + passed, 10'000 * second + passed - set_back},
                           ticks * (start + complete));
    }

    const std::string path;
    std::vector<timed> written{};

  private:
    template <class Clock>
    void write_block(elog::file_writer& writer, std::uint32_t ring, std::uint64_t begin, Clock own,
                     std::vector<std::uint64_t>& sequences) {
        std::vector<timed> wanted;
        for (std::uint64_t i = 0; i < in_block; ++i) {
            const std::uint64_t time = begin + late / 2 + i * 1000;
            const bool is_own = ring == 1 || (ring == 2 && i % 2 == 1);
            wanted.push_back({next_++, ticks * (is_own ? own(time) : time), is_own});
        }
        written.insert(written.end(), wanted.begin(), wanted.end());
        const test::bytes records = records_of(wanted);
        elog::record_run run;
        run.ring = ring;
        run.sequence = sequences[ring];
        run.count = wanted.size();
        run.bytes = records;
        writer.write_run(run);
        sequences[ring] += wanted.size();
    }

    std::uint64_t next_;
};

using custom_clock_function = std::uint64_t (*)(std::uint64_t);

constexpr std::uint64_t backwards(std::uint64_t time) {
    return 2 * start + 40 * second - time;
}
constexpr std::uint64_t frozen(std::uint64_t /*time*/) {
    return start + 20 * second + second / 3;
}
/// Every third time an hour ahead, every third one behind the beginning of the recording.
constexpr std::uint64_t jumping(std::uint64_t time) {
    const std::uint64_t turn = time / 1000 % 3;
    return turn == 0 ? time : turn == 1 ? time + 3600 * second : time % (90 * second);
}
/// Anywhere in the recording and a little around it.
constexpr std::uint64_t out_of_order(std::uint64_t time) {
    return start - 2 * second + time * 0x9e3779b97f4a7c15U % (34 * second);
}
constexpr std::uint64_t slow(std::uint64_t time) {
    return start + (time - start) / 8;
}

const std::vector<std::pair<const char*, custom_clock_function>> custom_clocks = {
    {"backwards", backwards},
    {"frozen", frozen},
    {"jumping", jumping},
    {"out_of_order", out_of_order},
    {"slow", slow}};

struct shown {
    std::int64_t realtime = 0;
    std::uint64_t time = 0;
    bool is_own = false;

    bool operator==(const shown&) const = default;
};

struct contents {
    std::map<std::uint64_t, shown> records;  // by number
    numbers order_of_other_records;                 // those by the machine's clock
    std::size_t twice = 0;
};

contents read(elog::file_reader& file) {
    contents found;
    file.read([&](const elog::merged_record& record) {
        const eventlog_record& header = record.record.header;
        const std::uint64_t number = number_of(record);
        const shown one{file.clock().realtime(header.time), header.time,
                        elog::has_custom_time(header)};
        found.twice += found.records.emplace(number, one).second ? 0U : 1U;
        if (!one.is_own) {
            found.order_of_other_records.push_back(number);
        }
    });
    EXPECT_TRUE(file.damages().empty());
    return found;
}

contents read(const std::string& path, elog::time_range range = {}) {
    elog::file_reader file(path, range);
    return read(file);
}

/// Those that are by the machine's clock, by their time.
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

/// Otherwise tests of the index would have nothing to choose from.
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

/// On a clock of nanoseconds, of which nothing is known but one reading.
std::string write_small_event(const std::string& name, const std::vector<timed>& wanted) {
    std::string path = test::scratch_directory() + "/" + name;
    elog::host_block host{};
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = 1;
    host.recording = 78;
    host.version = elog::file_version;
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
    const std::string early = write_small_event("early.elog", {{100, second, true}, {1, 10}, {3, 30}});
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
    parts.push_back(elog::open_file(
        write_small_event("own.elog", {{1, 10}, {100, second, true}, {3, 30}, {101, 7, true}})));
    parts.push_back(elog::open_file(write_small_event("others.elog", {{2, 20}, {4, 40}})));
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

/// Some seconds of a ring of a clock that goes backwards, and of one that is mostly the machine's.
/// What is known of the first one's places is only what the clocks' readings say, which is a tenth
/// of a second before these.
std::string write_in_seconds(const std::string& name, std::uint32_t clock) {
    std::string path = test::scratch_directory() + "/" + name;
    elog::host_block host{};
    host.clock = clock;
    host.ring_count = 2;
    host.recording = 79;
    host.version = elog::file_version;
    const std::uint64_t unit = clock == EVENTLOG_CLOCK_TSC ? ticks : 1;
    elog::file_writer writer(path, host);
    writer.write_provider(test::mark_provider());
    std::vector<std::uint64_t> sequences(2);
    std::uint64_t next = 1;
    constexpr std::uint64_t tenth = second / 10;
    for (std::uint64_t now = start; now != start + 6 * second; now += second) {
        writer.write_clock({unit * now, now, 10'000 * second + now}, unit * (now - tenth));
        for (const std::uint32_t ring : {0U, 1U}) {
            std::vector<timed> wanted;
            for (std::uint64_t i = 1; i <= 4; ++i) {
                const std::uint64_t own = 2 * start - now - i;
                const bool is_own = ring == 0 || i == 3;
                wanted.push_back({next++, unit * (is_own ? own : now + i * tenth), is_own});
            }
            const test::bytes records = records_of(wanted);
            elog::record_run run;
            run.ring = ring;
            run.sequence = sequences[ring];
            run.count = wanted.size();
            run.bytes = records;
            writer.write_run(run);
            sequences[ring] += wanted.size();
        }
    }
    writer.write_end();
    return path;
}

numbers order_in(const std::string& path) {
    numbers found;
    elog::file_reader file(path);
    file.read([&](const elog::merged_record& record) { found.push_back(number_of(record)); });
    EXPECT_TRUE(elog::check_file(path).damages.empty());
    return found;
}

numbers first_numbers(std::size_t count) {
    numbers all(count);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

TEST(custom_clock_copy, of_copy_keeps_source_order) {
    for (const std::uint32_t clock : {EVENTLOG_CLOCK_TSC, EVENTLOG_CLOCK_MONOTONIC}) {
        std::string path = write_in_seconds("seconds.elog", clock);
        const numbers order = order_in(path);
        EXPECT_EQ(order, first_numbers(48));  // as they were written
        for (const char* name : {"/copy.elog", "/copy_of_copy.elog"}) {
            const std::string copy = test::scratch_directory() + name;
            static_cast<void>(elog::merge_files({path}, {copy}));
            EXPECT_EQ(order_in(copy), order) << clock;
            path = copy;
        }
    }
}

TEST(custom_clock_copy, made_through_library_keeps_source_order) {
    for (const std::uint32_t clock : {EVENTLOG_CLOCK_TSC, EVENTLOG_CLOCK_MONOTONIC}) {
        const std::string path =
            write_in_seconds("to_put" + std::to_string(clock) + ".elog", clock);
        const std::string copy = path + ".put";
        elog::sink sink = elog::write_file(copy);
        for (const elog::record& record : elog::open_file(path)) {
            sink.put(record);
        }
        sink.finish();
        EXPECT_EQ(order_in(copy), order_in(path)) << clock;
    }
}

/// Copies those with a clock of their own, of two rings in turn that have others between them.
elog::copy_summary copy_custom(const std::string& path, std::uint64_t count) {
    elog::record_copier copier({path}, EVENTLOG_CLOCK_TSC, 2);
    copier.add_reading({ticks * start, start, 10'000 * second});
    elog::provider_map providers;
    providers.emplace(std::uint16_t{0}, test::mark_provider());
    for (std::uint64_t number = 1; number <= count; ++number) {
        const test::bytes bytes = records_of({{number, count - number, true}});
        std::span<const std::uint8_t> rest = bytes;
        elog::merged_record record;
        record.ring = static_cast<std::uint32_t>(number % 2);
        record.record = elog::take_record(rest);
        record.place = ticks * start + number;
        copier.write(record, 0, providers);
    }
    return copier.finish();
}

TEST(custom_clock_copy, of_few_selected_records_keeps_order) {
    const std::string path = test::scratch_directory() + "/few.elog";
    EXPECT_EQ(copy_custom(path, 60).records, 60U);
    EXPECT_EQ(order_in(path), first_numbers(60));
}

TEST(custom_clock_copy, of_many_selected_records_keeps_order_data_small) {
    constexpr std::uint64_t count = 50'000;
    const std::string path = test::scratch_directory() + "/many.elog";
    const std::size_t size = records_of({{1, 1, true}}).size();
    const elog::copy_summary summary = copy_custom(path, count);
    EXPECT_EQ(summary.records, count);
    EXPECT_LT(summary.size, 2 * count * size);
    EXPECT_EQ(order_in(path).size(), count);
}

TEST(custom_clock_copy, time_range_matches_full_file) {
    for (const auto& [name, own] : custom_clocks) {
        SCOPED_TRACE(name);
        const custom_clock_recording recording("to_copy.elog", own);
        const std::string path = test::scratch_directory() + "/parts_of_copy.elog";
        static_cast<void>(elog::merge_files({recording.path}, {path}));
        const contents whole = read(path);
        constexpr auto first = static_cast<std::int64_t>(10'000 * second);
        for (const std::int64_t after : {-3600, -1800, 0, 3, 13, 20, 29, 3605}) {
            const std::int64_t from = first + after * static_cast<std::int64_t>(second);
            const elog::time_range range{from, from + static_cast<std::int64_t>(second / 2)};
            std::map<std::uint64_t, shown> expected;
            for (const auto& [number, record] : whole.records) {
                if (range.contains(record.realtime)) {
                    expected.emplace(number, record);
                }
            }
            elog::file_reader file(path, range);
            EXPECT_TRUE(file.used_index());
            EXPECT_EQ(read(file).records, expected) << after;
        }
    }
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
    // All but the fourth, which something earlier could still come before.
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

/// Events each 10 ms for that many seconds, timed by that clock, beside a look at them as often:
/// the beginnings of the intervals of a second that have been shown by then.
std::vector<std::int64_t> reported_intervals(custom_clock_function own, std::uint64_t seconds) {
    elog::aggregator computed(elog::aggregation::parse("The aggregation", "count()"), nullptr, 10);
    computed.add(test::mark_provider());
    std::vector<std::int64_t> found;
    elog::interval_aggregator intervals(computed, second, [&](std::optional<std::int64_t> begins) {
        found.push_back(begins.value_or(-1));
    });
    constexpr std::uint64_t tick = second / 100;
    for (std::uint64_t passed = 0; passed < seconds * second; passed += tick) {
        const test::bytes bytes = records_of({{1, own(start + passed), true}});
        std::span<const std::uint8_t> rest = bytes;
        elog::merged_record record;
        record.record = elog::take_record(rest);
        intervals.take(record, elog::clock_converter());
        intervals.advance(static_cast<std::int64_t>(start + passed - tick));
    }
    return found;
}

TEST(custom_clock_aggregation, reports_each_interval_of_slow_clock) {
    const auto behind = [](std::uint64_t time) { return time - 10 * second; };
    constexpr auto first = static_cast<std::int64_t>(start - 10 * second);
    constexpr auto length = static_cast<std::int64_t>(second);
    EXPECT_EQ(reported_intervals(behind, 4),
              (std::vector<std::int64_t>{first, first + length, first + 2 * length}));
}

TEST(custom_clock_aggregation, reports_intervals_while_fast_clock_is_stopped) {
    const auto ahead = [](std::uint64_t /*time*/) { return start + 3600 * second; };
    constexpr auto begins = static_cast<std::int64_t>(start + 3600 * second);
    EXPECT_EQ(reported_intervals(ahead, 4), (std::vector<std::int64_t>(3, begins)));
}

}  // namespace
