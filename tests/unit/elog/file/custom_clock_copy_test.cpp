// SPDX-License-Identifier: MIT
//
// Copies of files with records of custom clocks keep the order and the times of their sources.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>

#include "custom_clock_recording.hpp"
#include "decoded_records.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/record_copier.hpp"
#include "import/file_merge.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::custom_clock;

/// Six seconds of a ring by a clock that runs backwards, and of a ring by the machine's clock with
/// some custom times. The position of the first ring's records in time is known from the clock
/// readings only, which lie a tenth of a second before them.
std::string write_in_seconds(const std::string& name, std::uint32_t clock) {
    std::string path = test::scratch_directory() + "/" + name;
    elog::recording_host host;
    host.clock = clock;
    host.ring_count = 2;
    host.recording = 79;
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

TEST(custom_clock_copy, of_copy_keeps_source_order) {
    for (const std::uint32_t clock : {EVENTLOG_CLOCK_TSC, EVENTLOG_CLOCK_MONOTONIC}) {
        std::string path = write_in_seconds("seconds.elog", clock);
        const numbers order = order_in(path);
        EXPECT_EQ(order, first_numbers(48));  // the order of writing
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
        for (const elog::record& record : elog::open(path)) {
            sink.put(record);
        }
        sink.finish();
        EXPECT_EQ(order_in(copy), order_in(path)) << clock;
    }
}

/// Copies records by a custom clock from two rings in turn; between them lie records of the other
/// ring.
elog::copy_summary copy_custom(const std::string& path, std::uint64_t count) {
    elog::record_copier copier({path}, EVENTLOG_CLOCK_TSC, 2);
    copier.add_reading({ticks * start, start, 10'000 * second});
    elog::provider_map providers;
    providers.emplace(std::uint32_t{0}, test::mark_provider());
    for (std::uint64_t number = 1; number <= count; ++number) {
        const test::bytes bytes = records_of({{number, count - number, true}});
        elog::merged_record record;
        record.ring = static_cast<std::uint32_t>(number % 2);
        record.record = test::decode_records(bytes).front();
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

}  // namespace
