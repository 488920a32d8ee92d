// SPDX-License-Identifier: MIT
//
// The layout of records in a ring: written, checked and read by the same pair of files.
#include "record/ring_records.hpp"

#include <linux/eventlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "decoded_records.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

/// With a payload of `size` bytes, whose values depend on the number.
struct made_record {
    elog::record_view view;
    bytes payload;

    made_record(std::uint16_t number, std::size_t size) : payload(size) {
        for (std::size_t i = 0; i < size; ++i) {
            payload[i] = static_cast<std::uint8_t>(number + i + 1);
        }
        view.provider = 0x1000U + number;
        view.event = static_cast<std::uint16_t>(0x200 + number);
        view.cpu = static_cast<std::uint16_t>(0x300 + number);
        view.flags = number % 2 == 0 ? EVENTLOG_RECORD_CUT : EVENTLOG_RECORD_CUSTOM_TIME;
        view.thread = 0x40000000U + number;
        view.time = 0x5000000000000000U + number;
        view.payload = payload;
    }
};

void expect_equal(const elog::record_view& found, const elog::record_view& expected) {
    EXPECT_EQ(found.provider, expected.provider);
    EXPECT_EQ(found.event, expected.event);
    EXPECT_EQ(found.cpu, expected.cpu);
    EXPECT_EQ(found.flags, expected.flags);
    EXPECT_EQ(found.thread, expected.thread);
    EXPECT_EQ(found.time, expected.time);
    EXPECT_TRUE(std::equal(found.payload.begin(), found.payload.end(), expected.payload.begin(),
                           expected.payload.end()));
}

/// Records with payloads of 0 to 17 bytes.
std::vector<made_record> some_records() {
    std::vector<made_record> all;
    for (std::uint16_t i = 0; i < 18; ++i) {
        all.emplace_back(i, i);
    }
    return all;
}

bytes encoded(const std::vector<made_record>& records) {
    bytes run;
    for (const made_record& each : records) {
        elog::append_record(run, each.view);
    }
    return run;
}

void set_size(bytes& run, std::size_t at, std::uint32_t size) {
    std::memcpy(run.data() + at, &size, sizeof size);
}

TEST(ring_records, are_read_as_they_were_appended) {
    const std::vector<made_record> records = some_records();
    const bytes run = encoded(records);
    const elog::checked_records found = elog::check_records(run);
    EXPECT_EQ(found.count, records.size());
    EXPECT_EQ(found.size, run.size());
    EXPECT_FALSE(found.damaged);
    elog::run_reader reader(run);
    elog::record_view record;
    std::size_t position = 0;
    for (const made_record& each : records) {
        EXPECT_FALSE(reader.is_at_end());
        ASSERT_TRUE(reader.next(record));
        expect_equal(record, each.view);
        position += elog::ring_size(each.view);
        EXPECT_EQ(reader.position(), position);
    }
    EXPECT_TRUE(reader.is_at_end());
    EXPECT_FALSE(reader.next(record));
    expect_equal(record, records.back().view);
}

TEST(ring_records, have_the_layout_that_producers_write) {
    const made_record made(3, 5);
    bytes run;
    elog::append_record(run, made.view);
    ASSERT_EQ(run.size(), 32U);
    eventlog_record header{};
    std::memcpy(&header, run.data(), sizeof header);
    EXPECT_EQ(header.size, sizeof header + 5);
    EXPECT_EQ(header.provider, made.view.provider);
    EXPECT_EQ(header.event, made.view.event);
    EXPECT_EQ(header.time, made.view.time);
    EXPECT_EQ(header.thread, made.view.thread);
    EXPECT_EQ(header.cpu, made.view.cpu);
    EXPECT_EQ(header.flags, made.view.flags);
    EXPECT_EQ(bytes(run.begin() + 24, run.begin() + 29), made.payload);
    EXPECT_EQ(bytes(run.begin() + 29, run.end()), bytes(3));  // the padding
}

TEST(ring_records, are_padded_with_zeros_over_earlier_bytes) {
    const made_record made(1, 1);
    bytes run(elog::ring_size(made.view), 0xff);
    elog::store_record(made.view, run.data());
    EXPECT_EQ(run, encoded({made}));
}

TEST(ring_records, built_in_place_equal_appended_ones) {
    const std::vector<made_record> records = some_records();
    bytes run;
    for (const made_record& each : records) {
        elog::record_appender appended(run);
        EXPECT_EQ(appended.payload_offset(), run.size());
        run.insert(run.end(), each.payload.begin(), each.payload.end());
        EXPECT_EQ(appended.payload_size(), each.payload.size());
        elog::record_view head = each.view;
        head.payload = {};
        appended.finish(head);
    }
    EXPECT_EQ(run, encoded(records));
    elog::record_appender discarded(run);
    run.push_back(1);
    discarded.discard();
    EXPECT_EQ(run, encoded(records));
}

TEST(ring_records, are_accepted_up_to_first_invalid_size) {
    for (const std::uint32_t size : {0U, 1U, 23U, 0x10001U, 0x80000000U, 0xffffffffU}) {
        bytes run = encoded({made_record(0, 8), made_record(1, 8), made_record(2, 8)});
        set_size(run, 32, size);
        const elog::checked_records found = elog::check_records(run);
        EXPECT_EQ(found.count, 1U) << size;
        EXPECT_EQ(found.size, 32U) << size;
        EXPECT_TRUE(found.damaged) << size;
        EXPECT_TRUE(elog::peek_record(std::span(run).subspan(32)).damaged) << size;
    }
}

TEST(ring_records, of_every_truncation_are_those_that_are_whole) {
    const std::vector<made_record> records = some_records();
    const bytes run = encoded(records);
    for (std::size_t size = 0; size <= run.size(); ++size) {
        // A copy of exactly that size, so that AddressSanitizer finds each access behind it.
        const bytes cut(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(size));
        const elog::checked_records found = elog::check_records(cut);
        std::size_t whole = 0;
        std::size_t count = 0;
        while (count < records.size() && whole + elog::ring_size(records[count].view) <= size) {
            whole += elog::ring_size(records[count++].view);
        }
        ASSERT_EQ(found.size, whole) << size;
        ASSERT_EQ(found.count, count) << size;
        ASSERT_FALSE(found.damaged) << size;
        const std::span<const std::uint8_t> checked = std::span(cut).first(found.size);
        elog::run_reader reader(checked);
        for (elog::record_view record; reader.next(record); --count) {
            ASSERT_LE(record.payload.data() + record.payload.size(), cut.data() + cut.size());
        }
        ASSERT_EQ(count, 0U) << size;
    }
}

TEST(ring_records, need_their_padding) {
    bytes run(64);
    set_size(run, 0, 64);
    EXPECT_EQ(elog::check_records(run).count, 1U);
    EXPECT_EQ(elog::check_records(std::span(run).first(63)).count, 0U);
    set_size(run, 0, 57);
    EXPECT_EQ(elog::check_records(run).size, 64U);
    EXPECT_EQ(elog::check_records(std::span(run).first(57)).count, 0U);
    set_size(run, 0, 65);
    EXPECT_EQ(elog::check_records(run).count, 0U);
    EXPECT_FALSE(elog::check_records(run).damaged);
}

TEST(ring_records, of_largest_size_are_valid) {
    const made_record largest(0, elog::payload_size_max);
    const bytes run = encoded({largest, made_record(1, 0)});
    EXPECT_EQ(run.size(), std::size_t{EVENTLOG_RECORD_SIZE_MAX} + 24);
    EXPECT_EQ(elog::check_records(run).count, 2U);
    expect_equal(eventlog::test::decode_records(run).front(), largest.view);
}

TEST(ring_records, are_peeked_without_payload_until_whole) {
    const made_record made(0, 9);
    const bytes run = encoded({made});
    for (std::size_t size = 0; size <= run.size(); ++size) {
        const bytes cut(run.begin(), run.begin() + static_cast<std::ptrdiff_t>(size));
        const elog::peeked_record found = elog::peek_record(cut);
        EXPECT_FALSE(found.damaged) << size;
        EXPECT_EQ(found.size, size < 24 ? 0U : run.size()) << size;
        EXPECT_EQ(found.is_whole, size == run.size()) << size;
        elog::record_view expected = made.view;
        expected.payload = found.is_whole ? expected.payload : std::span<const std::uint8_t>{};
        expect_equal(found.record, size < 24 ? elog::record_view{} : expected);
    }
}

TEST(ring_records, are_copied_unchanged_to_another_run) {
    const std::vector<made_record> records = some_records();
    const bytes run = encoded(records);
    elog::run_reader reader(run);
    bytes every_third;
    bytes expected;
    std::size_t number = 0;
    for (elog::record_view record; reader.next(record); ++number) {
        if (number % 3 == 0) {
            reader.append_last_to(every_third);
            elog::append_record(expected, records[number].view);
        }
    }
    EXPECT_EQ(elog::check_records(every_third).count, 6U);
    EXPECT_EQ(every_third, expected);
}

TEST(ring_records, with_unknown_flag_are_not_supported) {
    made_record made(0, 4);
    EXPECT_TRUE(elog::is_supported(made.view));
    made.view.flags |= 0x8000U;
    EXPECT_FALSE(elog::is_supported(made.view));
    const bytes run = encoded({made});
    EXPECT_FALSE(elog::is_supported(eventlog::test::decode_records(run).front()));
}

TEST(ring_records, keep_everything_but_their_mapped_times) {
    const std::vector<made_record> records = some_records();
    bytes run = encoded(records);
    elog::map_times(run, [](std::uint64_t time) { return time + 7; });
    const std::vector<elog::record_view> found = eventlog::test::decode_records(run);
    ASSERT_EQ(found.size(), records.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        elog::record_view expected = records[i].view;
        expected.time += 7;
        expect_equal(found[i], expected);
    }
}

TEST(ring_records, of_a_run_are_split_between_records) {
    const bytes all = encoded({made_record(0, 8), made_record(1, 16), made_record(2, 100)});
    elog::record_run rest;
    rest.ring = 3;
    rest.lost_before = 5;
    rest.overwritten = true;
    rest.sequence = 10;
    rest.count = 3;
    rest.bytes = all;
    const elog::record_run first = elog::take_first_records(rest, 32 + 40 + 1);
    EXPECT_EQ(first.ring, 3U);
    EXPECT_EQ(first.lost_before, 5U);
    EXPECT_TRUE(first.overwritten);
    EXPECT_EQ(first.sequence, 10U);
    EXPECT_EQ(first.count, 2U);
    EXPECT_EQ(first.bytes.size(), 72U);
    EXPECT_EQ(rest.lost_before, 0U);
    EXPECT_FALSE(rest.overwritten);
    EXPECT_EQ(rest.sequence, 12U);
    const elog::record_run larger = elog::take_first_records(rest, 1);  // at least one
    EXPECT_EQ(larger.count, 1U);
    EXPECT_EQ(larger.bytes.size(), 128U);
    EXPECT_EQ(rest.count, 0U);
    EXPECT_TRUE(rest.bytes.empty());
    bytes joined;
    elog::append_run(joined, first);
    elog::append_run(joined, larger);
    EXPECT_EQ(joined, all);
}

}  // namespace
