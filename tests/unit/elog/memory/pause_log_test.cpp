// SPDX-License-Identifier: MIT
//
// The log of pauses in a region, which other processes may have written.
#include "memory/pause_log.hpp"

#include <linux/eventlog.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

#include "platform/unique_fd.hpp"
#include "ring/region.hpp"
#include "shm/exact_io.hpp"

namespace {

namespace core = eventlog::core;
using elog::begin_pause;
using elog::end_pause;
using elog::pause_history;
using elog::read_pauses;

/// A file that is as large as header and log.
class pause_log : public ::testing::Test {
  protected:
    pause_log() : file(::memfd_create("region", MFD_CLOEXEC)) {
        EXPECT_EQ(::ftruncate(file.get(), core::pause_log_offset + sizeof(eventlog_pause_log)), 0);
    }

    void write(const eventlog_pause_log& log) const {
        EXPECT_TRUE(core::write_exactly(file, &log, sizeof log, core::pause_log_offset));
    }

    core::unique_fd file;
};

TEST_F(pause_log, begins_empty) {
    const pause_history found = read_pauses(file);
    EXPECT_EQ(found.count, 0U);
    EXPECT_TRUE(found.last.empty());
    EXPECT_FALSE(found.goes_on());
    end_pause(file, 5);
    EXPECT_EQ(read_pauses(file).count, 0U);
}

TEST_F(pause_log, keeps_the_last_pauses_in_order) {
    constexpr std::uint64_t all = EVENTLOG_PAUSES_MAX + 5;
    for (std::uint64_t i = 0; i < all; ++i) {
        begin_pause(file, 100 * i + 10);
        EXPECT_TRUE(read_pauses(file).goes_on());
        end_pause(file, 100 * i + 20);
    }
    const pause_history found = read_pauses(file);
    EXPECT_EQ(found.count, all);
    ASSERT_EQ(found.last.size(), std::size_t{EVENTLOG_PAUSES_MAX});
    for (std::uint64_t i = 0; i < EVENTLOG_PAUSES_MAX; ++i) {
        EXPECT_EQ(found.last[i].begin, 100 * (i + 5) + 10);
        EXPECT_EQ(found.last[i].end, 100 * (i + 5) + 20);
    }
}

TEST_F(pause_log, keeps_a_pause_that_goes_on) {
    begin_pause(file, 10);
    begin_pause(file, 20);
    const pause_history found = read_pauses(file);
    EXPECT_EQ(found.count, 1U);
    ASSERT_EQ(found.last.size(), 1U);
    EXPECT_EQ(found.last[0].begin, 10U);
}

TEST_F(pause_log, never_ends_a_pause_before_its_begin) {
    begin_pause(file, 10);
    end_pause(file, 5);  // the machine has slept, and its counter began anew
    EXPECT_EQ(read_pauses(file).last[0].end, 10U);
    begin_pause(file, 0);
    end_pause(file, 0);
    EXPECT_FALSE(read_pauses(file).goes_on());
}

TEST_F(pause_log, ignores_what_lies_behind_the_next_pause) {
    eventlog_pause_log log{};
    log.count = 3;
    log.pauses[0] = {500, 0};  // is being replaced by the next pause
    log.pauses[1] = {20, 30};
    log.pauses[2] = {40, 0};
    write(log);
    pause_history found = read_pauses(file);
    ASSERT_EQ(found.last.size(), 2U);
    EXPECT_EQ(found.last[0].begin, 20U);
    EXPECT_TRUE(found.goes_on());
    log.pauses[1] = {30, 20};
    write(log);
    ASSERT_EQ(read_pauses(file).last.size(), 1U);
    log.pauses[2] = {40, 39};
    write(log);
    EXPECT_TRUE(read_pauses(file).last.empty());
}

TEST_F(pause_log, survives_any_content) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 2000; ++trial) {
        eventlog_pause_log log{};
        log.count = static_cast<std::uint32_t>(trial % 2 == 0 ? random() : random() % 40);
        for (eventlog_pause& each : log.pauses) {
            each = {random() % 50, random() % 50};
        }
        write(log);
        begin_pause(file, random());
        end_pause(file, random());
        const pause_history found = read_pauses(file);
        EXPECT_LE(found.last.size(), std::size_t{EVENTLOG_PAUSES_MAX});
        for (std::size_t i = 0; i < found.last.size(); ++i) {
            EXPECT_LE(found.last[i].begin, found.last[i].end);
            EXPECT_TRUE(i == 0 || found.last[i - 1].end <= found.last[i].begin);
        }
    }
}

TEST_F(pause_log, of_a_truncated_file_is_empty) {
    begin_pause(file, 10);
    ASSERT_EQ(::ftruncate(file.get(), core::pause_log_offset + 40), 0);
    EXPECT_EQ(read_pauses(file).count, 0U);
    end_pause(file, 20);
    EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), core::pause_log_offset + 40);
}

}  // namespace
