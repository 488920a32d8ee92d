// SPDX-License-Identifier: MIT
//
// A file that one reader reads twice, as --tail does: both times have the same records.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/" + name;
}

std::size_t count_records(elog::file_reader& file) {
    std::size_t count = 0;
    file.read([&](const elog::merged_record& /*record*/) { ++count; });
    return count;
}

TEST(repeated_read, of_growing_file_has_same_records) {
    const std::string path = path_of("growing.elog");
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_provider(test::mark_provider());
    const auto write_ten = [&](std::uint64_t first) {
        const test::bytes records = test::make_records(first, first + 9);
        elog::record_run run;
        run.sequence = first - 1;
        run.count = 10;
        run.bytes = records;
        writer.write_run(run);
    };
    write_ten(1);
    elog::file_reader file(path);
    EXPECT_EQ(count_records(file), 10U);
    write_ten(11);
    EXPECT_EQ(count_records(file), 10U);
    elog::file_reader later(path);
    EXPECT_EQ(count_records(later), 20U);
}

TEST(repeated_read, reports_wrong_totals_once) {
    const std::string path = path_of("totals.elog");
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.write_clock({1'000'000'000, 1'000'000'000, 1'000'000'000});
    writer.write_provider(test::mark_provider());
    const test::bytes records = test::make_records(1, 10);
    elog::record_run run;
    run.count = 10;
    run.bytes = records;
    writer.write_run(run);
    writer.write_end(elog::end_reason::regular, elog::file_totals{15, 0});
    elog::file_reader file(path);
    EXPECT_EQ(count_records(file), 10U);
    const std::vector<std::string> damages{
        "the end counts 15 records and 0 lost, but there are 10 and 0"};
    EXPECT_EQ(file.damages(), damages);
    EXPECT_EQ(count_records(file), 10U);
    EXPECT_EQ(file.damages(), damages);
}

TEST(repeated_read, reports_each_damage_once) {
    const std::string path = path_of("damaged.elog");
    test::write_sample(path);
    test::bytes bytes = test::contents(path);
    for (const test::block_location& block : test::blocks_of(bytes)) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            bytes[block.end - elog::block_alignment] ^= 1U;
            break;
        }
    }
    test::replace(path, bytes);
    elog::file_reader file(path);
    const std::size_t intact = count_records(file);
    const std::vector<std::string> damages = file.damages();
    EXPECT_EQ(intact, 50U);
    EXPECT_FALSE(damages.empty());
    EXPECT_EQ(count_records(file), intact);
    EXPECT_EQ(file.damages(), damages);
}

}  // namespace
