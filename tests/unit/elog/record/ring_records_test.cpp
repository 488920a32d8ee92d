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
#include "record/event_numbers.hpp"

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
        view.flags = number % 2 == 0 ? EVENTLOG_RECORD_TRUNCATED : EVENTLOG_RECORD_CUSTOM_TIME;
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

constexpr std::size_t header_size = 32;

/// Word 0 of a record in a ring. Kind: 0 short, 1 with a context, 2 extended.
constexpr std::uint64_t head_of(std::uint64_t event, std::uint64_t kind, std::uint64_t size,
                                std::uint32_t time) {
    return event << 42U | kind << 40U | size << 32U | time;
}
constexpr std::uint64_t context_of(std::uint64_t thread, std::uint32_t upper_time) {
    return thread << 32U | upper_time;
}

bytes bytes_of(const std::vector<std::uint64_t>& words) {
    bytes run(words.size() * sizeof(std::uint64_t));
    std::memcpy(run.data(), words.data(), run.size());
    return run;
}

std::vector<std::uint64_t> words_of(const bytes& run) {
    std::vector<std::uint64_t> words(run.size() / sizeof(std::uint64_t));
    std::memcpy(words.data(), run.data(), run.size());
    return words;
}

elog::provider_instance provider_with(std::uint32_t id, std::uint32_t event_base,
                                      std::size_t events) {
    elog::provider_instance made;
    made.id = id;
    made.event_base = event_base;
    made.schema.events.resize(events);
    return made;
}

/// Two providers: 7 with the events 1 to 3, and 9 with 4 and 5.
elog::event_numbers some_numbers() {
    elog::event_numbers numbers;
    EXPECT_TRUE(numbers.add(provider_with(7, 1, 3)));
    EXPECT_TRUE(numbers.add(provider_with(9, 4, 2)));
    return numbers;
}

/// Of every kind, by two threads, over a change of the upper time. Nine words of payload.
bytes records_of_a_ring() {
    return bytes_of({head_of(1, 1, 8, 10), context_of(71, 5), 100,               // 40-bit time 5:10
                     head_of(4, 0, 3, 11), 0x030201,                             //
                     head_of(3, 2, 0, 12), context_of(72, 6), 0x0002'0001'0009,  // CPU 2, cut
                     200, 201,                                                   //
                     head_of(5, 0, 0, 13),                                       //
                     head_of(2, 1, 0, 14), context_of(72, 6),                    //
                     head_of(2, 0, 8, 15), 300});
}

std::vector<elog::record_view> expected_records() {
    const auto view = [](std::uint32_t provider, std::uint16_t event, std::uint32_t thread,
                         std::uint64_t time) {
        elog::record_view made;
        made.provider = provider;
        made.event = event;
        made.thread = thread;
        made.time = time;
        made.cpu = 1;
        return made;
    };
    static const bytes payloads = bytes_of({100, 0x030201, 200, 201, 300});
    const auto part = [](std::size_t word, std::size_t size) {
        return std::span<const std::uint8_t>(payloads).subspan(word * 8, size);
    };
    std::vector<elog::record_view> all{
        view(7, 0, 71, 5ULL << 32U | 10), view(9, 0, 71, 5ULL << 32U | 11),
        view(7, 2, 72, 6ULL << 32U | 12), view(9, 1, 71, 5ULL << 32U | 13),
        view(7, 1, 72, 6ULL << 32U | 14), view(7, 1, 72, 6ULL << 32U | 15)};
    all[0].payload = part(0, 8);
    all[1].payload = part(1, 3);
    all[2].payload = part(2, 9);
    all[2].cpu = 2;
    all[2].flags = EVENTLOG_RECORD_TRUNCATED;
    all[5].payload = part(4, 8);
    return all;
}

void expect_all_equal(const std::vector<elog::record_view>& found,
                      const std::vector<elog::record_view>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        SCOPED_TRACE(i);
        expect_equal(found[i], expected[i]);
    }
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
    const elog::event_numbers numbers = some_numbers();
    const bytes run = records_of_a_ring();
    const elog::checked_records found = elog::check_records(run);
    EXPECT_EQ(found.count, 6U);
    EXPECT_EQ(found.size, run.size());
    EXPECT_FALSE(found.damaged);
    EXPECT_EQ(found.usual_size, 16U + 16U + 40U + 8U + 8U + 16U);  // without contexts
    EXPECT_EQ(found.context, context_of(72, 6));
    expect_all_equal(eventlog::test::decode_records(elog::run_reader(run, 1, 0, &numbers)),
                     expected_records());
}

TEST(ring_records, need_the_context_before_them) {
    const elog::event_numbers numbers = some_numbers();
    const bytes run = records_of_a_ring();
    const std::span<const std::uint8_t> behind = std::span(run).subspan(24);
    EXPECT_TRUE(elog::check_records(behind).damaged);
    EXPECT_EQ(elog::check_records(behind).count, 0U);
    EXPECT_EQ(elog::check_records(behind, context_of(71, 5)).count, 5U);
    const std::vector<elog::record_view> expected = expected_records();
    expect_all_equal(
        eventlog::test::decode_records(elog::run_reader(behind, 1, context_of(71, 5), &numbers)),
        {expected.begin() + 1, expected.end()});
}

TEST(ring_records, are_of_an_unknown_provider_without_its_numbers) {
    elog::event_numbers numbers;
    EXPECT_TRUE(numbers.add(provider_with(9, 4, 2)));
    const bytes run = records_of_a_ring();
    const std::vector<elog::record_view> found =
        eventlog::test::decode_records(elog::run_reader(run, 1, 0, &numbers));
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(found[0].provider, elog::unknown_provider);
    EXPECT_EQ(found[1].provider, 9U);
    EXPECT_EQ(found[2].provider, elog::unknown_provider);
    EXPECT_EQ(found[2].event, 3U);
    EXPECT_EQ(found[3].provider, 9U);
}

TEST(ring_records, with_invalid_words_are_damaged) {
    const std::vector<std::uint64_t> good = words_of(records_of_a_ring());
    const auto with = [&](std::size_t word, std::uint64_t value) {
        std::vector<std::uint64_t> words = good;
        words[word] = value;
        return elog::check_records(bytes_of(words));
    };
    struct changed_word {
        std::size_t word;
        std::uint64_t value;
        std::uint64_t records_before;
    };
    const std::vector<changed_word> changes{
        {0, head_of(0, 1, 8, 10), 0},   // event 0
        {0, head_of(1, 3, 8, 10), 0},   // the reserved kind
        {0, head_of(1, 0, 8, 10), 0},   // a short record without a context
        {3, 0, 1},                      // no record
        {5, head_of(3, 2, 1, 12), 2},   // a size in word 0 of an extended record
        {7, 0x0200'0002'0001'0009, 2},  // a bit of the reserved ones in word 2
        {7, 0x0100'0002'0001'0009, 2},  // no word for provider and event
        {7, 0x0003'0002'0000'ffff, 2},  // over the largest size
        {7, 0x0000'0002'0000'ffe9, 2},  // over the largest payload
    };
    for (const changed_word& each : changes) {
        const elog::checked_records found = with(each.word, each.value);
        EXPECT_TRUE(found.damaged) << each.word << ' ' << each.value;
        EXPECT_EQ(found.count, each.records_before) << each.word << ' ' << each.value;
    }
}

TEST(ring_records, with_unknown_extension_words_are_read_without_them) {
    const elog::event_numbers numbers = some_numbers();
    const std::uint64_t extended = 0x0002'0003'0100'0008;  // two words, CPU 3, flag 8
    const bytes run = bytes_of({head_of(1, 2, 0, 1), context_of(5, 6), extended, 1, 2, 99});
    EXPECT_EQ(elog::check_records(run).count, 1U);
    const std::vector<elog::record_view> found =
        eventlog::test::decode_records(elog::run_reader(run, 1, 0, &numbers));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(elog::is_supported(found[0]));
    EXPECT_EQ(found[0].cpu, 3U);
    EXPECT_EQ(bytes(found[0].payload.begin(), found[0].payload.end()), bytes_of({99}));
    const std::uint64_t required = 0x0000'0003'0080'0008;
    const bytes other = bytes_of({head_of(1, 2, 0, 1), context_of(5, 6), required, 99});
    EXPECT_EQ(elog::check_records(other).count, 1U);
    EXPECT_FALSE(elog::is_supported(eventlog::test::decode_records(other).front()));
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
    for (const std::size_t size : {49U, 55U, 56U}) {
        bytes run = bytes_of({head_of(1, 1, size, 0), context_of(1, 0)});
        run.resize(72);
        EXPECT_EQ(elog::check_records(run).count, 1U) << size;
        EXPECT_EQ(elog::check_records(run).size, 72U) << size;
        const elog::checked_records cut = elog::check_records(std::span(run).first(71));
        EXPECT_EQ(cut.count, 0U) << size;
        EXPECT_FALSE(cut.damaged) << size;
    }
}

TEST(ring_records, of_largest_size_are_valid) {
    const made_record largest(0, elog::payload_size_max);
    const bytes run = encoded({largest, made_record(1, 0)});
    EXPECT_EQ(run.size(), std::size_t{EVENTLOG_RECORD_SIZE_MAX} + 8 + header_size);
    EXPECT_EQ(elog::check_records(run).count, 2U);
    expect_equal(eventlog::test::decode_records(run).front(), largest.view);
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

TEST(ring_records, of_a_ring_are_copied_without_their_context) {
    const elog::event_numbers numbers = some_numbers();
    const bytes run = records_of_a_ring();
    const std::vector<elog::record_view> expected = expected_records();
    for (std::size_t kept = 0; kept < expected.size(); ++kept) {
        elog::run_reader reader(run, 1, 0, &numbers);
        elog::record_view record;
        for (std::size_t i = 0; i <= kept; ++i) {
            ASSERT_TRUE(reader.next(record));
        }
        bytes copied;
        reader.append_last_to(copied);
        const elog::checked_records found = elog::check_records(copied);
        EXPECT_EQ(found.size, copied.size());
        EXPECT_EQ(found.context, 0U);
        expect_all_equal(eventlog::test::decode_records(elog::run_reader(copied, 6, 0, &numbers)),
                         {expected[kept]});
        bytes flagged;
        reader.append_last_flagged(flagged, EVENTLOG_RECORD_CUSTOM_TIME);
        elog::record_view with_flag = expected[kept];
        with_flag.flags = static_cast<std::uint16_t>(with_flag.flags | EVENTLOG_RECORD_CUSTOM_TIME);
        expect_all_equal(eventlog::test::decode_records(elog::run_reader(flagged, 6, 0, &numbers)),
                         {with_flag});
    }
}

TEST(ring_records, of_a_ring_keep_everything_but_their_mapped_times) {
    const elog::event_numbers numbers = some_numbers();
    const bytes run = records_of_a_ring();
    const auto later = [](std::uint64_t time) { return time + (std::uint64_t{3} << 32U) + 1; };
    const bytes mapped = elog::map_times(elog::run_reader(run, 1, 0, &numbers), later);
    std::vector<elog::record_view> expected = expected_records();
    for (elog::record_view& each : expected) {
        each.time = later(each.time);
    }
    expect_all_equal(eventlog::test::decode_records(elog::run_reader(mapped, 6, 0, &numbers)),
                     expected);
}

TEST(ring_records, of_a_ring_are_split_and_joined_with_their_context) {
    const elog::event_numbers numbers = some_numbers();
    const bytes run = records_of_a_ring();
    for (std::size_t size = 1; size <= run.size(); ++size) {
        elog::record_run rest;
        rest.ring = 1;
        rest.count = 6;
        rest.bytes = run;
        rest.events = &numbers;
        const elog::record_run first = elog::take_first_records(rest, size);
        std::vector<elog::record_view> found = eventlog::test::decode_records(first);
        const std::vector<elog::record_view> behind = eventlog::test::decode_records(rest);
        EXPECT_EQ(found.size(), first.count) << size;
        EXPECT_EQ(behind.size(), rest.count) << size;
        found.insert(found.end(), behind.begin(), behind.end());
        expect_all_equal(found, expected_records());
        // Joined the other way round, neither may use a context of the other one.
        bytes joined;
        elog::append_run(joined, rest);
        EXPECT_EQ(joined.size(), elog::appended_size(rest)) << size;
        elog::append_run(joined, first);
        std::vector<elog::record_view> turned = behind;
        const std::vector<elog::record_view> before = eventlog::test::decode_records(first);
        turned.insert(turned.end(), before.begin(), before.end());
        EXPECT_EQ(elog::check_records(joined).size, joined.size()) << size;
        expect_all_equal(eventlog::test::decode_records(elog::run_reader(joined, 1, 0, &numbers)),
                         turned);
    }
}

TEST(ring_records, with_unknown_flag_are_not_supported) {
    made_record made(0, 4);
    EXPECT_TRUE(elog::is_supported(made.view));
    made.view.flags |= 0x80U;
    EXPECT_FALSE(elog::is_supported(made.view));
    const bytes run = encoded({made});
    EXPECT_FALSE(elog::is_supported(eventlog::test::decode_records(run).front()));
}

TEST(ring_records, keep_everything_but_their_mapped_times) {
    const std::vector<made_record> records = some_records();
    const bytes made = encoded(records);
    const bytes run =
        elog::map_times(elog::run_reader(made), [](std::uint64_t time) { return time + 7; });
    const std::vector<elog::record_view> found = eventlog::test::decode_records(run);
    ASSERT_EQ(found.size(), records.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        elog::record_view expected = records[i].view;
        expected.time += 7;
        expect_equal(found[i], expected);
    }
}

TEST(event_numbers, of_providers_do_not_overlap) {
    elog::event_numbers numbers = some_numbers();
    EXPECT_TRUE(numbers.add(provider_with(1, 0, 10)));  // has no numbers
    EXPECT_TRUE(numbers.add(provider_with(2, 10, 5)));
    EXPECT_FALSE(numbers.add(provider_with(3, 8, 3)));
    EXPECT_FALSE(numbers.add(provider_with(3, 14, 1)));
    EXPECT_FALSE(numbers.add(provider_with(3, 10, 1)));
    EXPECT_TRUE(numbers.add(provider_with(3, 6, 4)));  // exactly between
    EXPECT_FALSE(numbers.add(provider_with(4, EVENTLOG_EVENT_NUMBER_MAX, 2)));
    EXPECT_FALSE(numbers.add(provider_with(4, EVENTLOG_EVENT_NUMBER_MAX + 1, 1)));
    EXPECT_TRUE(numbers.add(provider_with(4, EVENTLOG_EVENT_NUMBER_MAX, 1)));
    const std::vector<std::uint32_t> owners{0, 7, 7, 7, 9, 9, 3, 3, 3, 3, 2, 2, 2, 2, 2};
    for (std::uint32_t number = 1; number < owners.size(); ++number) {
        EXPECT_TRUE(numbers.find(number).contains(number)) << number;
        EXPECT_EQ(numbers.find(number).provider, owners[number]) << number;
    }
    for (const std::uint32_t none : {0U, 15U, EVENTLOG_EVENT_NUMBER_MAX - 1, UINT32_MAX}) {
        EXPECT_EQ(numbers.find(none).count, 0U) << none;
    }
    EXPECT_EQ(numbers.find(EVENTLOG_EVENT_NUMBER_MAX).provider, 4U);
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
    const elog::record_run first = elog::take_first_records(rest, 40 + 48 + 1);
    EXPECT_EQ(first.ring, 3U);
    EXPECT_EQ(first.lost_before, 5U);
    EXPECT_TRUE(first.overwritten);
    EXPECT_EQ(first.sequence, 10U);
    EXPECT_EQ(first.count, 2U);
    EXPECT_EQ(first.bytes.size(), 88U);
    EXPECT_EQ(rest.lost_before, 0U);
    EXPECT_FALSE(rest.overwritten);
    EXPECT_EQ(rest.sequence, 12U);
    const elog::record_run larger = elog::take_first_records(rest, 1);  // at least one
    EXPECT_EQ(larger.count, 1U);
    EXPECT_EQ(larger.bytes.size(), 136U);
    EXPECT_EQ(rest.count, 0U);
    EXPECT_TRUE(rest.bytes.empty());
    bytes joined;
    elog::append_run(joined, first);
    elog::append_run(joined, larger);
    EXPECT_EQ(joined, all);
}

}  // namespace
