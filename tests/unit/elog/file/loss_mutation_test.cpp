// SPDX-License-Identifier: MIT
//
// Damaged loss counts with valid checksums: no reader states more losses than there can have been,
// each of them reports the damage, and repair and merge make files that verify accepts.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/loss_limits.hpp"
#include "file_mutator.hpp"
#include "import/file_merge.hpp"
#include "output/record_counts.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using elog::block_type;
using test::bytes;
using test::mutable_block;
using test::mutable_file;

constexpr std::uint64_t lost_before = 5;  // of the third block of each ring, as the next one
constexpr std::uint64_t blocks = 12;
constexpr std::uint64_t block_records = 10;
// Before records of two rings; at the end of a ring, 4 + 2 + 1, and of the provider, 6 + 7 + 8.
constexpr std::uint64_t sample_lost = 2 * lost_before + 7 + 21;
constexpr std::uint64_t sample_overwritten = lost_before;

std::string path_of(const char* name) {
    return test::scratch_directory() + "/" + name;
}

bytes make_file() {
    const std::string path = path_of("losses.elog");
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, test::sample_rings);
        writer.write_clock({1000, 1000, 1000});
        writer.write_provider(test::mark_provider());
        std::vector<std::uint64_t> attempted(test::sample_rings);
        for (std::uint64_t block = 0; block < blocks; ++block) {
            const std::uint64_t first = 1 + block * block_records;
            const bytes made = test::make_records(first, first + block_records - 1);
            elog::record_run run;
            run.ring = static_cast<std::uint32_t>(block % test::sample_rings);
            run.lost_before = block / test::sample_rings == 2 ? lost_before : 0;
            run.overwritten = run.ring == 1 && run.lost_before != 0;
            run.sequence = attempted[run.ring] + run.lost_before;
            run.count = block_records;
            run.bytes = made;
            writer.write_run(run);
            attempted[run.ring] = run.sequence + block_records;
        }
        elog::loss_report of_ring = elog::trailing_loss(2, 4, 0, 2);
        of_ring.unwritten = 1;
        writer.write_loss(of_ring);
        elog::loss_report of_provider = elog::provider_loss(0, 3, 6, 7);
        of_provider.unattached = 8;
        writer.write_loss(of_provider);
        const std::uint64_t end = test::time_of(blocks * block_records);
        writer.write_clock({end, end, end}, end);
        writer.write_end();
    }
    return test::contents(path);
}

struct totals {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t by_provider = 0;
    bool is_damaged = false;
};

/// As elog stat and elog print count them.
totals read(const std::string& path) {
    elog::file_reader file(path);
    elog::record_counts counts;
    file.read([&](const elog::merged_record& record) {
        counts.write(record, file.providers(), file.clock(), file.shared_ring());
    });
    for (const elog::loss_report& loss : file.losses()) {
        counts.write_loss(loss, file.providers(), file.shared_ring());
    }
    counts.finish();
    totals found{counts.all().events, counts.lost().all(), counts.overwritten(), 0,
                 !file.damages().empty()};
    for (const auto& [name, lost] : counts.lost_by_provider()) {
        found.by_provider += lost.all();
    }
    return found;
}

/// A count in the payload of a block.
struct loss_field {
    std::string_view name;
    block_type type;
    std::size_t offset;
};

constexpr loss_field fields[] = {
    {"lost_before", block_type::records, offsetof(elog::records_block, lost_before)},
    {"sequence", block_type::records, offsetof(elog::records_block, sequence)},
    {"count", block_type::records, offsetof(elog::records_block, count)},
    {"full", block_type::loss, offsetof(elog::loss_block, full)},
    {"too_large", block_type::loss, offsetof(elog::loss_block, too_large)},
    {"busy", block_type::loss, offsetof(elog::loss_block, busy)},
    {"damaged", block_type::loss, offsetof(elog::loss_block, damaged)},
    {"overwritten", block_type::loss, offsetof(elog::loss_block, overwritten)},
    {"unwritten", block_type::loss, offsetof(elog::loss_block, unwritten)},
    {"unattached", block_type::loss, offsetof(elog::loss_block, unattached)},
    {"end records", block_type::end, offsetof(elog::end_block, records)},
    {"end lost", block_type::end, offsetof(elog::end_block, lost)},
};

std::uint64_t value_in(const mutable_block& block, const loss_field& field) {
    std::uint64_t value = 0;
    std::memcpy(&value, block.payload.data() + field.offset, sizeof value);
    return value;
}

void set_value(mutable_block& block, const loss_field& field, std::uint64_t value) {
    std::memcpy(block.payload.data() + field.offset, &value, sizeof value);
}

class loss_mutation : public ::testing::Test {
  protected:
    /// The whole file is read again by each command that copies it.
    void expect_bounded(const mutable_file& changed, std::uint64_t changes) {
        const std::uint64_t most = sample_lost + changes * largest;
        test::replace(path, changed.written());
        const totals read_now = read(path);
        EXPECT_LE(read_now.lost, most);
        EXPECT_LE(read_now.overwritten, most);
        EXPECT_LE(read_now.by_provider, most + 3);
        const elog::file_check_result checked = elog::check_file(path);
        EXPECT_LE(checked.lost - checked.overwritten, most);
        // Which of the events missing at the end of a ring were overwritten, only one count states.
        const std::uint64_t missing = read_now.lost + read_now.overwritten;
        if (missing != original_totals.lost + original_totals.overwritten) {
            EXPECT_NE(checked.damages, std::vector<std::string>());
            EXPECT_TRUE(read_now.is_damaged);
        }
        const std::string copied = path_of("copied.elog");
        EXPECT_LE(elog::repair_file(path, copied).missing, most);
        expect_whole(copied, read_now.records, most);
        static_cast<void>(elog::merge_files({path}, {copied}, {}));
        expect_whole(copied, read_now.records, most);
        EXPECT_EQ(read(copied).lost, read_now.lost);
    }

    void expect_whole(const std::string& copied, std::uint64_t records, std::uint64_t most) {
        const elog::file_check_result found = elog::check_file(copied);
        EXPECT_EQ(found.damages, std::vector<std::string>());
        EXPECT_EQ(found.records, records);
        EXPECT_LE(found.lost - found.overwritten, most);
        EXPECT_EQ(read(copied).lost, found.lost - found.overwritten);
        EXPECT_EQ(read(copied).overwritten, found.overwritten);
    }

    const mutable_file original{make_file()};
    const std::string path = path_of("changed.elog");
    const totals original_totals = [this] {
        test::replace(path, original.written());
        return read(path);
    }();
    // Of an uptime of some microseconds.
    const std::uint64_t largest = elog::largest_loss(elog::file_reader(path).clock(),  //
                                                     test::sample_rings);
};

TEST_F(loss_mutation, without_change_is_counted) {
    EXPECT_EQ(original_totals.records, blocks * block_records);
    EXPECT_EQ(original_totals.lost, sample_lost);
    EXPECT_EQ(original_totals.overwritten, sample_overwritten);
    EXPECT_EQ(original_totals.by_provider, 21U + 3U);
    EXPECT_FALSE(original_totals.is_damaged);
    expect_bounded(original, 0);
}

TEST_F(loss_mutation, of_one_count_is_bounded_and_reported) {
    for (std::size_t at = 0; at < original.blocks.size(); ++at) {
        for (const loss_field& field : fields) {
            if (!original.blocks[at].is(field.type)) {
                continue;
            }
            const std::uint64_t value = value_in(original.blocks[at], field);
            for (const std::uint64_t other :
                 {UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63U, std::uint64_t{1} << 40U,
                  std::uint64_t{1} << 32U, largest, largest + 1, value + 1, value - 1, ~value}) {
                SCOPED_TRACE(testing::Message() << field.name << " of block " << at << " is "
                                                << other << " instead of " << value);
                mutable_file changed = original;
                set_value(changed.blocks[at], field, other);
                expect_bounded(changed, 1);
                const totals found = read(path);
                // What can be no count of this file adds nothing.
                if (other > largest) {
                    EXPECT_LE(found.lost, sample_lost);
                }
            }
        }
    }
}

TEST_F(loss_mutation, of_the_numbers_of_a_block_leaves_only_the_gap) {
    for (std::size_t at = 0; at < original.blocks.size(); ++at) {
        if (original.blocks[at].is(block_type::records)) {
            mutable_file changed = original;
            set_value(changed.blocks[at], fields[0], 1000);
            test::replace(path, changed.written());
            const totals found = read(path);
            EXPECT_TRUE(found.is_damaged) << at;
            EXPECT_EQ(found.lost + found.overwritten, sample_lost + sample_overwritten) << at;
        }
    }
}

TEST_F(loss_mutation, of_many_counts_is_bounded) {
    std::minstd_rand random(32);
    for (int turn = 0; turn < 300; ++turn) {
        SCOPED_TRACE(turn);
        mutable_file changed = original;
        std::uint64_t changes = 0;
        for (mutable_block& block : changed.blocks) {
            for (const loss_field& field : fields) {
                if (block.is(field.type) && random() % 8 == 0) {
                    const auto shift = static_cast<unsigned>(random() % 64);
                    set_value(block, field, (std::uint64_t{random()} << 33U ^ random()) >> shift);
                    ++changes;
                }
            }
        }
        expect_bounded(changed, changes);
    }
}

}  // namespace
