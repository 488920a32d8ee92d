// SPDX-License-Identifier: MIT
//
// Payloads that identify their record in every word, so that a reader detects torn records.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "ring/ring_writer.hpp"
#include "ring/subscription_slots.hpp"

namespace overwrite_test {

using namespace eventlog::core;
using eventlog::test::received_record;

inline constexpr std::size_t buffer_size = 128U << 10U;

// Sizes that leave different remainders in the buffers.
inline constexpr std::size_t words_max = 200;
constexpr std::size_t words_of(std::uint64_t number) noexcept {
    return 1 + number * 7 % words_max;
}

/// Each word contains the thread, the number and its own position.
struct marked_payload {
    std::array<std::uint64_t, words_max> words{};
    std::size_t size = 0;

    marked_payload(std::uint64_t thread, std::uint64_t number) noexcept
        : size(words_of(number) * sizeof(std::uint64_t)) {
        for (std::size_t i = 0; i < words_of(number); ++i) {
            words[i] = (thread << 48U | number) + (std::uint64_t{i} << 32U);
        }
    }
};

struct mark {
    std::uint64_t thread = 0;
    std::uint64_t number = 0;
};

/// The thread and number of a record; fails the test if the record is not complete.
inline mark mark_of(const received_record& record) {
    std::uint64_t first = 0;
    EXPECT_GE(record.payload.size(), sizeof first);
    std::memcpy(&first, record.payload.data(), sizeof first);
    const mark found{first >> 48U, first & 0xffffffffU};
    const marked_payload expected(found.thread, found.number);
    EXPECT_EQ(record.payload.size(), expected.size);
    EXPECT_EQ(std::memcmp(record.payload.data(), expected.words.data(),
                          std::min(record.payload.size(), expected.size)),
              0);
    return found;
}

/// The number of records in all rings so far, by the producers' count.
inline std::uint64_t recorded_in(subscription_slot& slot) {
    std::uint64_t recorded = 0;
    for (std::uint32_t i = 0; i < slot.ring_count.load(); ++i) {
        eventlog_ring* ring = slot.ring(i);
        if (shared(ring->backed).load() != 0) {
            const control_word control{shared(ring->control).load()};
            recorded += descriptors_of(ring)[control.generation() & slot.buffer_mask.load()]
                            .records_before +
                        control.count();
        }
    }
    return recorded;
}

}  // namespace overwrite_test
