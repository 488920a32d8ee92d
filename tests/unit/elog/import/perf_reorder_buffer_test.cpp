// SPDX-License-Identifier: MIT
//
// Sorting the records of perf.data by time.
#include "import/perf_reorder_buffer.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace {

using times = std::vector<std::uint64_t>;

/// Collects the times of the output; a body is this many equal bytes.
class order {
  public:
    explicit order(std::size_t bytes_max = elog::perf_reorder_buffer::default_bytes_max)
        : order_(
              [this](const elog::pending_record& record, std::span<const std::uint8_t> body) {
                  found.push_back(record.time);
                  EXPECT_EQ(body.size(), record.time % 16);
                  for (const std::uint8_t byte : body) {
                      EXPECT_EQ(byte, static_cast<std::uint8_t>(record.time));
                  }
              },
              bytes_max) {}

    void add(const times& all) {
        for (const std::uint64_t time : all) {
            const std::vector<std::uint8_t> body(time % 16, static_cast<std::uint8_t>(time));
            order_.add({.time = time}, body);
        }
    }
    elog::perf_reorder_buffer& operator*() { return order_; }

    times found;

  private:
    elog::perf_reorder_buffer order_;
};

TEST(perf_reorder_buffer, holds_records_for_two_rounds) {
    order some;
    some.add({1, 5, 4, 7});
    (*some).finish_round();
    EXPECT_EQ(some.found, times());
    // Records that were written to a buffer after perf had read it.
    some.add({6, 9, 8});
    (*some).finish_round();
    EXPECT_EQ(some.found, (times{1, 4, 5, 6, 7}));
    (*some).finish_round();
    EXPECT_EQ(some.found, (times{1, 4, 5, 6, 7, 8, 9}));
}

TEST(perf_reorder_buffer, flushes_at_end) {
    order some;
    some.add({3, 1, 2});
    (*some).finish();
    EXPECT_EQ(some.found, (times{1, 2, 3}));
}

TEST(perf_reorder_buffer, flushes_older_half_at_memory_limit) {
    // The four records have 15 bytes of bodies, the fifth has 8: all five just fit.
    constexpr std::size_t room = 4 * elog::perf_reorder_buffer::pending_record_size + 15 + 8;
    order some(room);
    order tight(room - 1);
    for (order* each : {&some, &tight}) {
        each->add({6, 2, 3, 4});
        EXPECT_EQ(each->found, times());
        each->add({8});
    }
    EXPECT_EQ(some.found, times());
    EXPECT_EQ(tight.found, (times{2, 3, 4}));
    some.add({9});
    EXPECT_EQ(some.found, (times{2, 3, 4}));
    (*some).finish();
    EXPECT_EQ(some.found, (times{2, 3, 4, 6, 8, 9}));
}

TEST(perf_reorder_buffer, keeps_bodies_intact_across_memory_reuse) {
    // Some records of each round wait for the next; their bodies take several memory blocks, one of
    // them large.
    std::vector<std::size_t> sizes{700'000, 1, 700'000, 3'000'000, 400'000, 0, 700'000};
    std::size_t taken = 0;
    elog::perf_reorder_buffer some(
        [&](const elog::pending_record& record, std::span<const std::uint8_t> body) {
            EXPECT_EQ(record.time, taken);
            EXPECT_EQ(body.size(), sizes[taken % sizes.size()]);
            const auto wanted = static_cast<std::uint8_t>(taken);
            EXPECT_EQ(std::count(body.begin(), body.end(), wanted),
                      static_cast<std::ptrdiff_t>(body.size()));
            ++taken;
        });
    std::uint64_t time = 0;
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 9; ++i, ++time) {
            const std::vector<std::uint8_t> body(sizes[time % sizes.size()],
                                                 static_cast<std::uint8_t>(time));
            some.add({.time = time}, body);
        }
        some.finish_round();
    }
    some.finish();
    EXPECT_EQ(taken, time);
}

TEST(perf_reorder_buffer, counts_records_without_bodies_towards_limit) {
    order some(100 * elog::perf_reorder_buffer::pending_record_size);
    std::size_t most = 0;
    for (std::uint64_t count = 1; count <= 1000; ++count) {
        some.add({16 * count});
        most = std::max<std::size_t>(most, count - some.found.size());
    }
    EXPECT_EQ(most, 101U);  // it checks before it adds a record
    (*some).finish();
    EXPECT_EQ(some.found.size(), 1000U);
}

}  // namespace
