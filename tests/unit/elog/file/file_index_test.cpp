// SPDX-License-Identifier: MIT
//
// The index of an .elog file: reading a time range returns the same records as reading the whole
// file, and reads little else. A missing, truncated or wrong index costs time but no records.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/crc32c.hpp"
#include "file/file_reader.hpp"
#include "file/index_builder.hpp"
#include "record/ring_records.hpp"
#include "recording_sample.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

constexpr std::uint64_t many = 200'000;  // in 5000 blocks: five index blocks

std::string write_many(const std::string& name, bool end = true) {
    std::string path = test::scratch_directory() + "/" + name;
    test::sample_options options;
    options.records = many;
    options.block = 40;
    options.gap_before = 41;
    options.end = end;
    test::write_sample(path, options);
    return path;
}

/// The times of these records; the last one is excluded.
elog::time_range range_of(std::uint64_t first, std::uint64_t last) {
    return {test::realtime_ahead + static_cast<std::int64_t>(test::time_of(first)),
            test::realtime_ahead + static_cast<std::int64_t>(test::time_of(last))};
}

void expect_range(const std::string& path, std::uint64_t first, std::uint64_t last) {
    const test::sample_contents result = test::read_sample(path, range_of(first, last));
    EXPECT_EQ(result.wrong, 0U);
    ASSERT_EQ(result.numbers.size(), last - first);
    EXPECT_EQ(*result.numbers.begin(), first);
    EXPECT_EQ(*result.numbers.rbegin(), last - 1);
}

std::vector<test::block_location> blocks_of_type(const test::bytes& file, elog::block_type type) {
    std::vector<test::block_location> found;
    for (const test::block_location& block : test::blocks_of(file)) {
        if (block.header.type == static_cast<std::uint16_t>(type)) {
            found.push_back(block);
        }
    }
    return found;
}

/// Changes an index head and recomputes all checksums.
template <class Change>
void change_index(test::bytes& file, std::uint64_t at, Change change) {
    elog::index_block head{};
    std::uint8_t* payload = file.data() + at + sizeof(elog::block_header);
    std::memcpy(&head, payload, sizeof head);
    change(head);
    head.checksum =
        elog::index_checksum({reinterpret_cast<const std::uint8_t*>(&head), sizeof head});
    std::memcpy(payload, &head, sizeof head);
    test::update_block_checksums(file, at);
}

TEST(file_index, time_range_matches_full_scan) {
    const std::string path = write_many("parts.elog");
    for (const std::uint64_t first : {std::uint64_t{1}, std::uint64_t{39}, std::uint64_t{77'777}}) {
        expect_range(path, first, first + 1);
        expect_range(path, first, first + 12'345);
    }
    expect_range(path, 1, many + 1);
    EXPECT_TRUE(test::read_sample(path, range_of(many + 1, many + 1000)).numbers.empty());
    EXPECT_TRUE(test::read_sample(path, {0, 10}).numbers.empty());
    EXPECT_TRUE(test::read_sample(path, {INT64_MAX - 1, INT64_MAX}).numbers.empty());
}

/// A recording of 64 MiB with 2 MiB per second, on a clock of 3 ticks per nanosecond that is set
/// back by an hour in the middle.
class long_recording {
  public:
    static constexpr std::uint64_t seconds = 32;
    static constexpr std::uint64_t blocks_per_second = 8;
    static constexpr std::uint64_t block = 6000;  // records
    static constexpr std::uint64_t second = 1'000'000'000;

    explicit long_recording(std::string name) : path(test::scratch_directory() + "/" + name) {
        elog::file_writer writer(path, EVENTLOG_CLOCK_TSC, 2);
        writer.write_provider(test::mark_provider());
        test::bytes records = test::make_records(1, block);
        for (std::uint64_t s = 0; s < seconds; ++s) {
            const std::uint64_t set_back = s < seconds / 2 ? 0 : 3600 * second;
            writer.write_clock({3 * s * second, s * second, (10'000 + s) * second - set_back});
            for (std::uint64_t b = 0; b < blocks_per_second; ++b) {
                write_block(writer, records, s * second + b * (second / blocks_per_second));
            }
        }
        writer.write_clock(
            {3 * seconds * second, seconds * second, (10'000 + seconds - 3600) * second});
        writer.write_end();
    }
    ~long_recording() { static_cast<void>(::unlink(path.c_str())); }
    long_recording(const long_recording&) = delete;
    long_recording& operator=(const long_recording&) = delete;

    /// `begin`: the start in nanoseconds.
    static void write_block(elog::file_writer& writer, test::bytes& records, std::uint64_t begin) {
        std::uint64_t i = 0;
        records = elog::map_times(elog::run_reader(records),
                                  [&](std::uint64_t) { return 3 * (begin + i++ * 20'000); });
        elog::record_run run;
        run.ring = static_cast<std::uint32_t>(begin / second % 2);
        run.count = block;
        run.bytes = records;
        writer.write_run(run);
    }

    const std::string path;
};

std::vector<std::int64_t> times_in(elog::file_reader& file, const elog::time_range& range) {
    std::vector<std::int64_t> times;
    file.read([&](const elog::merged_record& record) {
        const std::int64_t time = file.clock().realtime(record.record.time);
        if (range.contains(time)) {
            times.push_back(time);
        }
    });
    return times;
}

/// A recording on a clock that runs unevenly. Records reach the file after two later clock
/// readings, so the readings that convert them are often in another section of the index.
class late_recording {
  public:
    static constexpr std::uint64_t steps = 32;
    static constexpr std::uint64_t step = 100'000'000;  // nanoseconds
    static constexpr std::uint64_t block = 200;         // records

    late_recording() {
        elog::file_writer writer(path, EVENTLOG_CLOCK_TSC, 1);
        writer.write_provider(test::mark_provider());
        test::bytes records = test::make_records(1, block);
        for (std::uint64_t i = 1; i <= steps; ++i) {
            const std::uint64_t uneven = i * step + i * i * 1000;
            writer.write_clock({3 * i * step, uneven, test::realtime_ahead + uneven},
                               i < 3 ? 0 : 3 * (i - 2) * step);
            if (i >= 3) {
                write_block(writer, records, (i - 2) * step + step / 2);
            }
        }
        writer.write_end();
    }
    ~late_recording() { static_cast<void>(::unlink(path.c_str())); }
    late_recording(const late_recording&) = delete;
    late_recording& operator=(const late_recording&) = delete;

    static void write_block(elog::file_writer& writer, test::bytes& records, std::uint64_t begin) {
        std::uint64_t i = 0;
        records = elog::map_times(elog::run_reader(records),
                                  [&](std::uint64_t) { return 3 * (begin + i++ * 1000); });
        elog::record_run run;
        run.count = block;
        run.bytes = records;
        writer.write_run(run);
    }

    const std::string path = test::scratch_directory() + "/late.elog";
};

TEST(file_index, converts_late_records_by_the_readings_around_them) {
    const test::scoped_environment_variable interval("EVENTLOG_TEST_INDEX_BYTES", "32768");
    const late_recording recording;
    elog::file_reader whole(recording.path);
    const std::vector<std::int64_t> all = times_in(whole, {});
    ASSERT_EQ(all.size(), (late_recording::steps - 2) * late_recording::block);
    for (std::size_t first = 0; first < all.size(); first += late_recording::block) {
        const elog::time_range block{all[first], all[first + late_recording::block - 1]};
        elog::file_reader part(recording.path, block);
        EXPECT_TRUE(part.used_index());
        EXPECT_EQ(times_in(part, {}), times_in(whole, block)) << first;
    }
}

TEST(file_index, hides_no_record_next_to_wrong_timestamp) {
    for (const std::uint64_t wrong : {std::uint64_t{0}, UINT64_MAX / 2, UINT64_MAX / 2 + 2,
                                      std::uint64_t{10'000'000'000'000'000'000U}, UINT64_MAX}) {
        const std::string path = test::scratch_directory() + "/wrong.elog";
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        writer.write_clock({0, 0, test::realtime_ahead});
        writer.write_provider(test::mark_provider());
        test::bytes records = test::make_records(1, 100);
        int i = 0;
        records = elog::map_times(elog::run_reader(records),
                                  [&](std::uint64_t time) { return ++i == 11 ? wrong : time; });
        elog::record_run run;
        run.count = 100;
        run.bytes = records;
        writer.write_run(run);
        writer.write_end();
        // Each record is in exactly one of two ranges, the record with the wrong time included.
        const elog::time_range whole = range_of(60, 60);
        std::size_t found = 0;
        for (const elog::time_range range :
             {elog::time_range{INT64_MIN, whole.from}, elog::time_range{whole.from, INT64_MAX}}) {
            elog::file_reader file(path, range);
            EXPECT_TRUE(file.used_index());
            file.read([&](const elog::merged_record& /*record*/) { ++found; });
        }
        EXPECT_EQ(found, 100U) << wrong;
    }
}

TEST(file_index, avoids_reading_most_of_large_file) {
    const long_recording recording("long.elog");
    elog::file_reader whole(recording.path);
    constexpr std::int64_t second = 1'000'000'000;
    const std::vector<elog::time_range> ranges = {
        {10'003 * second, 10'003 * second + second / 10},
        {10'015 * second + second / 2, 10'016 * second + second / 2},
        {(10'016 - 3600) * second, (10'017 - 3600) * second},
        {(10'031 - 3600) * second, INT64_MAX},
    };
    for (const elog::time_range& range : ranges) {
        elog::file_reader part(recording.path, range);
        EXPECT_TRUE(part.used_index());
        const std::vector<std::int64_t> times = times_in(part, range);
        EXPECT_EQ(times, times_in(whole, range));
        if (range.to != INT64_MAX) {
            EXPECT_FALSE(times.empty());
            EXPECT_LT(part.bytes_read(), std::uint64_t{4} << 20U);
        }
        EXPECT_TRUE(part.damages().empty());
    }
    elog::file_reader none(recording.path, {0, 1});
    none.read([](const elog::merged_record&) { FAIL(); });
    EXPECT_LT(none.bytes_read(), std::uint64_t{128} << 10U);
}

TEST(file_index, is_found_in_truncated_file) {
    const std::string path = write_many("cut_index.elog", false);
    expect_range(path, 100'000, 100'100);
    EXPECT_TRUE(elog::file_reader(path, range_of(100'000, 100'100)).used_index());
    const auto size = static_cast<off_t>(test::contents(path).size());
    ASSERT_EQ(::truncate(path.c_str(), size - 1001), 0);
    expect_range(path, 100'000, 100'100);
    EXPECT_TRUE(elog::file_reader(path, range_of(100'000, 100'100)).used_index());
}

TEST(file_index, is_optional) {
    const std::string path = test::scratch_directory() + "/no_index.elog";
    test::sample_options options;
    options.records = 600;
    options.end = false;
    test::write_sample(path, options);
    expect_range(path, 200, 300);
    EXPECT_FALSE(elog::file_reader(path, range_of(200, 300)).used_index());
}

TEST(file_index, with_wrong_offset_or_blocks_is_reported_and_ignored) {
    const std::string path = write_many("lying_index.elog");
    const test::bytes intact = test::contents(path);
    const std::vector<test::block_location> found = blocks_of_type(intact, elog::block_type::index);
    ASSERT_GE(found.size(), 4U);
    using change = void (*)(elog::index_block&);
    for (const change each : {change{[](elog::index_block& head) { head.previous += 8; }},
                              change{[](elog::index_block& head) { head.previous = 0; }},
                              change{[](elog::index_block& head) { head.start += 8; }},
                              change{[](elog::index_block& head) { head.start = UINT64_MAX; }},
                              change{[](elog::index_block& head) { --head.first_number; }},
                              change{[](elog::index_block& head) { head.entries = UINT32_MAX; }}}) {
        test::bytes changed = intact;
        change_index(changed, found[2].offset, each);
        test::replace(path, changed);
        expect_range(path, 77'000, 77'100);
        EXPECT_FALSE(test::read_sample(path, range_of(77'000, 77'100)).damages.empty());
    }
}

TEST(file_index, with_entries_of_other_blocks_is_reported_and_ignored) {
    const std::string path = write_many("other_blocks.elog");
    test::bytes changed = test::contents(path);
    for (const test::block_location& block : blocks_of_type(changed, elog::block_type::index)) {
        // The sizes of two adjacent entries change, and their sum stays the same.
        std::uint8_t* entry = changed.data() + block.offset + sizeof(elog::block_header) +
                              sizeof(elog::index_block) + 10 * sizeof(elog::index_entry);
        entry[0] = static_cast<std::uint8_t>(entry[0] + 64);
        entry[sizeof(elog::index_entry)] =
            static_cast<std::uint8_t>(entry[sizeof(elog::index_entry)] - 64);
        test::update_block_checksums(changed, block.offset);
    }
    test::replace(path, changed);
    const test::sample_contents result = test::read_sample(path, range_of(1, many + 1));
    EXPECT_EQ(result.wrong, 0U);
    EXPECT_GE(result.numbers.size(), many - std::size_t{5} * 40);
    EXPECT_FALSE(result.damages.empty());
}

TEST(file_index, hides_no_record_of_a_block_with_a_wrong_number) {
    const std::string path = test::scratch_directory() + "/wrong_number.elog";
    test::sample_options options;
    options.records = 600;
    test::write_sample(path, options);
    const test::bytes intact = test::contents(path);
    for (const test::block_location& block : blocks_of_type(intact, elog::block_type::records)) {
        test::bytes changed = intact;
        const std::uint64_t number = block.header.number + 1000;
        std::memcpy(changed.data() + block.offset + offsetof(elog::block_header, number), &number,
                    sizeof number);
        test::update_block_checksums(changed, block.offset);
        test::replace(path, changed);
        expect_range(path, 200, 300);
    }
}

TEST(file_index, that_overlaps_another_is_reported_and_ignored) {
    const std::string path = write_many("overlapping.elog");
    test::bytes changed = test::contents(path);
    const std::vector<test::block_location> found =
        blocks_of_type(changed, elog::block_type::index);
    change_index(changed, found[2].offset, [&](elog::index_block& head) {
        head.previous = found[0].offset;
        head.start = found[0].end;
    });
    test::replace(path, changed);
    expect_range(path, 77'000, 77'100);
    EXPECT_FALSE(test::read_sample(path, range_of(77'000, 77'100)).damages.empty());
}

TEST(file_index, with_missing_offset_in_end_block_is_searched_or_ignored) {
    const std::string path = write_many("lost_index.elog");
    const test::bytes intact = test::contents(path);
    const std::uint64_t at = blocks_of_type(intact, elog::block_type::end).front().offset;
    for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{0xff}}) {
        test::bytes changed = intact;
        for (std::size_t i = 0; i < sizeof elog::end_block::index; ++i) {
            changed[at + sizeof(elog::block_header) + offsetof(elog::end_block, index) + i] = byte;
        }
        test::update_block_checksums(changed, at);
        test::replace(path, changed);
        expect_range(path, 77'000, 77'100);
    }
}

}  // namespace
