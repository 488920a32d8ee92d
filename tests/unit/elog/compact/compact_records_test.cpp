// SPDX-License-Identifier: MIT
//
// The compacted encoding of records: the bytes of each mode and escape, and their limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "byte_builder.hpp"
#include "compact_block.hpp"
#include "random_source.hpp"

namespace {

namespace test = eventlog::test;
using namespace eventlog::test::compact;
using elog::compact_encoder;
using elog::compact_mode;
using elog::compact_shape;

std::size_t raw_size(const shaped_record& raw) {
    return 23 + raw.record.payload.size();
}

TEST(compact_records, fixed_payload_has_no_size) {
    const compact_shape shape{compact_mode::fixed, 3, 0};
    EXPECT_EQ(round_trip({record_of(shape, {1, 2, 3})}), block_of(shape, {0, 0, 1, 2, 3}));
}

TEST(compact_records, sized_payload_follows_its_size) {
    EXPECT_EQ(round_trip({record_of({}, {1, 2, 3})}), block_of({}, {0, 0, 3, 1, 2, 3}));
}

TEST(compact_records, text_has_neither_word_nor_nul) {
    const compact_shape last{compact_mode::text, 6, 2};
    EXPECT_EQ(round_trip({record_of(last, text_payload(6, 2, "ab"))}),
              block_of(last, {0, 0, 0x80, 0x81, 3, 'a', 'b'}));
    const compact_shape inside{compact_mode::text, 7, 1};
    EXPECT_EQ(round_trip({record_of(inside, text_payload(7, 1, "ab"))}),
              block_of(inside, {0, 0, 0x80, 0x85, 0x86, 3, 'a', 'b'}));
}

TEST(compact_records, example_of_manual_page_is_right) {
    const compact_shape shape{compact_mode::text, 8, 4};
    shaped_record first = record_of(shape, {1, 0, 0, 0, 0, 0, 3, 0, 'a', 'b', 0});
    first.record.time = 1003;
    shaped_record second = record_of(shape, {2, 0, 0, 0, 0, 0, 0, 0});
    second.record.time = 1301;
    EXPECT_EQ(round_trip({first, second}), (bytes{0xfc, 5, 0,   0,   0, 2,    8, 4, 0, 3, 1, 0, 0,
                                                  0,    3, 'a', 'b', 1, 0x2a, 1, 2, 0, 0, 0, 0}));
}

TEST(compact_records, text_distinguishes_null_from_empty) {
    const compact_shape shape{compact_mode::text, 4, 0};
    EXPECT_EQ(round_trip({record_of(shape, {0, 0, 0, 0})}), block_of(shape, {0, 0, 0}));
    EXPECT_EQ(round_trip({record_of(shape, text_payload(4, 0, ""))}), block_of(shape, {0, 0, 1}));
}

TEST(compact_records, reference_event_takes_32_bytes) {
    shaped_record second = reference();
    ASSERT_EQ(second.record.payload.size(), 33U);
    const std::size_t first_size = round_trip({reference()}).size();
    second.record.time += 65535;
    EXPECT_EQ(round_trip({reference(), second}).size(), first_size + 32);
    second.record.time += 1;
    EXPECT_EQ(round_trip({reference(), second}).size(), first_size + 33);
}

TEST(compact_records, payload_that_shape_does_not_fit_is_raw) {
    bytes no_nul = text_payload(20, 16, "text");
    no_nul.back() = 'x';
    bytes longer = text_payload(20, 16, "text");
    longer.push_back(0);
    bytes null_word = text_payload(20, 16, "text");
    std::fill_n(null_word.begin() + 16, 4, std::uint8_t{0});
    bytes distant = text_payload(20, 16, "text");
    ++distant[16];
    const bytes shorter(19);
    for (const bytes& payload : {no_nul, longer, null_word, distant, shorter}) {
        const shaped_record raw = record_of(reference_shape, payload);
        EXPECT_EQ(round_trip({raw}).size(), raw_size(raw));
    }
    const compact_shape four{compact_mode::fixed, 4, 0};
    for (const std::size_t size : {0U, 3U, 5U}) {
        const shaped_record raw = record_of(four, bytes(size));
        EXPECT_EQ(round_trip({raw}).size(), raw_size(raw));
    }
}

TEST(compact_records, shape_that_is_not_valid_makes_raw_records) {
    const bytes payload = text_payload(20, 16, "text");
    for (const compact_shape shape :
         {compact_shape{compact_mode::text, 20, 17}, compact_shape{compact_mode::text, 3, 0},
          compact_shape{compact_mode::text, 20, 255}, compact_shape{compact_mode{3}, 0, 0},
          compact_shape{compact_mode{255}, 25, 0}}) {
        const shaped_record raw = record_of(shape, payload);
        EXPECT_EQ(round_trip({raw}).size(), raw_size(raw));
    }
}

TEST(compact_records, unused_members_of_shape_are_ignored) {
    EXPECT_EQ(encode({record_of({compact_mode::fixed, 1, 9}, {1})}),
              block_of({compact_mode::fixed, 1, 0}, {0, 0, 1}));
    EXPECT_EQ(encode({record_of({compact_mode::sized, 8, 9}, {1})}), block_of({}, {0, 0, 1, 1}));
}

TEST(compact_records, limits_of_sizes_are_exact) {
    for (const std::size_t size : {0U, 1U, 254U, 255U, 256U, 65511U, 65512U}) {
        const shaped_record sized = record_of({}, bytes(size, 0x55));
        EXPECT_EQ(round_trip({sized}).size(), size <= 255 ? 8 + 3 + size : 23 + size) << size;
        const shaped_record fixed =
            record_of({compact_mode::fixed, static_cast<std::uint8_t>(size), 0}, bytes(size));
        EXPECT_EQ(round_trip({fixed}).size(), size <= 255 ? 8 + 2 + size : 23 + size) << size;
    }
    for (const std::size_t characters : {0U, 1U, 253U, 254U, 255U, 60000U}) {
        const shaped_record text = record_of({compact_mode::text, 255, 251},
                                             text_payload(255, 251, std::string(characters, 'x')));
        EXPECT_EQ(round_trip({text}).size(),
                  characters <= 254 ? 8 + 2 + 251 + 1 + characters : raw_size(text))
            << characters;
    }
}

TEST(compact_records, too_large_payload_is_rejected) {
    bytes buffer(200'000);
    compact_encoder encoder;
    encoder.begin(buffer);
    const bytes payload(65513);
    EXPECT_FALSE(encoder.add({5, 7, 1000, 3, 0, payload}, {}));
    EXPECT_TRUE(encoder.bytes().empty());
}

TEST(compact_records, copies_parts_of_every_size) {
    test::random_source random(1);
    for (std::size_t size = 0; size <= 255; ++size) {
        bytes payload(size);
        std::generate(payload.begin(), payload.end(),
                      [&] { return static_cast<std::uint8_t>(random.below(256)); });
        round_trip({record_of({}, payload)});
    }
    for (std::size_t fixed = 4; fixed <= 255; ++fixed) {
        for (const std::size_t word : {std::size_t{0}, fixed / 2, fixed - 4}) {
            const std::size_t at = std::min(word, fixed - 4);
            const compact_shape shape{compact_mode::text, static_cast<std::uint8_t>(fixed),
                                      static_cast<std::uint8_t>(at)};
            const shaped_record text =
                record_of(shape, text_payload(fixed, at, std::string(fixed - 4, 'x')));
            EXPECT_EQ(round_trip({text}).size(), 8 + 2 + (fixed - 4) + 1 + (fixed - 4));
        }
    }
}

TEST(compact_records, delta_takes_as_few_bytes_as_possible) {
    const std::pair<std::uint64_t, std::size_t> sizes[] = {
        {0, 1},          {1, 1},        {255, 1},      {256, 2},         {65535, 2},
        {65536, 3},      {16777215, 3}, {16777216, 4}, {4294967295U, 4}, {4294967296U, 16},
        {UINT64_MAX, 16}};
    for (const auto& [delta, size] : sizes) {
        shaped_record later = record_of({compact_mode::fixed, 0, 0}, {});
        later.record.time += delta;
        EXPECT_EQ(round_trip({later}).size(), 8 + 1 + size) << delta;
        // A delta is relative to the record before.
        shaped_record last = later;
        last.record.time += 1;
        EXPECT_EQ(round_trip({later, last}).size(), 8 + 1 + size + 2) << delta;
    }
}

TEST(compact_records, time_that_wraps_is_a_small_delta) {
    shaped_record before = record_of({compact_mode::fixed, 0, 0}, {});
    before.record.time = UINT64_MAX;
    shaped_record after = before;
    after.record.time = 4;
    EXPECT_EQ(round_trip({before, after}, {UINT64_MAX, 7, 3}).size(), 8U + 2 + 2);
}

TEST(compact_records, context_precedes_earlier_time_and_other_cpu) {
    const compact_shape empty{compact_mode::fixed, 0, 0};
    const shaped_record first = record_of(empty, {});
    shaped_record earlier = first;
    earlier.record.time = 999;
    const bytes context = test::byte_builder()
                              .add_bytes(encode({first}))
                              .add(std::uint8_t{0xfe})
                              .add(std::uint64_t{999})
                              .add(std::uint32_t{7})
                              .add(std::uint16_t{3})
                              .add_bytes(bytes{0, 0})
                              .bytes();
    EXPECT_EQ(round_trip({first, earlier}), context);
    shaped_record elsewhere = first;
    elsewhere.record.cpu = 4;
    elsewhere.record.thread = 8;
    EXPECT_EQ(round_trip({first, elsewhere, elsewhere}).size(), 8U + 2 + 15 + 2 + 2);
}

TEST(compact_records, thread_precedes_record_of_another_thread) {
    const compact_shape empty{compact_mode::fixed, 0, 0};
    shaped_record other = record_of(empty, {});
    other.record.thread = 0x01020304;
    other.record.time += 5;
    EXPECT_EQ(round_trip({other, other}), block_of(empty, {0xfd, 4, 3, 2, 1, 0, 5, 0, 0}));
}

TEST(compact_records, raw_record_has_flags_and_keeps_context) {
    shaped_record raw = reference();
    raw.record = {0x01020304, 9, 0x1122334455667788, 6, 0x8001, {0xaa, 0xbb}};
    const bytes block = test::byte_builder()
                            .add(std::uint8_t{0xff})
                            .add(std::uint32_t{0x01020304})
                            .add(std::uint32_t{9})
                            .add(std::uint64_t{0x1122334455667788})
                            .add(std::uint16_t{6})
                            .add(std::uint16_t{0x8001})
                            .add(std::uint16_t{2})
                            .add(std::uint8_t{0xaa})
                            .add(std::uint8_t{0xbb})
                            .bytes();
    EXPECT_EQ(round_trip({raw}), block);
    EXPECT_EQ(round_trip({reference(), raw, reference()}).size(),
              encode({reference(), reference()}).size() + block.size());
}

TEST(compact_records, dictionary_replaces_oldest_of_63_entries) {
    std::vector<shaped_record> records;
    const auto add = [&](std::uint32_t event) {
        records.push_back(record_of({compact_mode::fixed, 1, 0}, {9}, event));
        return round_trip(records).size();
    };
    std::size_t size = 0;
    for (std::uint32_t event = 0; event < 63; ++event) {
        size += 8 + 3;
        EXPECT_EQ(add(event), size) << event;
    }
    EXPECT_EQ(add(0), size += 3);       // entry 0
    EXPECT_EQ(add(63), size += 8 + 3);  // replaces entry 0
    EXPECT_EQ(add(1), size += 3);       // entry 1
    EXPECT_EQ(add(0), size += 8 + 3);   // replaces entry 1
    EXPECT_EQ(add(1), size += 8 + 3);   // replaces entry 2
    EXPECT_EQ(add(62), size += 3);      // the newest one of the first row
}

TEST(compact_records, events_with_one_low_byte_keep_their_entries) {
    std::vector<shaped_record> records;
    for (int round = 0; round < 3; ++round) {
        for (const std::uint32_t event : {0x105U, 0x205U, 0xffffff05U, 0x5U}) {
            records.push_back(record_of({compact_mode::fixed, 1, 0}, {9}, event));
        }
    }
    EXPECT_EQ(round_trip(records).size(), std::size_t{4} * 8 + records.size() * 3);
}

TEST(compact_records, event_may_change_its_shape) {
    std::vector<shaped_record> records;
    for (int round = 0; round < 3; ++round) {
        records.push_back(record_of({compact_mode::fixed, 1, 0}, {9}));
        records.push_back(record_of({}, {9}));
        records.push_back(record_of({compact_mode::text, 4, 0}, {0, 0, 0, 0}));
    }
    EXPECT_EQ(round_trip(records).size(), 3 * 8 + 3 * (3 + 4 + 3));
}

TEST(compact_records, full_buffer_leaves_block_unchanged_and_next_one_decodes_alone) {
    const bytes first = encode({reference()});
    bytes buffer(first.size() + compact_encoder::size_bound(33));
    compact_encoder encoder;
    encoder.begin({buffer.data(), buffer.size() - 1}, start);
    ASSERT_TRUE(encoder.add(reference().record.view(), reference_shape));
    EXPECT_FALSE(encoder.add(reference().record.view(), reference_shape));
    EXPECT_EQ(bytes(encoder.bytes().begin(), encoder.bytes().end()), first);
    encoder.begin(buffer, start);
    ASSERT_TRUE(encoder.add(reference().record.view(), reference_shape));
    EXPECT_EQ(bytes(encoder.bytes().begin(), encoder.bytes().end()), first);
    EXPECT_TRUE(encoder.add(reference().record.view(), reference_shape));
}

TEST(compact_records, encoder_stays_inside_its_buffer) {
    for (std::size_t size = 0; size < 200; ++size) {
        bytes buffer(size + 16, 0xee);
        compact_encoder encoder;
        encoder.begin({buffer.data(), size}, {});
        while (encoder.add(reference().record.view(), reference_shape)) {
        }
        EXPECT_TRUE(std::all_of(buffer.begin() + static_cast<std::ptrdiff_t>(size), buffer.end(),
                                [](std::uint8_t byte) { return byte == 0xee; }))
            << size;
    }
}

}  // namespace
