// SPDX-License-Identifier: MIT
//
// The loop of a recording looks after its sink also while it reads no records.
#include "memory/recording_loop.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "detached_recorder.hpp"

namespace {

class checked_sink : public eventlog::test::number_sink {
  public:
    void check() override { ++checks; }

    int checks = 0;
};

/// The checks and the reads of a recording that is asked ten times to go on.
class recording_loop : public ::testing::Test {
  protected:
    void run(bool overwrites) {
        int rounds = 0;
        elog::poll_until([&] { return ++rounds > 10; }, sink, std::chrono::hours(1), overwrites,
                         [this] { ++reads; }, [](std::chrono::nanoseconds) { return false; });
    }

    checked_sink sink;
    int reads = 0;
};

TEST_F(recording_loop, checks_the_sink_between_reads) {
    run(false);
    EXPECT_EQ(sink.checks, 10);
    EXPECT_EQ(reads, 1);
}

TEST_F(recording_loop, checks_the_sink_without_reads) {
    run(true);
    EXPECT_EQ(sink.checks, 10);
    EXPECT_EQ(reads, 0);
}

}  // namespace
