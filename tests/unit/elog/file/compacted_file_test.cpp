// SPDX-License-Identifier: MIT
//
// Files whose records are compacted: their size and contents, which runs are verbatim, and blocks
// whose head or body is wrong despite valid checksums.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "decoded_records.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/file_writer.hpp"
#include "file/records_decoder.hpp"
#include "file/run_compactor.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"
#include "record_builder.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using test::bytes;

constexpr std::uint32_t provider_id = 9;
constexpr std::uint32_t first_event = 30;
// The size of a reference event that names its provider.
constexpr std::size_t reference_size = 72;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/compacted_" + name + ".elog";
}

test::record_builder builder() {
    return {"provider p { event other info { } event e info { number: u64 first: u32 second: u32 "
            "name: text } event small info { byte: u8 } }",
            "tester", 1, provider_id};
}

void append(bytes& run, test::test_record record, std::uint64_t time) {
    record.header().provider = provider_id;
    record.header().thread = 42;
    record.header().cpu = 1;
    record.header().time = time;
    elog::append_record(run, record.view());
}

/// Reference events, `step` ticks apart.
bytes reference_records(std::uint64_t count, const char* name = "twelve chars",
                        std::uint64_t step = 3000) {
    const test::record_builder made = builder();
    bytes run;
    for (std::uint64_t number = 0; number < count; ++number) {
        test::test_record record = made.record("e");
        record.set("number", number);
        record.set_text("name", name);
        append(run, record, 1'000'000 + number * step);
    }
    return run;
}

elog::record_run run_of(std::span<const std::uint8_t> records) {
    elog::record_run run;
    run.bytes = records;
    run.count = elog::check_records(records).count;
    return run;
}

void write_file(const std::string& path, std::span<const std::uint8_t> records,
                bool may_compact = true, int compression = 0) {
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    writer.compress(compression);
    writer.allow_compaction(may_compact);
    writer.write_provider(builder().provider());
    writer.write_run(run_of(records));
    writer.write_end();
}

/// The records in the layout of a ring.
bytes read_file(const std::string& path) {
    elog::file_reader file(path);
    bytes records;
    file.read([&](const elog::merged_record& each) { append_record(records, each.record); });
    EXPECT_EQ(file.damages(), std::vector<std::string>{});
    return records;
}

TEST(compacted_file, reference_event_takes_36_bytes_at_most) {
    constexpr std::uint64_t count = 8192;
    const bytes records = reference_records(count);
    const std::string path = path_of("reference");
    write_file(path, records);
    const std::size_t size = test::contents(path).size();
    EXPECT_LE(size, 36 * count);
    EXPECT_EQ(read_file(path), records);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    write_file(path, records, false);
    EXPECT_GE(test::contents(path).size(), reference_size * count);
    EXPECT_EQ(read_file(path), records);
}

TEST(compacted_file, frame_contains_compacted_records) {
    const bytes records = reference_records(8192);
    const std::string path = path_of("frame");
    write_file(path, records, true, 1);
    EXPECT_LT(test::contents(path).size(), 16 * std::size_t{8192});
    EXPECT_EQ(read_file(path), records);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
}

TEST(compacted_file, repaired_file_keeps_records_and_encodings) {
    const bytes records = reference_records(1000);
    for (const bool may_compact : {true, false}) {
        const std::string path = path_of("broken");
        write_file(path, records, may_compact);
        bytes content = test::contents(path);
        const std::size_t size = content.size();
        content.resize(size - elog::end_block_size);
        test::replace(path, content);
        const std::string to = path_of("repaired");
        EXPECT_EQ(elog::repair_file(path, to).records, 1000U);
        EXPECT_EQ(test::contents(to).size(), size);
        EXPECT_EQ(read_file(to), records);
    }
}

// Records of a ring ------------------------------------------------------------------------------

constexpr std::uint64_t context_before = std::uint64_t{42} << EVENTLOG_THREAD_SHIFT;

elog::provider_instance ring_provider(std::uint32_t id = provider_id) {
    elog::provider_instance made = builder().provider();
    made.id = id;
    made.event_base = first_event;
    return made;
}

/// The reference events as short records in context_before.
bytes short_records(std::uint64_t count) {
    const bytes named = reference_records(count);
    bytes run;
    for (const elog::record_view& each : test::decode_records(named)) {
        const std::uint64_t head = std::uint64_t{first_event + each.event} << EVENTLOG_EVENT_SHIFT |
                                   std::uint64_t{each.payload.size()} << EVENTLOG_SHORT_SIZE_SHIFT |
                                   each.time;
        const auto* words = reinterpret_cast<const std::uint8_t*>(&head);
        run.insert(run.end(), words, words + sizeof head);
        run.insert(run.end(), each.payload.begin(), each.payload.end());
        run.resize((run.size() + 7) / 8 * 8);
    }
    return run;
}

void write_ring_file(const std::string& path, std::span<const std::uint8_t> records,
                     std::uint64_t count, bool may_compact) {
    elog::event_numbers events;
    EXPECT_TRUE(events.add(ring_provider()));
    elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 2);
    writer.allow_compaction(may_compact);
    writer.write_provider(ring_provider());
    elog::record_run run;
    run.ring = 1;
    run.count = count;
    run.bytes = records;
    run.context = context_before;
    run.events = &events;
    writer.write_run(run);
    writer.write_end();
}

TEST(ring_run, is_read_from_both_encodings_and_their_repaired_files) {
    constexpr std::uint64_t count = 1000;
    const bytes records = short_records(count);
    ASSERT_EQ(records.size(), 48 * count);
    for (const bool may_compact : {true, false}) {
        const std::string path = path_of("ring");
        write_ring_file(path, records, count, may_compact);
        EXPECT_EQ(read_file(path), reference_records(count));
        EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
        EXPECT_EQ(elog::file_reader(path).providers().at(provider_id).event_base, first_event);
        bytes content = test::contents(path);
        EXPECT_EQ(content.size() > records.size(), !may_compact);
        content.resize(content.size() - elog::end_block_size);
        test::replace(path, content);
        const std::string to = path_of("ring_repaired");
        EXPECT_EQ(elog::repair_file(path, to).records, count);
        EXPECT_EQ(read_file(to), reference_records(count));
        EXPECT_EQ(elog::check_file(to).damages, std::vector<std::string>{});
    }
}

TEST(ring_run, that_would_decode_to_too_much_is_verbatim) {
    // The sum for the head exceeds its limit by one record.
    const std::uint64_t count = elog::records_size_max / reference_size + 1;
    const std::string path = path_of("ring_large");
    write_ring_file(path, short_records(count), count, true);
    EXPECT_GT(test::contents(path).size(), 48 * count);
    EXPECT_EQ(read_file(path), reference_records(count));
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
}

TEST(ring_run, event_numbers_of_two_providers_are_different) {
    const std::string path = path_of("ring_numbers");
    {
        elog::file_writer writer(path, EVENTLOG_CLOCK_MONOTONIC, 1);
        elog::provider_instance unnumbered = ring_provider(1);
        unnumbered.event_base = 0;
        elog::provider_instance beyond = ring_provider(3);
        beyond.event_base = EVENTLOG_EVENT_NUMBER_MAX;
        writer.write_provider(unnumbered);
        writer.write_provider(ring_provider(2));
        writer.write_provider(beyond);            // its second event has no number
        writer.write_provider(ring_provider(4));  // the numbers of 2
        writer.write_end();
    }
    elog::file_reader file(path);
    EXPECT_EQ(file.damages(), std::vector<std::string>{});
    const std::uint32_t events = static_cast<std::uint32_t>(ring_provider().schema.events.size());
    EXPECT_EQ(file.providers().at(1).event_base, elog::first_number_of_named);
    EXPECT_EQ(file.providers().at(2).event_base, first_event);
    EXPECT_EQ(file.providers().at(3).event_base, elog::first_number_of_named + events);
    EXPECT_EQ(file.providers().at(4).event_base, elog::first_number_of_named + 2 * events);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
}

// Runs -------------------------------------------------------------------------------------------

elog::run_compactor compactor() {
    elog::run_compactor made;
    made.add_provider(provider_id, first_event, builder().provider().schema);
    return made;
}

bool is_compacted(std::span<const std::uint8_t> records) {
    elog::run_compactor made = compactor();
    return !made.compact(run_of(records)).empty();
}

TEST(compacted_runs, without_sufficient_savings_are_verbatim) {
    EXPECT_TRUE(is_compacted(reference_records(1)));
    // A payload of more than 255 bytes is stored raw.
    EXPECT_FALSE(is_compacted(reference_records(1, std::string(300, 'x').c_str())));
    EXPECT_FALSE(is_compacted(reference_records(100, std::string(300, 'x').c_str())));
    bytes largest;
    elog::record_appender appender(largest);
    largest.resize(largest.size() + elog::payload_size_max);
    appender.finish({provider_id, 1, 0, 0, 0, 0, {}});
    EXPECT_FALSE(is_compacted(largest));
}

TEST(compacted_runs, with_few_large_records_are_compacted) {
    bytes records = reference_records(100);
    const bytes large = reference_records(1, std::string(300, 'x').c_str());
    records.insert(records.end(), large.begin(), large.end());
    EXPECT_TRUE(is_compacted(records));
}

TEST(compacted_runs, with_unnumbered_events_are_verbatim) {
    for (const auto& [provider, event] :
         {std::pair<std::uint32_t, std::uint16_t>{provider_id, 3}, {8, 0}, {10, 0}, {65535, 0}}) {
        bytes records = reference_records(50);
        elog::record_view record;
        record.provider = provider;
        record.event = event;
        elog::append_record(records, record);
        EXPECT_FALSE(is_compacted(records)) << provider;
    }
}

TEST(compacted_runs, shrink_by_a_sixteenth_at_least) {
    // Any mixture is either small enough or verbatim.
    for (std::uint64_t small = 0; small < 200; ++small) {
        bytes records = reference_records(4, std::string(300, 'x').c_str());
        const bytes more = reference_records(small);
        records.insert(records.end(), more.begin(), more.end());
        elog::run_compactor made = compactor();
        const auto compacted = made.compact(run_of(records));
        EXPECT_LE(compacted.size(), records.size() - records.size() / 16);
        EXPECT_EQ(compacted.empty(), small < 2) << small;
    }
}

// Untrusted blocks -------------------------------------------------------------------------------

elog::provider_block provider_of(std::uint16_t id, std::uint32_t first, std::uint32_t count) {
    elog::provider_block block{};
    block.id = id;
    block.first_event = first;
    block.event_count = count;
    return block;
}

struct block {
    elog::records_block head{};
    bytes body;
    bytes records;
};

block make_block(std::uint64_t count = 20) {
    block made;
    made.records = reference_records(count);
    elog::run_compactor from = compactor();
    const auto body = from.compact(run_of(made.records));
    made.body.assign(body.begin(), body.end());
    made.head.encoding = static_cast<std::uint8_t>(elog::record_encoding::compacted);
    made.head.count = count;
    made.head.decoded_size = static_cast<std::uint32_t>(made.records.size());
    return made;
}

class untrusted_block : public testing::Test {
  protected:
    void SetUp() override {
        decoder.add_provider(provider_of(provider_id, first_event, 3));
        ASSERT_TRUE(decode().is_whole);
        ASSERT_EQ(decoded, good.records);
    }
    elog::decoded_records decode() {
        const auto found = decoder.decode(good.head, good.body, decoded);
        EXPECT_TRUE(found);
        return found.value_or(elog::decoded_records{});
    }
    /// Of whole records before the damage.
    void expect_damaged(std::uint64_t count) {
        const elog::decoded_records found = decode();
        EXPECT_FALSE(found.is_whole);
        EXPECT_EQ(found.count, count);
        const std::size_t size = count * reference_size;
        EXPECT_EQ(found.bytes.size(), size);
        EXPECT_TRUE(std::ranges::equal(found.bytes, std::span(good.records).first(size)));
    }

    block good = make_block();
    elog::records_decoder decoder;
    bytes decoded;
};

TEST_F(untrusted_block, ends_at_count_and_size_of_its_head) {
    good.head.count = 7;
    expect_damaged(7);
    good.head.count = 21;
    expect_damaged(20);
    good.head = make_block().head;
    for (const std::size_t size :
         {std::size_t{0}, reference_size - 1, reference_size * 7, reference_size * 8 - 1}) {
        good.head.decoded_size = static_cast<std::uint32_t>(size);
        expect_damaged(size / reference_size);
    }
    good.head.decoded_size = UINT32_MAX;
    expect_damaged(20);
}

TEST_F(untrusted_block, ends_where_its_body_is_damaged) {
    good.body.push_back(0xfb);
    expect_damaged(20);
    good = make_block();
    good.body.resize(good.body.size() - 1);
    expect_damaged(19);
    good.body.clear();
    expect_damaged(0);
}

TEST_F(untrusted_block, does_not_grow_beyond_its_limits) {
    // Records of two bytes, more than a block can contain.
    good.body = {0xfc, first_event, 0, 0, 0, 0, 0, 0};
    good.body.resize(good.body.size() + 200'000);
    good.head.count = 100'000;
    good.head.decoded_size = 3'200'000;
    const elog::decoded_records found = decode();
    EXPECT_FALSE(found.is_whole);
    EXPECT_EQ(found.count, elog::records_size_max / elog::ring_size(0));
    EXPECT_LE(decoded.capacity(), elog::records_size_max);
}

TEST_F(untrusted_block, allocates_in_proportion_to_its_body) {
    good.body = {0xfc, first_event, 0, 0, 0, 0, 0, 0, 0, 0};
    good.head.count = 1;
    good.head.decoded_size = elog::records_size_max;
    bytes fresh;
    ASSERT_TRUE(decoder.decode(good.head, good.body, fresh));
    EXPECT_LE(fresh.capacity(), 16 * good.body.size());
}

TEST_F(untrusted_block, events_without_provider_have_none) {
    decoder.clear();
    EXPECT_TRUE(decoder.add_provider(provider_of(65535, 1, first_event)));  // ends before the event
    EXPECT_TRUE(decoder.add_provider(provider_of(65534, first_event + 2, 5)));
    EXPECT_FALSE(decoder.add_provider(provider_of(65532, first_event, 3)));
    EXPECT_FALSE(decoder.add_provider(provider_of(65531, UINT32_MAX, 2)));
    EXPECT_TRUE(decode().is_whole);
    for (const elog::record_view& record : test::decode_records(decoded)) {
        EXPECT_EQ(record.provider, elog::unknown_provider);
    }
}

TEST_F(untrusted_block, of_events_without_provider_is_decoded_quickly) {
    decoder.clear();
    for (std::uint32_t id = 1; id <= elog::record_provider_max; ++id) {
        decoder.add_provider(provider_of(static_cast<std::uint16_t>(id), id, 1));
    }
    // Each record has another event than the one before it.
    good.body = {0xfc, 0, 0, 1, 0, 0, 0, 0, 0xfc, 0, 0, 2, 0, 0, 0, 0};
    good.head.count = elog::records_size_max / elog::ring_size(0);
    for (std::uint64_t number = 0; number < good.head.count; ++number) {
        good.body.push_back(static_cast<std::uint8_t>(number % 2 << 2U));
        good.body.push_back(0);
    }
    good.head.decoded_size = elog::records_size_max;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(decode().is_whole);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_EQ(test::decode_records(decoded).front().provider, elog::unknown_provider);
}

TEST_F(untrusted_block, first_numbers_of_a_provider_are_valid) {
    decoder.add_provider(provider_of(provider_id, 500, 3));
    EXPECT_TRUE(decode().is_whole);
    EXPECT_EQ(decoded, good.records);
}

TEST_F(untrusted_block, with_unknown_encoding_is_not_decoded) {
    good.head.encoding = 2;
    EXPECT_FALSE(decoder.decode(good.head, good.body, decoded));
}

}  // namespace
