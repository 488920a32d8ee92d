// SPDX-License-Identifier: MIT
//
// The records of perf.data on their way into the order of time.
#include "perf_order.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace {

using times = std::vector<std::uint64_t>;

/// Notes the times of what comes out, whose bodies are that many bytes of the same.
class order {
  public:
    explicit order(std::size_t bytes_max = elog::perf_order::usual_bytes_max)
        : order_(
              [this](const elog::waiting_record& record, std::span<const std::uint8_t> body) {
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
    elog::perf_order& operator*() { return order_; }

    times found;

  private:
    elog::perf_order order_;
};

TEST(perf_order, waits_two_rounds_for_what_another_buffer_has_of_the_time) {
    order some;
    some.add({1, 5, 4, 7});
    (*some).finish_round();
    EXPECT_EQ(some.found, times());
    // What was written to a buffer behind perf's back, after perf had been at it.
    some.add({6, 9, 8});
    (*some).finish_round();
    EXPECT_EQ(some.found, (times{1, 4, 5, 6, 7}));
    (*some).finish_round();
    EXPECT_EQ(some.found, (times{1, 4, 5, 6, 7, 8, 9}));
}

TEST(perf_order, lets_all_go_at_the_end) {
    order some;
    some.add({3, 1, 2});
    (*some).finish();
    EXPECT_EQ(some.found, (times{1, 2, 3}));
}

TEST(perf_order, lets_the_older_half_go_where_too_much_waits) {
    // Four of them have 15 bytes of bodies, too.
    order some(4 * sizeof(elog::waiting_record) + 14);
    some.add({6, 2, 3});
    EXPECT_EQ(some.found, times());
    some.add({4});
    EXPECT_EQ(some.found, times());
    some.add({8, 9});
    EXPECT_EQ(some.found, (times{2, 3, 4}));
    (*some).finish();
    EXPECT_EQ(some.found, (times{2, 3, 4, 6, 8, 9}));
}

TEST(perf_order, takes_no_memory_for_records_without_bodies_either) {
    order some(100 * sizeof(elog::waiting_record));
    for (std::uint64_t count = 1; count <= 1000; ++count) {
        some.add({16 * count});
        EXPECT_LE(count - some.found.size(), 101U);
    }
    (*some).finish();
    EXPECT_EQ(some.found.size(), 1000U);
}

}  // namespace
