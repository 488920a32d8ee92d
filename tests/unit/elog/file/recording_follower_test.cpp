// SPDX-License-Identifier: MIT
//
// Following a recording from file to file: no record is lost, repeated or out of order, and removed
// files are counted.
#include "file/recording_follower.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "file/file_sink.hpp"
#include "memory/subscription.hpp"
#include "record_builder.hpp"
#include "ring/clock.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;
using numbers = std::vector<std::uint64_t>;

class followed_recording : public ::testing::Test {
  protected:
    followed_recording() {
        std::filesystem::create_directory(folder);
        begin();
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    /// Starts a recording in files of 1 MiB, after the existing files.
    void begin() {
        elog::subscription_options options;
        options.patterns.add("absent:nothing");
        options.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
        options.buffers_per_cpu = 2;
        const elog::subscription source(options);
        sink.emplace(
            elog::file_sink_options{folder + "/run.elog", 0, {elog::rotation_options::size_min}});
        sink->start(source.region());
        clock = source.header().clock;
        time = eventlog::core::read_clock_sample(clock).clock;
        sink->take_provider(maker.provider());
        taken.assign(source.region().geometry.ring_count, 0);
    }

    /// Writes records with increasing numbers and times, of this size together.
    void take(std::uint32_t ring, std::size_t size) {
        std::vector<std::uint8_t> bytes;
        std::uint64_t count = 0;
        while (bytes.size() < size) {
            test_record record = maker.record("e");
            record.header().time = time++;
            record.set("number", made++);
            const std::vector<std::uint8_t> one = record.bytes();
            bytes.insert(bytes.end(), one.begin(), one.end());
            ++count;
        }
        sink->take_run({ring, 0, taken[ring], count, bytes});
        taken[ring] += count;
    }

    /// The small run stays in memory, and reaches a later file than the large run after it.
    void write_mebibytes(int count) {
        for (int i = 0; i < count; ++i) {
            sink->advance(time, time);
            sink->take_clock(eventlog::core::read_clock_sample(clock));
            take(1, 1);
            take(0, elog::rotation_options::size_min);
        }
    }

    [[nodiscard]] std::vector<std::string> parts() const {
        std::set<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            found.insert(entry.path());
        }
        return {found.begin(), found.end()};
    }

    [[nodiscard]] static std::uint64_t number_of(const elog::merged_record& record) {
        std::uint64_t number = 0;
        std::memcpy(&number, record.record.payload.data(), sizeof number);
        return number;
    }

    numbers follow(
        elog::recording_follower& recording, const std::function<void()>& idle = [] {}) {
        numbers found;
        recording.follow(
            [&](const elog::merged_record& record, const elog::clock_converter&) {
                EXPECT_TRUE(recording.providers().contains(record.record.provider));
                found.push_back(number_of(record));
            },
            idle, [] { return false; });
        return found;
    }

    /// Open file descriptors of this process in the folder.
    [[nodiscard]] std::size_t open_files() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code closed;
            const std::string target = std::filesystem::read_symlink(entry, closed).string();
            count += target.starts_with(std::filesystem::canonical(folder).string() + "/") ? 1 : 0;
        }
        return count;
    }

    [[nodiscard]] numbers first_numbers() const {
        numbers all(made);
        std::iota(all.begin(), all.end(), 0U);
        return all;
    }

    /// So that the sizes of files follow from those of runs.
    const eventlog::test::scoped_environment_variable verbatim{"EVENTLOG_TEST_COMPACTION", "0"};
    const std::string folder = eventlog::test::scratch_directory() + "/followed_parts";
    record_builder maker{"provider p { event e info { number: u64 } }", "tester", 1};
    std::optional<elog::file_sink> sink;
    std::uint32_t clock = 0;
    std::uint64_t time = 0;
    std::uint64_t made = 0;
    std::vector<std::uint64_t> taken;
};

TEST_F(followed_recording, merges_files_in_time_order) {
    write_mebibytes(4);
    sink->finish();
    ASSERT_GE(parts().size(), 4U);
    elog::recording_follower recording(parts().front());
    EXPECT_EQ(follow(recording), first_numbers());
    EXPECT_EQ(recording.path(), parts().back());
    EXPECT_EQ(recording.missed(), 0U);
    EXPECT_TRUE(recording.damages().empty());
    EXPECT_TRUE(recording.file().damages().empty());
    EXPECT_EQ(open_files(), 1U);
}

TEST_F(followed_recording, continues_while_recording_is_written) {
    write_mebibytes(1);
    elog::recording_follower recording(parts().front());
    int turns = 0;
    std::size_t most_open = 0;
    const numbers found = follow(recording, [&] {
        most_open = std::max(most_open, open_files());
        if (++turns <= 3) {
            write_mebibytes(turns);
        } else if (turns == 4) {
            sink->finish();
        }
    });
    EXPECT_GE(parts().size(), 7U);
    EXPECT_EQ(found, first_numbers());
    // The file being written, open for writer and reader, and files that are not shown yet.
    EXPECT_LE(most_open, 5U);
}

TEST_F(followed_recording, counts_removed_files) {
    write_mebibytes(5);
    sink->finish();
    const std::vector<std::string> all = parts();
    ASSERT_GE(all.size(), 5U);
    std::filesystem::remove(all[1]);
    std::filesystem::remove(all[3]);
    elog::recording_follower recording(all.front());
    const numbers found = follow(recording);
    EXPECT_EQ(recording.missed(), 2U);
    EXPECT_EQ(recording.path(), all.back());
    EXPECT_EQ(found.back(), made - 1);
    EXPECT_LT(found.size(), made);
}

TEST_F(followed_recording, ignores_other_recording_with_same_names) {
    write_mebibytes(2);
    sink->finish();
    const std::string last = parts().back();
    const numbers own = first_numbers();
    begin();
    write_mebibytes(2);
    sink->finish();
    elog::recording_follower recording(parts().front());
    EXPECT_EQ(follow(recording), own);
    EXPECT_EQ(recording.path(), last);
}

TEST_F(followed_recording, stops_at_limit) {
    write_mebibytes(2);
    sink->finish();
    elog::recording_follower recording(parts().front());
    std::uint64_t count = 0;
    recording.follow([&](const elog::merged_record&, const elog::clock_converter&) { ++count; },
                     [] {}, [] { return false; }, [&] { return count == 3; });
    EXPECT_EQ(count, 3U);
}

TEST_F(followed_recording, has_a_pause_once_that_goes_on_over_several_files) {
    write_mebibytes(1);
    const elog::recording_mark begin{time, 1, elog::mark_kind::pause};
    sink->take_mark(begin);
    write_mebibytes(3);
    const elog::recording_mark end{time, 1, elog::mark_kind::resume};
    sink->take_mark(end);
    sink->finish();
    ASSERT_GE(parts().size(), 4U);
    elog::recording_follower recording(parts().front());
    static_cast<void>(follow(recording));
    EXPECT_EQ(recording.take_marks(), (std::vector<elog::recording_mark>{begin, end}));
}

}  // namespace
