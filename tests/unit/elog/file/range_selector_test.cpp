// SPDX-License-Identifier: MIT
//
// The blocks that the index selects for a range of time.
#include "file/range_selector.hpp"

#include <linux/eventlog.h>

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "record/clock_converter.hpp"

namespace {

constexpr std::uint64_t interval = 1000;
constexpr std::uint64_t reading_count = 2000;
constexpr std::uint64_t reading_of_set_clock = 1500;
constexpr std::int64_t hour = 3'600'000'000'000;

/// A section with a block of records from its first reading to its last. Between two readings
/// CLOCK_REALTIME is an hour ahead.
class range_selector : public testing::Test {
  protected:
    range_selector() {
        elog::index_section section;
        section.head.earliest = interval;
        section.head.latest = reading_count * interval;
        section.head.clocks = reading_count;
        section.head.first_clock = {interval, interval, interval, 0};
        section.head.last_clock = {section.head.latest, section.head.latest, section.head.latest,
                                   0};
        section.head.offset_max = hour;
        sections_.push_back(section);
        block_.earliest = section.head.earliest;
        block_.latest = section.head.latest;
        for (std::uint64_t i = 1; i <= reading_count; ++i) {
            const std::uint64_t ahead = i == reading_of_set_clock ? std::uint64_t{hour} : 0;
            readings_.add({i * interval, i * interval, i * interval + ahead});
        }
        hints_.offset_min = hints_.offset_max = 0;
    }

    [[nodiscard]] bool may_contain(std::int64_t from, std::int64_t to) const {
        const elog::time_range range{from, to};
        const elog::range_selector selector(range, sections_, hints_, EVENTLOG_CLOCK_MONOTONIC,
                                            false);
        return selector.may_contain(sections_.front(), block_, readings_);
    }

  private:
    std::vector<elog::index_section> sections_;
    elog::range_hints hints_;
    elog::index_entry block_{};
    elog::clock_converter readings_{EVENTLOG_CLOCK_MONOTONIC};
};

TEST_F(range_selector, selects_block_with_more_readings_than_it_examines) {
    constexpr auto time = static_cast<std::int64_t>(reading_of_set_clock * interval);
    EXPECT_TRUE(may_contain(hour + time, hour + time + 1));
    EXPECT_TRUE(may_contain(time, time + 1));
    EXPECT_FALSE(may_contain(2 * hour, 3 * hour));
    EXPECT_FALSE(may_contain(-2 * hour, -hour));
}

}  // namespace
