// SPDX-License-Identifier: MIT
//
// A recording that continues in a new file after another process has taken the previous one away.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_sink.hpp"
#include "memory/subscription.hpp"
#include "record_builder.hpp"
#include "ring/clock.hpp"
#include "scratch.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

class reopened_file : public ::testing::Test {
  protected:
    reopened_file() {
        options.on_reopen = [this](elog::output_state state, std::uint64_t records) {
            reopened.emplace_back(state, records);
        };
        options.on_incomplete = [this](elog::incomplete_recording report) {
            incomplete = std::move(report);
        };
        begin();
    }

    /// A recording with the present options.
    void begin() {
        sink.emplace(options);
        elog::subscription_options wanted;
        wanted.patterns.add("absent:nothing");
        wanted.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
        wanted.buffers_per_cpu = 2;
        const elog::subscription source(wanted);
        clock = source.header().clock;
        sink->start(source.region());
        sink->take_provider(maker.provider());
    }

    /// Writes the records taken so far. The sink checks the state of the file first.
    void look() { sink->take_clock(eventlog::core::read_clock_sample(clock)); }

    void write(std::uint64_t count, std::uint64_t lost_before = 0) {
        std::vector<std::uint8_t> bytes;
        for (std::uint64_t i = 0; i < count; ++i) {
            test_record record = maker.record("e");
            record.header().time = eventlog::core::read_clock_sample(clock).clock;
            const std::vector<std::uint8_t> one = record.bytes();
            bytes.insert(bytes.end(), one.begin(), one.end());
        }
        taken += lost_before;
        sink->take_run({0, lost_before, taken, count, bytes});
        taken += count;
        look();
    }

    static void expect_file(const std::string& file, std::uint64_t records, std::uint64_t lost) {
        const elog::file_check_result found = elog::check_file(file);
        EXPECT_EQ(found.damages, std::vector<std::string>{});
        EXPECT_TRUE(found.has_end);
        EXPECT_EQ(found.records, records);
        EXPECT_EQ(found.lost, lost);
    }

    using states = std::vector<std::pair<elog::output_state, std::uint64_t>>;

    const std::string path = eventlog::test::scratch_directory() + "/reopened.elog";
    record_builder maker{"provider p { event e info { number: u64 } }", "tester", 1};
    elog::file_sink_options options{path};
    std::optional<elog::file_sink> sink;
    std::uint32_t clock = 0;
    std::uint64_t taken = 0;
    states reopened;
    std::optional<elog::incomplete_recording> incomplete;
};

TEST_F(reopened_file, has_the_records_of_removed_ones_as_losses) {
    write(3, 1);
    ::unlink(path.c_str());
    look();
    write(4);
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
    look();
    write(5);
    sink->take_loss(elog::trailing_loss(0, 2));
    sink->finish();
    using state = elog::output_state;
    EXPECT_EQ(reopened, (states{{state::removed, 3}, {state::truncated, 4}}));
    expect_file(path, 5, 1 + 3 + 4 + 2);
    ASSERT_TRUE(incomplete);
    EXPECT_EQ(incomplete->message, "");
    EXPECT_EQ(incomplete->unwritten[0].count, 7U);
    EXPECT_GT(incomplete->unwritten[0].bytes, 0U);
}

TEST_F(reopened_file, has_no_losses_of_a_moved_one) {
    const std::string moved = path + ".1";
    write(3);
    ::unlink(path.c_str());
    look();
    write(4);
    ASSERT_EQ(std::rename(path.c_str(), moved.c_str()), 0);
    look();
    write(5);
    sink->finish();
    using state = elog::output_state;
    EXPECT_EQ(reopened, (states{{state::removed, 3}, {state::moved, 4}}));
    expect_file(moved, 4, 3);
    expect_file(path, 5, 0);
    ASSERT_TRUE(incomplete);
    EXPECT_EQ(incomplete->unwritten[0].count, 3U);
}

TEST_F(reopened_file, never_removes_a_file_that_has_got_the_name) {
    write(3);
    const std::string moved = path + ".1";
    ASSERT_EQ(std::rename(path.c_str(), moved.c_str()), 0);
    std::ofstream(path) << "another program's";
    ASSERT_EQ(::truncate(moved.c_str(), 0), 0);
    EXPECT_THROW(look(), elog::user_error);
    std::string content;
    std::getline(std::ifstream(path), content);
    EXPECT_EQ(content, "another program's");
}

TEST_F(reopened_file, follows_a_link_that_is_changed_again) {
    const std::string link = path + ".link";
    for (const char* end : {".a", ".b", ".c"}) {
        std::ofstream(path + end);
    }
    std::filesystem::create_symlink(path + ".a", link);
    options.path = link;
    begin();
    write(1);
    for (const char* end : {".b", ".c"}) {
        ::unlink(link.c_str());
        std::filesystem::create_symlink(path + end, link);
        look();
        write(2);
    }
    sink->finish();
    expect_file(path + ".b", 2, 0);
    expect_file(path + ".c", 2, 0);
}

TEST_F(reopened_file, is_no_incomplete_recording_behind_a_moved_one) {
    write(3);
    ASSERT_EQ(std::rename(path.c_str(), (path + ".1").c_str()), 0);
    look();
    write(5);
    sink->finish();
    EXPECT_EQ(reopened, (states{{elog::output_state::moved, 3}}));
    EXPECT_FALSE(incomplete);
}

}  // namespace
