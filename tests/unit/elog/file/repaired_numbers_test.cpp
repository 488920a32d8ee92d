// SPDX-License-Identifier: MIT
//
// The numbers of the records of a repaired file: which are lost, and which are not.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_check.hpp"
#include "file/file_repair.hpp"
#include "file/file_writer.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/" + name;
}

TEST(file_repair, does_not_count_copied_records_of_a_block_with_a_wrong_number) {
    const std::string from = path_of("renumbered.elog");
    const std::string to = path_of("renumbered_repaired.elog");
    test::write_sample(from);
    const test::bytes intact = test::contents(from);
    unsigned tried = 0;
    for (const test::block_location& block : test::blocks_of(intact)) {
        if (block.header.type != static_cast<std::uint16_t>(elog::block_type::records)) {
            continue;
        }
        for (const std::uint64_t number : {std::uint64_t{1000}, UINT64_MAX, std::uint64_t{2}}) {
            test::bytes changed = intact;
            std::memcpy(changed.data() + block.offset + offsetof(elog::block_header, number),
                        &number, sizeof number);
            test::update_block_checksums(changed, block.offset);
            test::replace(from, changed);
            const elog::repair_summary summary = elog::repair_file(from, to);
            EXPECT_EQ(summary.records, 60U) << block.offset;
            EXPECT_EQ(summary.missing, 0U) << block.offset;
            EXPECT_EQ(elog::check_file(to).lost, test::sample_lost) << block.offset;
            ++tried;
        }
    }
    EXPECT_NE(tried, 0U);
}

/// Records of one ring in blocks of ten, as in the second file of a recording.
std::string write_later_part(std::uint64_t first_number) {
    std::string path = path_of("later_part.elog");
    elog::file_writer writer(elog::file_options{path, EVENTLOG_CLOCK_MONOTONIC, 1, 77, 2});
    writer.write_clock({1, 1, 1});
    writer.write_provider(test::mark_provider());
    for (std::uint64_t block = 0; block < 3; ++block) {
        const test::bytes records = test::make_records(1 + 10 * block, 10 + 10 * block);
        elog::record_run run;
        run.sequence = first_number + 10 * block;
        run.count = 10;
        run.bytes = records;
        writer.write_run(run);
    }
    writer.write_end();
    return path;
}

TEST(file_repair, finds_the_first_numbers_of_a_later_part_behind_damaged_ones) {
    constexpr std::uint64_t first_number = 5000;
    const std::string from = write_later_part(first_number);
    const std::string to = path_of("later_part_repaired.elog");
    const test::bytes intact = test::contents(from);
    for (const std::uint64_t damaged_blocks : {1U, 2U, 3U}) {
        test::bytes changed = intact;
        std::uint64_t left = damaged_blocks;
        for (const test::block_location& block : test::blocks_of(intact)) {
            if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records) &&
                left != 0) {
                --left;
                changed[block.offset + sizeof(elog::block_header) +
                        offsetof(elog::records_block, sequence) + 7] = 0xff;
                test::update_block_checksums(changed, block.offset);
            }
        }
        test::replace(from, changed);
        const elog::repair_summary summary = elog::repair_file(from, to);
        EXPECT_EQ(summary.records, 30U) << damaged_blocks;
        EXPECT_EQ(summary.missing, 0U) << damaged_blocks;
        const elog::file_check_result found = elog::check_file(to);
        EXPECT_EQ(found.damages, std::vector<std::string>{}) << damaged_blocks;
        EXPECT_EQ(found.records, 30U) << damaged_blocks;
        EXPECT_EQ(found.lost, 0U) << damaged_blocks;
    }
}

TEST(file_repair, counts_the_first_blocks_of_a_later_part_once) {
    const std::string from = write_later_part(5000);
    const std::string to = path_of("later_part_repaired.elog");
    test::bytes changed = test::contents(from);
    unsigned left = 2;
    for (const test::block_location& block : test::blocks_of(test::contents(from))) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records) &&
            left != 0) {
            --left;
            changed[block.offset + sizeof(elog::block_header) + sizeof(elog::records_block)] ^= 1U;
        }
    }
    test::replace(from, changed);
    EXPECT_EQ(elog::repair_file(from, to).records, 10U);
    EXPECT_LE(elog::check_file(to).lost, 20U);
}

}  // namespace
