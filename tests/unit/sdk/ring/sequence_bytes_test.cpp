// SPDX-License-Identifier: MIT
//
// The bytes that each sequence leaves in a ring of private memory. The kernel does not know the
// thread's area here, so this runs where it has no restartable sequences, too: in an emulator.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/abi.h>

#include "ring/gate_layout.hpp"
#include "ring/record_header.hpp"
#include "ring/region.hpp"
#include "ring/ring_transition.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_append.hpp"
#include "ring/rseq_sequence.hpp"
#include "ring/subscription_slots.hpp"

#if EVENTLOG_HAS_SEQUENCES

namespace {

using namespace eventlog::core;

/// As the kernel's struct rseq.
struct alignas(32) thread_area {
    std::uint32_t cpu_at_start = 0;
    std::uint32_t cpu = 0;
    std::uint64_t descriptor = 0;
    std::uint32_t flags = 0;
};

std::ptrdiff_t offset_from_thread_pointer(const void* object) {
#if defined(__x86_64__)
    const char* pointer = nullptr;
    asm("movq %%fs:0, %0" : "=r"(pointer));
#else
    const auto* pointer = static_cast<const char*>(__builtin_thread_pointer());
#endif
    return static_cast<const char*>(object) - pointer;
}

constexpr std::uint64_t mapping = 77;
constexpr std::uint32_t thread = 4242;
constexpr std::uint32_t event_base = 5;
constexpr std::size_t own_cpu = 1;
constexpr std::uint64_t provider_head = provider_part(event_base);

std::array<std::uint8_t, sizeof(eventlog_ring)> bytes_of(const eventlog_ring& ring) {
    std::array<std::uint8_t, sizeof(eventlog_ring)> bytes{};
    std::memcpy(bytes.data(), &ring, sizeof ring);
    return bytes;
}

class sequence_bytes : public ::testing::Test {
  protected:
    sequence_bytes() {
        area.cpu = std::uint32_t{own_cpu};
        rseq_area = offset_from_thread_pointer(&area);
        slot.mapping = mapping;
        slot.state = &state;
        slot.rings = rings.data();
        slot.ring_stride = ring_stride;
        slot.first_buffer = reinterpret_cast<unsigned char*>(memory.data());
        slot.buffer_size = buffer_words * 8;
        slot.ring_bytes = 2 * buffer_words * 8;
        slot.buffer_units = buffer_words;
        slot.buffer_mask = 1;
        slot.sequence_cpus = 2;
        slot.fast_cpus = 2;
        slot.counter_stride = 8;
        descriptors_of(ring)[1].generation = UINT64_MAX;
        for (std::size_t i = 0; i < payload.size(); ++i) {
            payload[i] = 1000 + i;
        }
    }
    void TearDown() override { rseq_area = area_before; }

    [[nodiscard]] control_word control() const { return {ring->control}; }
    /// A word of the buffer.
    [[nodiscard]] std::uint64_t word(std::size_t index) const { return buffer[index]; }
    [[nodiscard]] unsigned kind(std::size_t index) const {
        return static_cast<unsigned>(word(index) >> EVENTLOG_KIND_SHIFT) & EVENTLOG_KIND_MASK;
    }
    [[nodiscard]] std::uint64_t event(std::size_t index) const {
        return word(index) >> EVENTLOG_EVENT_SHIFT;
    }
    [[nodiscard]] std::uint64_t short_size(std::size_t index) const {
        return word(index) >> EVENTLOG_SHORT_SIZE_SHIFT & EVENTLOG_SHORT_SIZE_MAX;
    }
    [[nodiscard]] std::uint64_t counted() const {
        std::uint64_t found = 0;
        std::memcpy(&found,
                    reinterpret_cast<const char*>(gate_words.data()) + EVENTLOG_GATE_SIZE +
                        offsetof(eventlog_counters_page, written_by_cpu) + own_cpu * 8,
                    sizeof found);
        return found;
    }
    void expect_payload(std::size_t begin, std::size_t size) const {
        for (std::size_t i = 0; i < units_of(size); ++i) {
            EXPECT_EQ(word(begin + i), 1000 + i);
        }
    }

    rseq_result append_block(std::size_t size) {
        return rseq_append_block<512>(
            slot, mapping, short_head(size, provider_head, 2), thread_part(thread),
            units_of(EVENTLOG_SHORT_HEADER_SIZE + size), payload.data(), gate);
    }
    rseq_result append_context(std::size_t size, std::uint64_t of = mapping) {
        return rseq_append_context(slot, of, short_head(size, provider_head, 2),
                                   thread_part(thread),
                                   units_of(EVENTLOG_CONTEXT_HEADER_SIZE + size), payload.data());
    }

    static constexpr std::size_t buffer_words = 128;
    static constexpr std::size_t ring_stride = sizeof(eventlog_ring) + 2 * sizeof(eventlog_buffer);

    const std::ptrdiff_t area_before = rseq_area;
    static thread_local thread_area area;
    std::uint32_t state = EVENTLOG_REGION_LIVE;
    alignas(64) std::array<unsigned char, 2 * ring_stride> rings{};
    std::array<std::uint64_t, 4 * buffer_words> memory{};
    std::array<std::uint32_t, (EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE) / 4> gate_words{};
    std::array<std::uint64_t, 64> payload{};
    std::atomic<std::uint32_t*> gate{gate_words.data()};
    subscription_slot slot;
    eventlog_ring* const ring =
        reinterpret_cast<eventlog_ring*>(rings.data() + own_cpu * ring_stride);
    const std::uint64_t* buffer = memory.data() + own_cpu * 2 * buffer_words;
};
thread_local thread_area sequence_bytes::area;

TEST_F(sequence_bytes, of_context_precede_short_records) {
    EXPECT_EQ(append_block(13), rseq_result::other_context);
    EXPECT_EQ(ring->control, 0U);
    ASSERT_EQ(append_context(13), rseq_result::done);
    EXPECT_EQ(area.descriptor, 0U);
    EXPECT_EQ(event(0), event_base + 2);
    EXPECT_EQ(kind(0), EVENTLOG_KIND_CONTEXT);
    EXPECT_EQ(short_size(0), 13U);
    EXPECT_EQ(word(1) >> 32U, thread);
    EXPECT_EQ(word(1), ring->context);
    expect_payload(2, 13);
    std::size_t at = 4;
    std::uint64_t count = 1;
    for (const std::size_t size : {0U, 5U, 8U, 9U, 24U, 33U, 255U}) {
        SCOPED_TRACE(size);
        ASSERT_EQ(append_block(size), rseq_result::done);
        EXPECT_EQ(event(at), event_base + 2);
        EXPECT_EQ(kind(at), EVENTLOG_KIND_SHORT);
        EXPECT_EQ(short_size(at), size);
        expect_payload(at + 1, size);
        at += 1 + units_of(size);
        ++count;
        EXPECT_EQ(control().units(), at);
        EXPECT_EQ(control().count(), count);
    }
    EXPECT_EQ(counted(), 7U);
}

TEST_F(sequence_bytes, of_extended_records_leave_the_context) {
    ASSERT_EQ(append_context(8), rseq_result::done);
    const std::uint64_t context = ring->context;
    const std::size_t at = control().units();
    ASSERT_EQ(rseq_append_extended<512>(
                  slot, mapping, extended_head(provider_head, 3) | 301, thread_part(99),
                  units_of(EVENTLOG_EXTENDED_HEADER_SIZE + 301), payload.data(), gate),
              rseq_result::done);
    EXPECT_EQ(event(at), event_base + 3);
    EXPECT_EQ(kind(at), EVENTLOG_KIND_EXTENDED);
    EXPECT_EQ(short_size(at), 0U);
    EXPECT_EQ(word(at + 1), thread_part(99) | (context & UINT32_MAX));
    EXPECT_EQ(word(at + 2), std::uint64_t{own_cpu} << EVENTLOG_CPU_SHIFT | 301U);
    expect_payload(at + 3, 301);
    EXPECT_EQ(control().units(), at + 3 + units_of(301));
    EXPECT_EQ(control().count(), 2U);
    EXPECT_EQ(ring->context, context);
    EXPECT_EQ(counted(), 1U);
}

TEST_F(sequence_bytes, of_pieces_need_the_descriptor_since_the_clock_was_read) {
    const eventlog_part part{payload.data(), 8};
    rseq_pieces pieces{};
    pieces.head = extended_head(provider_head, 4);
    pieces.time = 1;
    pieces.is_armed = 1;
    pieces.extended = extended_word(0, 8);
    pieces.units = units_of(EVENTLOG_EXTENDED_HEADER_SIZE + 8);
    pieces.pieces = &part;
    pieces.end = &part + 1;
    const auto before = bytes_of(*ring);
    EXPECT_EQ(rseq_append_pieces(slot, mapping, pieces), rseq_result::aborted);
    EXPECT_EQ(bytes_of(*ring), before);
    rseq_arm_pieces();
    EXPECT_NE(area.descriptor, 0U);
    area.descriptor = 0;  // as the kernel does
    EXPECT_EQ(rseq_append_pieces(slot, mapping, pieces), rseq_result::aborted);
    EXPECT_EQ(bytes_of(*ring), before);
    rseq_arm_pieces();
    EXPECT_EQ(rseq_append_pieces(slot, mapping, pieces), rseq_result::done);
    EXPECT_EQ(area.descriptor, 0U);
    EXPECT_EQ(control().count(), 1U);
}

TEST_F(sequence_bytes, of_pieces_follow_each_other) {
    constexpr std::string_view text = "abcdefghijklmnopq";
    const std::array<eventlog_part, 2> parts{{{payload.data(), 5}, {text.data(), text.size()}}};
    rseq_pieces pieces{};
    pieces.head = extended_head(provider_head, 4);
    pieces.time = 0x1122334455667788U;
    pieces.thread = thread_part(thread);
    pieces.extended = extended_word(EVENTLOG_RECORD_CUSTOM_TIME, 5 + text.size());
    pieces.units = units_of(EVENTLOG_EXTENDED_HEADER_SIZE + 5 + text.size());
    pieces.pieces = parts.data();
    pieces.end = parts.data() + parts.size();
    pieces.padding = 2;
    ASSERT_EQ(rseq_append_pieces(slot, mapping, pieces), rseq_result::done);
    EXPECT_EQ(event(0), event_base + 4);
    EXPECT_EQ(kind(0), EVENTLOG_KIND_EXTENDED);
    EXPECT_EQ(word(0) & UINT32_MAX, 0x55667788U);
    EXPECT_EQ(word(1), thread_part(thread) | 0x11223344U);
    EXPECT_EQ(word(2), std::uint64_t{own_cpu} << EVENTLOG_CPU_SHIFT |
                           std::uint64_t{EVENTLOG_RECORD_CUSTOM_TIME} << EVENTLOG_FLAGS_SHIFT |
                           (5 + text.size()));
    const auto* const bytes = reinterpret_cast<const char*>(buffer + 3);
    EXPECT_EQ(std::memcmp(bytes, payload.data(), 5), 0);
    EXPECT_EQ(std::string_view(bytes + 5, text.size()), text);
    EXPECT_EQ(word(5) >> 48U, 0U);  // the padding
    EXPECT_EQ(control().units(), pieces.units);
    EXPECT_EQ(ring->context, 0U);
}

TEST_F(sequence_bytes, are_not_written_where_they_must_not) {
    EXPECT_EQ(append_context(payload.size() * 8, mapping + 1), rseq_result::stale);
    ASSERT_EQ(append_context(8), rseq_result::done);
    const auto before = bytes_of(*ring);
    EXPECT_EQ(rseq_append_context(slot, mapping, short_head(8, provider_head, 2),
                                  thread_part(thread), buffer_words, payload.data()),
              rseq_result::changed);
    area.cpu = 5;
    EXPECT_EQ(append_block(8), rseq_result::elsewhere);
    area.cpu = std::uint32_t{own_cpu};
    state = EVENTLOG_REGION_ENDED;
    EXPECT_EQ(append_block(8), rseq_result::stale);
    EXPECT_EQ(bytes_of(*ring), before);
}

TEST_F(sequence_bytes, of_a_new_buffer_begin_with_a_context) {
    ASSERT_EQ(append_context(8), rseq_result::done);
    eventlog_buffer* const descriptors = descriptors_of(ring);
    const rseq_target place{own_cpu, &slot.mapping, mapping, ring};
    rseq_switch step{};
    step.expected = ring->control;
    step.current = &descriptors[0];
    step.sealed = ring->control;
    step.next = &descriptors[1];
    step.records_before = 1;
    step.control = control_word::first_of(1).value;
    ASSERT_EQ(rseq_switch_buffers(place, step), rseq_result::done);
    EXPECT_EQ(ring->context, 0U);
    EXPECT_EQ(ring->control, step.control);
    EXPECT_EQ(descriptors[0].sealed, step.sealed);
    EXPECT_EQ(descriptors[1].generation, 1U);
    EXPECT_EQ(append_block(8), rseq_result::other_context);
    buffer += buffer_words;
    ASSERT_EQ(append_context(8), rseq_result::done);
    EXPECT_EQ(kind(0), EVENTLOG_KIND_CONTEXT);
    EXPECT_EQ(append_block(8), rseq_result::done);
    EXPECT_EQ(kind(3), EVENTLOG_KIND_SHORT);
}

}  // namespace

#endif
