// SPDX-License-Identifier: MIT
//
// The .elog file: what goes in comes out; cut or damaged anywhere, everything that is whole still
// comes out, the damage is reported, and nothing wrong is shown as right.
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "crc32c.hpp"
#include "failure.hpp"
#include "file_reader.hpp"
#include "file_writer.hpp"
#include "scratch.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

struct mark {
    std::uint64_t number;
    std::uint64_t check;
};
using file_test = eventlog::provider<"file_test", mark>;

std::uint64_t check_of(std::uint64_t number) {
    return number * 0x9e3779b97f4a7c15U;
}

/// Records `first` to `last` of a ring, as they stand there.
bytes make_records(std::uint64_t first, std::uint64_t last) {
    bytes made;
    for (std::uint64_t number = first; number <= last; ++number) {
        eventlog_record header{};
        header.size = sizeof header + sizeof(mark);
        header.time = 1000 + number * 10;
        header.thread = 42;
        const mark payload{number, check_of(number)};
        const auto* from = reinterpret_cast<const std::uint8_t*>(&header);
        made.insert(made.end(), from, from + sizeof header);
        from = reinterpret_cast<const std::uint8_t*>(&payload);
        made.insert(made.end(), from, from + sizeof payload);
    }
    return made;
}

constexpr std::uint64_t record_count = 60;

/// Three rings; records go to them in turn, ten at a time.
std::string write_sample(const std::string& name) {
    std::string path = eventlog::test::scratch_directory() + "/" + name;
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 3);
    writer.write_clock({0, 0, 1'000'000'000});
    elog::provider_instance provider;
    provider.pid = 7;
    provider.process = "tester";
    provider.schema = elog::provider_schema::parse(file_test::schema());
    writer.write_provider(provider);
    for (std::uint64_t first = 1; first < record_count; first += 10) {
        const bytes records = make_records(first, first + 9);
        elog::record_run run;
        run.ring = static_cast<std::uint32_t>(first / 10 % 3);
        run.count = 10;
        run.lost_before = first == 31 ? 5 : 0;
        run.bytes = records;
        writer.write_run(run);
    }
    writer.write_loss({static_cast<std::uint32_t>(elog::loss_scope::ring), 1, 3, 0, 0, 0});
    writer.write_clock({10'000, 10'000, 1'000'010'000});
    writer.write_end({record_count, 8});
    return path;
}

bytes contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replace(const std::string& path, const bytes& with) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(with.data()),
               static_cast<std::streamsize>(with.size()));
}

struct read_back {
    std::set<std::uint64_t> numbers;
    std::uint64_t lost = 0;
    std::vector<std::string> damages;
    bool opened = false;
    bool has_end = false;
};

/// Reads all of it; fails the test for a record that is not one of ours, or comes out of order.
read_back read(const std::string& path) {
    read_back result;
    try {
        elog::file_reader file(path);
        result.opened = true;
        std::uint64_t time = 0;
        file.read([&](const elog::merged_record& record) {
            EXPECT_GE(record.record.header.time, time);
            time = record.record.header.time;
            result.lost += record.lost_before;
            mark payload{};
            EXPECT_EQ(record.record.payload.size(), sizeof payload);
            if (record.record.payload.size() == sizeof payload) {
                std::memcpy(&payload, record.record.payload.data(), sizeof payload);
                EXPECT_EQ(payload.check, check_of(payload.number));
                EXPECT_TRUE(result.numbers.insert(payload.number).second) << payload.number;
            }
        });
        result.damages = file.damages();
        result.has_end = file.end().has_value();
    } catch (const elog::failure&) {
        // Not to be opened at all: that is reported, too.
    }
    return result;
}

TEST(file, gives_back_everything_in_the_order_of_time) {
    const std::string path = write_sample("whole.elog");
    const read_back result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_EQ(result.lost, 5U);
    EXPECT_TRUE(result.damages.empty());
    EXPECT_TRUE(result.has_end);
    const elog::file_reader file(path);
    EXPECT_EQ(file.providers().at(0).process, "tester");
    EXPECT_EQ(file.providers().at(0).schema.events.at(0).fields.at(1).name, "check");
    ASSERT_EQ(file.losses().size(), 1U);
    EXPECT_EQ(file.losses()[0].full, 3U);
    EXPECT_EQ(file.end()->records, record_count);
}

/// Where the blocks of a sound file end, padding included, and its header.
std::set<std::size_t> ends_of_blocks(const bytes& file) {
    std::set<std::size_t> ends{sizeof(elog::file_header)};
    while (*ends.rbegin() < file.size()) {
        elog::block_header header{};
        std::memcpy(&header, file.data() + *ends.rbegin(), sizeof header);
        ends.insert(*ends.rbegin() + sizeof header + (std::size_t{header.size} + 7) / 8 * 8);
    }
    return ends;
}

TEST(file, cut_at_any_byte_gives_back_all_whole_blocks_and_says_that_it_was_cut) {
    const std::string path = write_sample("cut.elog");
    bytes rest = contents(path);
    const std::set<std::size_t> ends = ends_of_blocks(rest);
    std::size_t before = record_count;
    while (!rest.empty()) {
        rest.pop_back();
        replace(path, rest);
        const read_back result = read(path);
        EXPECT_LE(result.numbers.size(), before);
        EXPECT_EQ(result.numbers.size() % 10, 0U);
        EXPECT_FALSE(result.has_end && rest.size() < *ends.rbegin());
        if (result.opened && !result.has_end && result.damages.empty()) {
            // Cut between two blocks, as a file that is still being written, or in padding.
            EXPECT_TRUE(ends.contains((rest.size() + 7) / 8 * 8)) << rest.size();
        }
        before = result.numbers.size();
    }
    EXPECT_EQ(before, 0U);
}

TEST(file, with_any_bit_flipped_loses_one_block_at_most_and_says_so) {
    const std::string path = write_sample("flip.elog");
    bytes damaged = contents(path);
    for (std::size_t bit = 0; bit < damaged.size() * 8; ++bit) {
        damaged[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        replace(path, damaged);
        const read_back result = read(path);
        damaged[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        if (result.opened) {
            EXPECT_GE(result.numbers.size(), record_count - 10) << "bit " << bit;
            EXPECT_FALSE(result.damages.empty() && result.numbers.size() < record_count)
                << "bit " << bit;
        } else {
            // Only what says how to read everything else may cost everything: magic and host.
            EXPECT_LT(bit / 8, 32U + 32U + sizeof(elog::host_block));
        }
    }
}

TEST(file, with_a_hole_of_foreign_bytes_is_read_on_both_sides) {
    const std::string path = write_sample("hole.elog");
    bytes damaged = contents(path);
    const std::size_t middle = damaged.size() / 2;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>(middle),
              damaged.begin() + static_cast<std::ptrdiff_t>(middle + 64), std::uint8_t{0xee});
    replace(path, damaged);
    const read_back result = read(path);
    EXPECT_GE(result.numbers.size(), record_count - 20);
    EXPECT_TRUE(result.numbers.contains(1));
    EXPECT_TRUE(result.numbers.contains(record_count));
    EXPECT_FALSE(result.damages.empty());
}

TEST(file, that_is_something_else_is_refused_in_words) {
    const std::string path = eventlog::test::scratch_directory() + "/other";
    replace(path, bytes(1000, 'x'));
    EXPECT_THROW(elog::file_reader{path}, elog::failure);
    replace(path, {});
    EXPECT_THROW(elog::file_reader{path}, elog::failure);
    EXPECT_THROW(elog::file_reader{eventlog::test::scratch_directory()}, elog::failure);
    EXPECT_THROW(elog::file_reader{path + ".missing"}, elog::failure);
}

TEST(file, of_a_newer_version_is_refused_in_words) {
    const std::string path = write_sample("newer.elog");
    bytes changed = contents(path);
    changed[8] = 2;
    // The header's checksum over its first 28 bytes is right, so this is no damage.
    const std::uint32_t checksum = elog::crc32c(std::span(changed).first(28));
    std::memcpy(changed.data() + 28, &checksum, sizeof checksum);
    replace(path, changed);
    try {
        const elog::file_reader file(path);
        FAIL() << "it was read";
    } catch (const elog::failure& error) {
        EXPECT_NE(std::string_view(error.what()).find("version 2"), std::string_view::npos);
    }
}

TEST(file, that_cannot_be_made_is_reported_in_words) {
    EXPECT_THROW(elog::file_writer(eventlog::test::scratch_directory() + "/no/such/folder/x",
                                   EVENTLOG_CLOCK_TSC, 2),
                 elog::failure);
}

TEST(file, with_a_block_twice_shows_its_records_once_and_says_so) {
    const std::string path = write_sample("twice.elog");
    bytes changed = contents(path);
    for (const std::size_t at : ends_of_blocks(changed)) {
        elog::block_header header{};
        std::memcpy(&header, changed.data() + at, sizeof header);
        if (header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            const auto begin = changed.begin() + static_cast<std::ptrdiff_t>(at);
            const bytes block(begin,
                              begin + static_cast<std::ptrdiff_t>(
                                          sizeof header + (std::size_t{header.size} + 7) / 8 * 8));
            changed.insert(begin, block.begin(), block.end());
            break;
        }
    }
    replace(path, changed);
    const read_back result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    EXPECT_FALSE(result.damages.empty());
}

TEST(file, whose_end_speaks_of_other_numbers_is_reported) {
    const std::string path = eventlog::test::scratch_directory() + "/lying.elog";
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 3);
        writer.write_end({5, 0});
    }
    EXPECT_EQ(read(path).damages.size(), 1U);
}

TEST(file, that_is_being_written_is_never_called_damaged) {
    const std::string path = eventlog::test::scratch_directory() + "/live.elog";
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 3);
    std::ofstream(path, std::ios::binary | std::ios::app) << "half a block";
    EXPECT_TRUE(read(path).damages.empty());
    EXPECT_THROW(elog::file_writer(path, EVENTLOG_CLOCK_MONOTONIC, 3), elog::failure);
}

TEST(file, blocks_of_an_unknown_type_are_skipped) {
    const std::string path = write_sample("unknown.elog");
    bytes changed = contents(path);
    // The loss block's type becomes one that nobody has thought of yet, properly signed.
    for (std::size_t at = 32; at + sizeof(elog::block_header) <= changed.size(); at += 8) {
        elog::block_header header{};
        std::memcpy(&header, changed.data() + at, sizeof header);
        if (header.magic == elog::block_magic &&
            header.type == static_cast<std::uint16_t>(elog::block_type::loss)) {
            header.type = 99;
            std::memcpy(changed.data() + at, &header, sizeof header);
            const std::uint32_t checksum = elog::crc32c(std::span(changed).subspan(at, 28));
            std::memcpy(changed.data() + at + 28, &checksum, sizeof checksum);
        }
    }
    replace(path, changed);
    const read_back result = read(path);
    EXPECT_EQ(result.numbers.size(), record_count);
    // All that is said is that the end counts the loss that the skipped block told.
    EXPECT_EQ(result.damages.size(), 1U);
}

}  // namespace
