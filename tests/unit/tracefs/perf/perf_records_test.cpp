// SPDX-License-Identifier: MIT
//
// Records in perf's ring buffers, valid and hostile.
#include "perf/perf_records.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace eventlog::tracefs;
using bytes = std::vector<std::uint8_t>;

template <class Value>
void append(bytes& out, const Value& value) {
    const std::size_t begin = out.size();
    out.resize(begin + sizeof value);
    std::memcpy(out.data() + begin, &value, sizeof value);
}

/// A record with the kernel's padding of the body.
bytes record_of(std::uint32_t type, const bytes& body) {
    bytes record;
    const std::size_t size = (sizeof(perf_event_header) + body.size() + 7) / 8 * 8;
    append(record, perf_event_header{type, 0, static_cast<std::uint16_t>(size)});
    record.insert(record.end(), body.begin(), body.end());
    record.resize(size);
    return record;
}

bytes sample_of(std::uint64_t time, std::uint32_t process, std::uint32_t thread,
                const std::string& raw) {
    bytes body;
    append(body, process);
    append(body, thread);
    append(body, time);
    append(body, static_cast<std::uint32_t>(raw.size()));
    body.insert(body.end(), raw.begin(), raw.end());
    return record_of(PERF_RECORD_SAMPLE, body);
}

std::string raw_of(const perf_record& record) {
    return {record.raw.begin(), record.raw.end()};
}

/// The records of a ring that are adjacent from a position on, and the offset after the last one.
struct reading {
    std::vector<std::string> raws;
    std::uint64_t end = 0;
};
reading read_forward(std::span<const std::uint8_t> ring, std::uint64_t tail, std::uint64_t head) {
    perf_memory memory(ring);
    reading found;
    while (tail != head) {
        const auto record = memory.record_at(tail, head - tail);
        if (record.empty()) {
            break;
        }
        if (const auto parsed = parse_perf_record(record)) {
            found.raws.push_back(raw_of(*parsed));
        }
        tail += record.size();
    }
    found.end = tail;
    return found;
}

/// Writes at a position as the kernel does; wraps at the ring's end.
void write_at(bytes& ring, std::uint64_t position, const bytes& record) {
    for (std::size_t i = 0; i < record.size(); ++i) {
        ring[(position + i) % ring.size()] = record[i];
    }
}

TEST(perf_records, parses_sample) {
    const bytes record = sample_of(77, 12, 34, "what the format says");
    const auto found = parse_perf_record(record);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->kind, perf_kind::sample);
    EXPECT_EQ(found->time, 77U);
    EXPECT_EQ(found->process, 12U);
    EXPECT_EQ(found->thread, 34U);
    EXPECT_EQ(raw_of(*found), "what the format says");
}

TEST(perf_records, counts_both_kinds_of_loss) {
    bytes body;
    append(body, std::uint64_t{5});  // event number
    append(body, std::uint64_t{1000});
    const auto of_events = parse_perf_record(record_of(PERF_RECORD_LOST, body));
    ASSERT_TRUE(of_events.has_value());
    EXPECT_EQ(of_events->kind, perf_kind::lost);
    EXPECT_EQ(of_events->lost, 1000U);
    bytes count;
    append(count, std::uint64_t{9});
    const auto of_samples = parse_perf_record(record_of(PERF_RECORD_LOST_SAMPLES, count));
    ASSERT_TRUE(of_samples.has_value());
    EXPECT_EQ(of_samples->kind, perf_kind::lost);
    EXPECT_EQ(of_samples->lost, 9U);
}

TEST(perf_records, parses_fork_and_comm) {
    bytes forked;
    for (const std::uint32_t number : {42U, 41U, 43U, 40U}) {  // process and parent, then threads
        append(forked, number);
    }
    append(forked, std::uint64_t{1234});
    append(forked, std::uint64_t{1234});  // the trailer of all records
    const auto process = parse_perf_record(record_of(PERF_RECORD_FORK, forked));
    ASSERT_TRUE(process.has_value());
    EXPECT_EQ(process->kind, perf_kind::forked);
    EXPECT_EQ(process->process, 42U);
    EXPECT_EQ(process->parent, 41U);
    EXPECT_EQ(process->thread, 43U);
    EXPECT_EQ(process->time, 1234U);
    for (const std::string text : {"", "x", "1234567", "fifteen letters"}) {
        bytes renamed;
        append(renamed, std::uint32_t{42});
        append(renamed, std::uint32_t{43});
        renamed.insert(renamed.end(), text.begin(), text.end());
        renamed.resize(8 + (text.size() / 8 + 1) * 8);
        append(renamed, std::uint64_t{99});
        const bytes record = record_of(PERF_RECORD_COMM, renamed);
        const auto name = parse_perf_record(record);
        ASSERT_TRUE(name.has_value());
        EXPECT_EQ(name->kind, perf_kind::renamed);
        EXPECT_EQ(name->process, 42U);
        EXPECT_EQ(name->thread, 43U);
        EXPECT_EQ(name->name, text);
        EXPECT_EQ(name->time, 99U);
    }
}

TEST(perf_records, limits_unterminated_name_to_record) {
    bytes renamed(8, 1);
    const std::string text = "eight on";
    renamed.insert(renamed.end(), text.begin(), text.end());
    append(renamed, std::uint64_t{99});
    const bytes record = record_of(PERF_RECORD_COMM, renamed);
    const auto name = parse_perf_record(record);
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(name->name, text);
}

TEST(perf_records, classifies_unknown_records_as_other) {
    for (const std::uint32_t type : {0U, 4U, 5U, 99U, 0xffffffffU}) {
        const auto found = parse_perf_record(record_of(type, bytes(16)));
        ASSERT_TRUE(found.has_value()) << type;
        EXPECT_EQ(found->kind, perf_kind::other) << type;
    }
}

bytes sample_with_stack(const std::vector<std::uint64_t>& stack, std::uint64_t count) {
    bytes body;
    append(body, std::uint64_t{0x2200000011});  // process and thread
    append(body, std::uint64_t{77});
    append(body, count);
    for (const std::uint64_t address : stack) {
        append(body, address);
    }
    append(body, std::uint32_t{4});
    append(body, std::uint32_t{0x64636261});
    return record_of(PERF_RECORD_SAMPLE, body);
}

TEST(perf_records, parses_callchain) {
    const std::vector<std::uint64_t> stack{perf_context_min + 5, 0x401000, 0x402000};
    const bytes record = sample_with_stack(stack, stack.size());
    const auto found = parse_perf_record(record, true);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->time, 77U);
    EXPECT_EQ(raw_of(*found), "abcd");
    ASSERT_EQ(found->stack.size(), sizeof(std::uint64_t) * stack.size());
    EXPECT_EQ(std::memcmp(found->stack.data(), stack.data(), found->stack.size()), 0);
}

TEST(perf_records, rejects_callchain_larger_than_record) {
    for (const std::uint64_t count :
         {std::uint64_t{4}, std::uint64_t{1} << 32U, std::uint64_t{1} << 61U, UINT64_MAX}) {
        const bytes record = sample_with_stack({1, 2}, count);
        EXPECT_FALSE(parse_perf_record(record, true).has_value()) << count;
    }
}

bytes mapped_code(const std::string& name) {
    bytes body;
    append(body, std::uint64_t{0x2200000011});
    for (const std::uint64_t number : {0x400000U, 0x3000U, 0x1000U, 0x00080002U, 4711U, 1U, 5U}) {
        append(body, number);  // address, size, offset, device, file, generation, access
    }
    body.insert(body.end(), name.begin(), name.end());
    body.resize((body.size() + 8) / 8 * 8);
    append(body, std::uint64_t{99});
    return record_of(PERF_RECORD_MMAP2, body);
}

TEST(perf_records, parses_mmap) {
    bytes record = mapped_code("/usr/bin/shop");
    const auto found = parse_perf_record(record);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->kind, perf_kind::mapped);
    EXPECT_EQ(found->process, 0x11U);
    EXPECT_EQ(found->address, 0x400000U);
    EXPECT_EQ(found->size, 0x3000U);
    EXPECT_EQ(found->offset, 0x1000U);
    EXPECT_EQ(found->file, 4711U);
    EXPECT_EQ(found->name, "/usr/bin/shop");
    EXPECT_EQ(found->time, 99U);
    record.resize(64);
    const auto size = static_cast<std::uint16_t>(record.size());
    std::memcpy(record.data() + offsetof(perf_event_header, size), &size, sizeof size);
    EXPECT_FALSE(parse_perf_record(record).has_value());
}

TEST(perf_records, rejects_raw_data_larger_than_record) {
    bytes record = sample_of(1, 2, 3, "some");
    constexpr std::size_t size_place = sizeof(perf_event_header) + 16;
    for (const std::uint32_t size : {9U, 0x7fffffffU, 0xfffffffcU, 0xffffffffU}) {
        std::memcpy(record.data() + size_place, &size, sizeof size);
        EXPECT_FALSE(parse_perf_record(record).has_value()) << size;
    }
}

TEST(perf_records, rejects_short_records) {
    for (const std::uint32_t type :
         {PERF_RECORD_SAMPLE, PERF_RECORD_LOST, PERF_RECORD_COMM, PERF_RECORD_FORK}) {
        const bytes record = record_of(type, bytes(8));
        EXPECT_FALSE(parse_perf_record(record).has_value()) << type;
    }
    EXPECT_FALSE(parse_perf_record(record_of(PERF_RECORD_LOST_SAMPLES, {})).has_value());
    EXPECT_FALSE(parse_perf_record({}).has_value());
    EXPECT_FALSE(parse_perf_record(bytes(7)).has_value());
}

TEST(perf_records, rejects_wrong_size) {
    bytes record = sample_of(1, 2, 3, "some");
    record.resize(record.size() + 8);
    EXPECT_FALSE(parse_perf_record(record).has_value());
}

TEST(perf_records, wraps_at_end_of_buffer) {
    constexpr std::size_t size = 256;
    // From each position, so that headers, times and texts wrap.
    for (std::uint64_t tail = 0; tail < size; tail += 8) {
        bytes ring(size);
        const std::vector<std::string> words{"one", "a longer one", "and a third that is longest"};
        std::uint64_t head = tail;
        for (const std::string& word : words) {
            const bytes record = sample_of(1, 2, 3, word);
            write_at(ring, head, record);
            head += record.size();
        }
        const reading found = read_forward(ring, tail, head);
        EXPECT_EQ(found.raws, words) << tail;
        EXPECT_EQ(found.end, head);
    }
}

TEST(perf_records, wraps_after_maximum_position) {
    bytes ring(128);
    const bytes record = sample_of(1, 2, 3, "around zero");
    const std::uint64_t tail = 0 - std::uint64_t{16};
    write_at(ring, tail, record);
    const reading found = read_forward(ring, tail, tail + record.size());
    EXPECT_EQ(found.raws, std::vector<std::string>{"around zero"});
}

TEST(perf_records, stops_at_invalid_size) {
    bytes ring(128);
    for (const unsigned size : {0U, 1U, 7U, 136U, 65535U}) {
        bytes head;
        append(head, perf_event_header{PERF_RECORD_SAMPLE, 0, static_cast<std::uint16_t>(size)});
        write_at(ring, 0, head);
        const reading found = read_forward(ring, 0, 128);
        EXPECT_TRUE(found.raws.empty()) << size;
        EXPECT_EQ(found.end, 0U);
    }
}

TEST(perf_records, limits_head_to_buffer_size) {
    const bytes record = record_of(99, bytes(120));
    perf_memory memory(std::span<const std::uint8_t>(record).first(64));
    EXPECT_TRUE(memory.record_at(0, UINT64_MAX).empty());
    EXPECT_TRUE(memory.record_at(8, 7).empty());
}

TEST(perf_records, reads_backward_buffer_oldest_first) {
    constexpr std::size_t size = 256;
    bytes ring(size);
    std::uint64_t head = 0;
    std::size_t written = 0;
    for (; written < 3; ++written) {
        const bytes record = sample_of(written, 2, 3, "x");
        head -= record.size();
        write_at(ring, head, record);
    }
    perf_memory memory(ring);
    for (int round = 0; round < 100; ++round) {
        const std::vector<std::uint64_t> positions = backward_positions(memory, head);
        const std::size_t fit = size / sample_of(0, 2, 3, "x").size();
        ASSERT_EQ(positions.size(), std::min(written, fit));
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const auto record = parse_perf_record(memory.record_at(positions[i], size));
            ASSERT_TRUE(record.has_value());
            EXPECT_EQ(record->time, written - positions.size() + i);
        }
        const bytes record = sample_of(written++, 2, 3, "x");
        head -= record.size();
        write_at(ring, head, record);
    }
}

TEST(perf_records, is_empty_without_writes) {
    bytes ring(128, 0xff);
    perf_memory memory(ring);
    EXPECT_TRUE(backward_positions(memory, 0).empty());
}

TEST(perf_records, survives_any_bytes) {
    std::mt19937 random(1);
    bytes ring(4096);
    std::uint64_t seen = 0;
    for (int round = 0; round < 2000; ++round) {
        for (std::uint8_t& byte : ring) {
            byte = static_cast<std::uint8_t>(random());
        }
        // Makes more records follow the first one.
        for (std::size_t at = 0; at < ring.size(); at += 64) {
            const perf_event_header header{static_cast<std::uint32_t>(random() % 16), 0,
                                           static_cast<std::uint16_t>(random() % 16 * 8)};
            std::memcpy(ring.data() + at, &header, sizeof header);
        }
        const std::uint64_t tail = random() % 512 * 8;
        const reading found = read_forward(ring, tail, tail + random() % 5000);
        seen += found.end - tail;
        EXPECT_LE(found.end - tail, 5000U);
        perf_memory memory(ring);
        const auto positions = backward_positions(memory, 0 - std::uint64_t{random() % 8192});
        EXPECT_LE(positions.size(), ring.size() / sizeof(perf_event_header));
    }
    EXPECT_GT(seen, 0U);
}

}  // namespace
