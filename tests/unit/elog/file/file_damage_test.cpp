// SPDX-License-Identifier: MIT
//
// An .elog file truncated at every byte, and with every bit flipped: the reader returns all intact
// records, reports the damage, and returns no wrong record.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "build_kind.hpp"
#include "file/block_file.hpp"
#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

// Slow builds use smaller files.
constexpr std::size_t smaller = test::is_slow ? 8 : 1;

constexpr std::size_t cut_size = 65536 / smaller;
constexpr std::size_t flip_size = 16384 / smaller;
constexpr std::size_t record_size = 40;

/// Writes a file of at least this size.
std::string write_file(const std::string& name, std::size_t size, std::uint64_t block,
                       int compression) {
    std::string path = test::scratch_directory() + "/" + name;
    test::sample_options options;
    options.block = block;
    options.gap_before = 3 * block + 1;
    options.compression = compression;
    // Compressed records are smaller: add records until the size is reached.
    for (options.records = size / record_size;; options.records += options.records / 4) {
        test::write_sample(path, options);
        if (test::contents(path).size() >= size) {
            return path;
        }
    }
}

/// The number of records in the blocks that end at or before an offset.
class records_by_offset {
  public:
    explicit records_by_offset(const test::bytes& file) {
        for (const test::block_location& block : test::blocks_of(file)) {
            if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
                elog::records_block head{};
                std::memcpy(&head, file.data() + block.offset + sizeof block.header, sizeof head);
                total_ += head.count;
            }
            // The last block is complete without its padding.
            after_.emplace_back(block.offset + sizeof block.header + block.header.size, total_);
            ends_.insert(block.end);
        }
    }

    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    [[nodiscard]] std::uint64_t before(std::size_t size) const {
        std::uint64_t records = 0;
        for (const auto& [end, count] : after_) {
            if (end > size) {
                break;
            }
            records = count;
        }
        return records;
    }
    /// Whether a file of this size ends with a block, possibly without its padding.
    [[nodiscard]] bool is_between_blocks(std::size_t size) const {
        return ends_.contains((size + 7) / 8 * 8) || size == sizeof(elog::file_header);
    }

  private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> after_;
    std::set<std::uint64_t> ends_;
    std::uint64_t total_ = 0;
};

void truncate_at_every_byte(const std::string& path) {
    const test::bytes whole = test::contents(path);
    const records_by_offset records(whole);
    ASSERT_EQ(test::read_sample(path).numbers.size(), records.total());
    std::size_t failures = 0;
    for (std::size_t size = whole.size(); size-- > 0 && failures < 10;) {
        ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(size)), 0);
        const test::sample_contents result = test::read_sample(path);
        const bool is_said =
            !result.opened || !result.damages.empty() || records.is_between_blocks(size);
        const bool is_right = result.wrong == 0 && is_said &&
                              (result.opened ? result.numbers.size() == records.before(size)
                                             : records.before(size) == 0);
        // A file that lacks only padding is complete.
        const bool has_end = result.has_end && size + 8 <= whole.size();
        EXPECT_TRUE(is_right && !has_end)
            << "cut to " << size << " bytes: " << result.numbers.size() << " records instead of "
            << records.before(size);
        failures += is_right && !has_end ? 0U : 1U;
    }
}

TEST(file_damage, of_many_blocks_is_searched_once) {
    const std::string path = test::scratch_directory() + "/many.elog";
    test::sample_options options;
    options.records = 2000;
    options.block = 1;
    test::write_sample(path, options);
    test::bytes changed = test::contents(path);
    bool is_damaged = false;
    for (const test::block_location& block : test::blocks_of(changed)) {
        changed[block.offset] ^= is_damaged ? 1U : 0U;
        is_damaged = !is_damaged;
    }
    test::replace(path, changed);
    elog::block_file file(path);
    elog::block_walker walker(file, sizeof(elog::file_header), 0);
    std::size_t found = 0;
    while (walker.next()) {
        ++found;
    }
    EXPECT_GE(found, 1000U);
    EXPECT_LT(file.bytes_read(), 20 * changed.size());
}

TEST(file_damage, truncation_at_any_byte_keeps_whole_blocks_and_is_reported) {
    truncate_at_every_byte(write_file("cut.elog", cut_size, 40, 0));
}

TEST(file_damage, truncation_of_compressed_file_is_reported) {
    truncate_at_every_byte(write_file("cut_compressed.elog", cut_size / 4, 200, 3));
}

/// The most records that damage of the byte at this offset may cost: those of its block.
std::uint64_t loss_bounds_at(const test::bytes& file, std::size_t at) {
    for (const test::block_location& block : test::blocks_of(file)) {
        if (at >= block.offset && at < block.end) {
            elog::records_block head{};
            if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
                std::memcpy(&head, file.data() + block.offset + sizeof block.header, sizeof head);
            }
            return head.count;
        }
    }
    return 0;  // the file's header
}

/// Flips a bit of a file, and flips it back when destroyed.
class flipped_bit {
  public:
    flipped_bit(int file, std::size_t at, std::uint8_t byte, unsigned bit)
        : file_(file), at_(static_cast<off_t>(at)), byte_(byte) {
        const auto changed = static_cast<std::uint8_t>(byte ^ 1U << bit);
        EXPECT_EQ(::pwrite(file_, &changed, 1, at_), 1);
    }
    ~flipped_bit() { EXPECT_EQ(::pwrite(file_, &byte_, 1, at_), 1); }
    flipped_bit(const flipped_bit&) = delete;
    flipped_bit& operator=(const flipped_bit&) = delete;

  private:
    int file_;
    off_t at_;
    std::uint8_t byte_;
};

void flip_everywhere(const std::string& path, elog::time_range range) {
    const test::bytes whole = test::contents(path);
    const std::uint64_t total = records_by_offset(whole).total();
    ASSERT_EQ(test::read_sample(path, range).numbers.size(), total);
    const eventlog::core::unique_fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    ASSERT_TRUE(file);
    std::size_t failures = 0;
    for (std::size_t at = 0; at < whole.size() && failures < 10; ++at) {
        const std::uint64_t loss_bounds = loss_bounds_at(whole, at);
        for (unsigned bit = 0; bit < 8; ++bit) {
            const flipped_bit flipped(file.get(), at, whole[at], bit);
            const test::sample_contents result = test::read_sample(path, range);
            // A time range over the whole file may skip index and end blocks, and so their damage.
            const bool is_right = result.opened && result.wrong == 0 &&
                                  result.numbers.size() >= total - loss_bounds &&
                                  (!result.damages.empty() || !range.is_everything()) &&
                                  (!result.damages.empty() || result.numbers.size() == total);
            EXPECT_TRUE(is_right) << "bit " << bit << " of byte " << at << ": "
                                  << result.numbers.size() << " records of " << total << ", of "
                                  << loss_bounds << " at stake";
            failures += is_right ? 0U : 1U;
        }
    }
}

TEST(file_damage, bit_flip_costs_at_most_one_block_and_is_reported) {
    flip_everywhere(write_file("flip.elog", flip_size, 20, 0), {});
}

TEST(file_damage, bit_flip_in_compressed_file_is_reported) {
    flip_everywhere(write_file("flip_compressed.elog", flip_size / 4, 100, 3), {});
}

TEST(file_damage, bit_flip_in_index_data_costs_at_most_one_block) {
    // A time range over everything, so that the index is used.
    flip_everywhere(write_file("flip_index.elog", flip_size / 4, 20, 0), {0, INT64_MAX});
}

}  // namespace
