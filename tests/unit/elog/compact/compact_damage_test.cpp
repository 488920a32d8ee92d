// SPDX-License-Identifier: MIT
//
// Compacted records in untrusted bytes: each one is decoded, or the rest of the block is damaged.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "byte_builder.hpp"
#include "compact_block.hpp"
#include "random_source.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::compact;
using elog::compact_mode;
using elog::compact_result;
using elog::compact_shape;

TEST(compact_damage, empty_block_has_no_records) {
    EXPECT_EQ(decode({}), (decoded_block{{}, compact_result::end}));
}

TEST(compact_damage, escapes_alone_are_no_records) {
    EXPECT_EQ(decode(definition(5, {})).end, compact_result::end);
    EXPECT_TRUE(decode(bytes{0xfd, 1, 2, 3, 4}).records.empty());
}

TEST(compact_damage, delta_may_have_more_bytes_than_it_needs) {
    const compact_shape empty{compact_mode::fixed, 0, 0};
    const decoded_block decoded = decode(block_of(empty, {3, 1, 0, 0, 0, 2, 2, 0, 0, 1, 3, 0}));
    EXPECT_EQ(decoded.end, compact_result::end);
    ASSERT_EQ(decoded.records.size(), 3U);
    EXPECT_EQ(decoded.records.back().time, start.time + 6);
}

TEST(compact_damage, damaged_bytes_end_block) {
    const compact_shape four{compact_mode::fixed, 4, 0};
    test::byte_builder too_large;
    too_large.add(std::uint8_t{0xff}).add_zeros(20).add(std::uint16_t{65513}).add_zeros(65513);
    const std::vector<bytes> damaged{
        {0, 0},                                              // no entry
        block_of({}, {4, 0}),                                // the entry after the last one
        block_of(four, {0, 0, 1, 2, 3}),                     // fixed part
        block_of({}, {0, 0, 2, 1}),                          // sized payload
        block_of(reference_shape, {0, 0, 1, 2, 3}),          // fixed part of a text
        block_of({compact_mode::text, 4, 0}, {0, 0, 3, 1}),  // characters
        block_of(four, {3, 0, 0}),                           // delta
        definition(5, {compact_mode{3}, 0, 0}),
        definition(5, {compact_mode::fixed, 4, 1}),
        definition(5, {compact_mode::sized, 1, 0}),
        definition(5, {compact_mode::sized, 0, 1}),
        definition(5, {compact_mode::text, 20, 17}),
        definition(5, {compact_mode::text, 3, 0}),
        definition(5, {compact_mode::text, 20, 255}),
        too_large.bytes(),
    };
    for (const bytes& block : damaged) {
        EXPECT_EQ(decode(block), (decoded_block{{}, compact_result::damaged}));
        elog::compact_decoder decoder;
        decoder.begin(block);
        elog::compact_record record;
        EXPECT_EQ(decoder.next(record), compact_result::damaged);
        EXPECT_EQ(decoder.next(record), compact_result::damaged);
        decoder.begin({});
        EXPECT_EQ(decoder.next(record), compact_result::end);
    }
}

TEST(compact_damage, result_other_than_record_leaves_record_unchanged) {
    const bytes block = block_of({}, {0, 0, 2, 1});
    elog::compact_decoder decoder;
    decoder.begin(block);
    elog::compact_record record{1, 2, 3, 4, 5, block};
    EXPECT_EQ(decoder.next(record), compact_result::damaged);
    EXPECT_EQ(owned(record), (owned_record{1, 2, 3, 4, 5, block}));
}

/// Records of all modes, with other threads and CPUs, earlier times and flags among them. Payloads
/// have up to `size` bytes more than their fixed parts.
std::vector<shaped_record> random_records(test::random_source& random, std::size_t count,
                                          std::size_t events, std::size_t size) {
    const std::vector<std::uint64_t> steps{0, 1, 200, 40'000, 9'000'000, 4'000'000'000};
    std::vector<shaped_record> records;
    owned_record next{0, start.thread, start.time, start.cpu, 0, {}};
    for (std::size_t i = 0; i < count; ++i) {
        next.event = static_cast<std::uint32_t>(random.below(events));
        next.time += random.pick(steps);
        next.flags = random.below(20) == 0 ? 1 : 0;
        if (random.below(8) == 0) {
            next.thread = static_cast<std::uint32_t>(random.below(5));
        }
        if (random.below(30) == 0) {
            next.cpu = static_cast<std::uint16_t>(random.below(4));
            next.time -= random.below(20'000);
        }
        const std::size_t fixed = next.event % 40 + 4;
        compact_shape shape{};
        if (next.event % 3 == 0) {
            shape = {compact_mode::fixed, static_cast<std::uint8_t>(fixed), 0};
            next.payload = bytes(fixed, static_cast<std::uint8_t>(i));
        } else if (next.event % 3 == 1) {
            next.payload = bytes(random.below(size), static_cast<std::uint8_t>(i));
        } else {
            const std::size_t word = next.event % (fixed - 3);
            shape = {compact_mode::text, static_cast<std::uint8_t>(fixed),
                     static_cast<std::uint8_t>(word)};
            next.payload = text_payload(fixed, word, std::string(random.below(size), 'x'));
        }
        records.push_back({next, shape});
    }
    return records;
}

TEST(compact_damage, random_records_round_trip) {
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        test::random_source random(seed);
        round_trip(random_records(random, 2000, std::size_t{seed} * 10, 290));
        ASSERT_FALSE(HasFailure()) << seed;
    }
}

/// Blocks are copied to memory of exactly their size, so that a sanitizer detects other reads.
TEST(compact_damage, every_truncation_yields_first_records) {
    test::random_source random(1);
    const std::vector<shaped_record> records = random_records(random, 60, 30, 290);
    const bytes block = encode(records);
    std::size_t count = 0;
    for (std::size_t size = 0; size < block.size(); ++size) {
        const bytes part(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
        const decoded_block decoded = decode(part, start);
        ASSERT_LT(decoded.records.size(), records.size());
        ASSERT_GE(decoded.records.size(), count) << size;
        count = decoded.records.size();
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_EQ(decoded.records[i], records[i].record) << size << ' ' << i;
        }
    }
    EXPECT_EQ(count, records.size() - 1);
}

struct record_totals {
    std::size_t records = 0;
    std::uint64_t payload_bytes = 0;  // their sum
};

/// Decodes a whole block and reads all payloads, but keeps nothing: this is called often.
record_totals sum_up(const bytes& block) {
    elog::compact_decoder decoder;
    decoder.begin(block, start);
    elog::compact_record record;
    record_totals totals;
    while (decoder.next(record) == compact_result::record) {
        ++totals.records;
        for (const std::uint8_t byte : record.payload) {
            totals.payload_bytes += byte;
        }
    }
    return totals;
}

TEST(compact_damage, every_changed_byte_is_safe) {
    test::random_source random(2);
    const bytes block = encode(random_records(random, 20, 12, 8));
    ASSERT_EQ(sum_up(block).records, 20U);
    for (std::size_t at = 0; at < block.size(); ++at) {
        bytes changed = block;
        for (unsigned value = 0; value < 256; ++value) {
            changed[at] = static_cast<std::uint8_t>(value);
            const record_totals totals = sum_up(changed);
            ASSERT_LE(totals.records, changed.size() / 2);
            ASSERT_LE(totals.payload_bytes, totals.records * 255 * elog::compact_payload_max);
        }
    }
}

}  // namespace
