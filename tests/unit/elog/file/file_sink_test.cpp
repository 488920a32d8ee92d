// SPDX-License-Identifier: MIT
//
// Each file of a rotated recording is readable on its own.
#include "file/file_sink.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "import/file_merge.hpp"
#include "memory/subscription.hpp"
#include "record_builder.hpp"
#include "ring/clock.hpp"
#include "run_in_child.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"
#include "syscall_override.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

/// Returns the clock of the records.
std::uint32_t start(elog::file_sink& sink) {
    elog::subscription_options options;
    options.patterns.add("absent:nothing");
    options.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
    options.buffers_per_cpu = 2;
    const elog::subscription source(options);
    sink.start(source.region());
    return source.header().clock;
}

class rotation : public ::testing::Test {
  protected:
    rotation() {
        std::filesystem::create_directory(folder);
        clock = start(sink);
        sink.take_provider(maker.provider());
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    void take(std::uint32_t ring, std::uint64_t time, std::size_t size) {
        test_record record = maker.record("e");
        record.header().time = time;
        const std::vector<std::uint8_t> one = record.bytes();
        std::vector<std::uint8_t> bytes;
        std::uint64_t count = 0;
        while (bytes.size() < size) {
            bytes.insert(bytes.end(), one.begin(), one.end());
            ++count;
        }
        sink.take_run({ring, 0, taken, count, bytes});
        taken += count;
    }

    /// Fills a file.
    void write_mebibyte(std::uint32_t ring, std::uint64_t time) {
        take(ring, time, elog::rotation_options::size_min);
    }

    [[nodiscard]] std::set<std::string> parts() const {
        std::set<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            found.insert(entry.path());
        }
        return found;
    }

    /// So that the sizes of files follow from those of runs.
    const eventlog::test::scoped_environment_variable verbatim{"EVENTLOG_TEST_COMPACTION", "0"};
    const std::string folder = eventlog::test::scratch_directory() + "/rotation";
    record_builder maker{"provider p { event e info { number: u64 } }", "tester", 1};
    elog::file_sink sink{{folder + "/run.elog", 0, {elog::rotation_options::size_min}}};
    std::uint32_t clock = 0;
    std::uint64_t taken = 0;
};

TEST_F(rotation, converts_times_of_late_ring_consistently) {
    const eventlog_clock_sample first = eventlog::core::read_clock_sample(clock);
    sink.take_clock(first);
    sink.advance(first.clock, first.clock);  // a record with an equally early time may follow
    eventlog_clock_sample second = eventlog::core::read_clock_sample(clock);
    second.realtime += 10'000;  // the clock was set: it ran faster between the readings
    sink.take_clock(second);
    for (int i = 0; i < 3; ++i) {
        write_mebibyte(0, second.clock);
    }
    write_mebibyte(1, first.clock);
    sink.finish();
    ASSERT_GE(parts().size(), 4U);
    for (const std::string& path : parts()) {
        elog::file_reader part(path);
        part.read([](const elog::merged_record& /*record*/) {});
        EXPECT_TRUE(part.damages().empty()) << path;
        EXPECT_EQ(part.clock().realtime(first.clock), static_cast<std::int64_t>(first.realtime));
        EXPECT_EQ(part.clock().realtime(second.clock), static_cast<std::int64_t>(second.realtime));
    }
}

TEST_F(rotation, each_file_has_the_losses_of_all_providers) {
    for (std::uint64_t lost = 1; lost <= 4; ++lost) {
        sink.note_loss(elog::provider_loss(maker.provider().id, 0, lost, 0));
        write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
    }
    sink.take_loss(elog::provider_loss(maker.provider().id, 0, 5, 0));
    sink.finish();
    ASSERT_GE(parts().size(), 4U);
    std::uint64_t before = 0;
    for (const std::string& path : parts()) {
        const elog::file_reader part(path);
        ASSERT_EQ(part.losses().size(), 1U) << path;
        EXPECT_EQ(part.losses()[0].provider, "p");
        EXPECT_GE(part.losses()[0].too_large, before);
        before = part.losses()[0].too_large;
        EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{}) << path;
    }
    EXPECT_EQ(before, 5U);
    // The files together have them once.
    const std::string merged = eventlog::test::scratch_directory() + "/merged.elog";
    const std::set<std::string> all = parts();
    static_cast<void>(elog::merge_files({all.begin(), all.end()}, {merged}));
    EXPECT_EQ(elog::check_file(merged).lost, 5U);
}

/// So each file says why it has no events at its beginning.
TEST_F(rotation, repeats_a_pause_that_goes_on) {
    const elog::recording_mark pause{400, 1, elog::mark_kind::pause};
    const elog::recording_mark resume{700, 1, elog::mark_kind::resume};
    write_mebibyte(0, 300);
    sink.take_mark(pause);
    write_mebibyte(0, 350);
    write_mebibyte(0, 360);
    sink.take_mark(resume);
    write_mebibyte(0, 800);
    write_mebibyte(0, 900);
    sink.finish();
    using marks = std::vector<elog::recording_mark>;
    std::size_t with_both = 0;
    std::size_t with_pause = 0;
    std::size_t files = 0;
    for (const std::string& part : parts()) {
        const marks found = elog::file_reader(part).marks();
        with_both += found == marks{pause, resume} ? 1 : 0;
        with_pause += found == marks{pause} ? 1 : 0;
        EXPECT_TRUE(found.empty() || found.front() == pause) << part;
        EXPECT_EQ(elog::check_file(part).damages, std::vector<std::string>{});
        ++files;
    }
    EXPECT_EQ(with_both, 1U);
    EXPECT_GE(with_pause, 1U);
    EXPECT_GT(files, with_both + with_pause);
    std::vector<std::string> all;
    for (const std::string& part : parts()) {
        all.push_back(part);
    }
    const std::string merged = eventlog::test::scratch_directory() + "/merged_pauses.elog";
    static_cast<void>(elog::merge_files(all, {merged}));
    EXPECT_EQ(elog::file_reader(merged).marks(), (marks{pause, resume}));
}

TEST_F(rotation, keeps_clocks_monotonic) {
    const eventlog_clock_sample first = eventlog::core::read_clock_sample(clock);
    sink.take_clock(first);
    // Almost fills a file; some records wait for the next reading, which writes them to a new file
    // with its own, later reading.
    take(0, first.clock, 900U << 10U);
    take(0, first.clock, 100U << 10U);
    take(1, first.clock, 100U << 10U);
    sink.take_clock(eventlog::core::read_clock_sample(clock));
    sink.finish();
    EXPECT_EQ(parts().size(), 2U);
    for (const std::string& path : parts()) {
        EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{}) << path;
    }
}

TEST_F(rotation, writes_providers_with_large_numbers_to_each_file) {
    // A recording of kernel events may have more providers than a region.
    maker = record_builder("provider q { event e info { number: u64 } }", "tester", 1, 40'000);
    sink.take_provider(maker.provider());
    sink.take_clock(eventlog::core::read_clock_sample(clock));
    for (int i = 0; i < 3; ++i) {
        write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
    }
    sink.finish();
    EXPECT_GE(parts().size(), 3U);
    for (const std::string& path : parts()) {
        EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{}) << path;
    }
}

TEST_F(rotation, does_not_repeat_unneeded_clock_readings) {
    for (int i = 0; i < 100; ++i) {
        const eventlog_clock_sample now = eventlog::core::read_clock_sample(clock);
        sink.take_clock(now);
        sink.advance(now.clock, now.clock);
    }
    write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
    write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
    sink.finish();
    elog::file_reader last(*parts().rbegin());
    last.read([](const elog::merged_record& /*record*/) {});
    EXPECT_LT(last.clock().pairs().size(), 10U);
}

TEST_F(rotation, does_not_accumulate_clock_readings) {
    for (int i = 0; i < 40; ++i) {
        write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
        const std::uint64_t now = eventlog::core::read_clock_sample(clock).clock;
        sink.advance(now, now);
    }
    sink.finish();
    ASSERT_GT(parts().size(), 40U);
    elog::file_reader last(*parts().rbegin());
    last.read([](const elog::merged_record& /*record*/) {});
    EXPECT_LT(last.clock().pairs().size(), 25U);
}

TEST_F(rotation, counts_records_without_space_for_another_file) {
    const int status = eventlog::test::run_in_child([this] {
        if (!eventlog::test::override_syscall(SYS_openat, ENOSPC)) {
            return 2;
        }
        for (int i = 0; i < 3; ++i) {
            write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
        }
        try {
            sink.finish();
        } catch (const elog::user_error&) {
            return 0;
        }
        return 1;
    });
    ASSERT_EQ(status, 0);
    ASSERT_EQ(parts().size(), 1U);
    const elog::file_check_result found = elog::check_file(*parts().begin());
    EXPECT_EQ(found.damages, std::vector<std::string>{});
    EXPECT_TRUE(found.has_end);
    EXPECT_EQ(found.reason, elog::end_reason::disk_full);
    const std::size_t size = maker.record("e").bytes().size();
    const std::size_t each = (elog::rotation_options::size_min + size - 1) / size;
    EXPECT_GT(found.lost, each);
    EXPECT_EQ(found.records + found.lost, 3 * each);
}

TEST_F(rotation, keeps_one_file) {
    elog::file_sink_options options{folder + "/one.elog", 0, {elog::rotation_options::size_min}};
    options.rotation.keep = 1;
    elog::file_sink one(options);
    start(one);
    one.take_provider(maker.provider());
    test_record record = maker.record("e");
    record.header().time = eventlog::core::read_clock_sample(clock).clock;
    std::vector<std::uint8_t> bytes;
    std::uint64_t count = 0;
    for (; bytes.size() < elog::rotation_options::size_min / 2; ++count) {
        const std::vector<std::uint8_t> each = record.bytes();
        bytes.insert(bytes.end(), each.begin(), each.end());
    }
    for (std::uint64_t i = 0; i < 6; ++i) {
        one.take_run({0, 0, i * count, count, bytes});
    }
    one.finish();
    std::set<std::string> left = parts();
    left.erase(folder + "/run-000001.elog");
    ASSERT_EQ(left.size(), 1U);
    EXPECT_NE(*left.begin(), folder + "/one-000001.elog");
    EXPECT_EQ(elog::check_file(*left.begin()).damages, std::vector<std::string>{});
}

TEST_F(rotation, keeps_files_of_another_recording) {
    // It has found the same names free.
    const std::string other = folder + "/run-000002.elog";
    std::ofstream(other) << "not to be replaced";
    for (int i = 0; i < 8; ++i) {
        write_mebibyte(0, eventlog::core::read_clock_sample(clock).clock);
    }
    sink.finish();
    std::string content;
    std::getline(std::ifstream(other), content);
    EXPECT_EQ(content, "not to be replaced");
    EXPECT_EQ(elog::check_file(folder + "/run-000001.elog").damages, std::vector<std::string>{});
    EXPECT_EQ(elog::check_file(folder + "/run-000003.elog").damages, std::vector<std::string>{});
}

/// A sink for one file that has as many losses of providers as do not fit into what is allocated at
/// a time.
class many_losses : public ::testing::Test {
  protected:
    many_losses() { start(sink); }
    void note_losses() {
        for (std::uint32_t provider = 0; provider < losses; ++provider) {
            sink.note_loss(elog::provider_loss(provider, 0, 1, 0));
        }
    }

    static constexpr std::uint32_t losses = 4000;
    const std::string path = eventlog::test::scratch_directory() + "/many_losses.elog";
    elog::file_sink sink{{path}};
};

TEST_F(many_losses, have_space_in_the_reserve) {
    const int probe = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool has_reserve = ::fallocate(probe, FALLOC_FL_KEEP_SIZE, 0, 4096) == 0;
    ::close(probe);
    if (!has_reserve) {
        GTEST_SKIP() << "a file here has no reserve";
    }
    note_losses();
    sink.take_clock({1, 1, 1});
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    constexpr auto reserve = static_cast<std::int64_t>(losses * elog::loss_size_max);
    EXPECT_GE(status.st_blocks * 512, status.st_size + reserve);
    sink.finish();
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_LT(status.st_blocks * 512, status.st_size + (64 << 10));
}

TEST_F(many_losses, are_counted_once_when_the_disk_is_full) {
    note_losses();
    const int status = eventlog::test::run_in_child([this] {
        if (!eventlog::test::override_syscall(SYS_fallocate, ENOSPC)) {
            return 2;
        }
        try {
            sink.finish();
        } catch (const elog::user_error&) {
            return 0;  // the disk is full
        }
        return 0;
    });
    ASSERT_EQ(status, 0);
    const elog::file_check_result found = elog::check_file(path);
    EXPECT_EQ(found.damages, std::vector<std::string>{});
    EXPECT_TRUE(found.has_end);
    EXPECT_EQ(found.lost, losses);
}

/// Records until the limit on the size of files, and beyond; returns what is in the file.
elog::file_check_result record_beyond(std::uint64_t limit, std::uint64_t count) {
    const std::string path = eventlog::test::scratch_directory() + "/limited.elog";
    const int status = eventlog::test::run_in_child([&] {
        std::vector<elog::incomplete_recording> reports;
        elog::file_sink_options options{path};
        options.on_incomplete = [&](elog::incomplete_recording report) {
            reports.push_back(std::move(report));
        };
        elog::file_sink sink(options);
        const std::uint32_t clock = start(sink);
        static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
        const rlimit narrow{limit, limit};
        static_cast<void>(::setrlimit(RLIMIT_FSIZE, &narrow));
        record_builder maker{"provider p { event e info { number: u64 } }", "tester", 1};
        sink.take_provider(maker.provider());
        test_record record = maker.record("e");
        record.header().time = eventlog::core::read_clock_sample(clock).clock;
        const std::vector<std::uint8_t> one = record.bytes();
        constexpr std::uint64_t size_in_ring = 16;  // a short header and the number
        for (std::uint64_t i = 0; i < count; ++i) {
            sink.take_run({0, 0, i, 1, one});
        }
        sink.finish();
        const bool is_counted =
            reports.size() == 1 && reports[0].unwritten[0].count != 0 &&
            reports[0].unwritten[0].bytes == reports[0].unwritten[0].count * size_in_ring;
        return is_counted ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    elog::file_check_result found = elog::check_file(path);
    EXPECT_EQ(found.damages, std::vector<std::string>{});
    EXPECT_TRUE(found.has_end);
    EXPECT_EQ(found.reason, elog::end_reason::too_large);
    EXPECT_LE(found.size, limit);
    EXPECT_GT(found.lost, 0U);
    EXPECT_EQ(found.records + found.lost, count);
    std::filesystem::remove(path);
    return found;
}

TEST(file_sink, ends_file_below_limit_on_its_size) {
    const eventlog::test::scoped_environment_variable verbatim{"EVENTLOG_TEST_COMPACTION", "0"};
    EXPECT_GT(record_beyond(512U << 10U, 50'000).records, 1000U);
}

/// The last blocks, in the reserve, repeat what the first sectors have.
TEST(file_sink, repeats_the_first_providers_at_the_end_if_the_disk_is_full_before) {
    const std::string path = eventlog::test::scratch_directory() + "/full_at_second_host.elog";
    const int status = eventlog::test::run_in_child([&] {
        elog::file_options options{path};
        options.has_reserve = true;
        elog::file_writer writer(options);
        writer.write_provider(
            record_builder("provider p { event e info {} }", "tester", 1).provider());
        while (writer.size() < elog::second_host_offset) {
            writer.write_clock({writer.size(), writer.size(), writer.size()});
        }
        const rlimit narrow{writer.size() + 16'384, writer.size() + 16'384};
        static_cast<void>(::setrlimit(RLIMIT_FSIZE, &narrow));
        try {
            writer.write_clock({writer.size(), writer.size(), writer.size()});
            return 1;
        } catch (const elog::disk_full&) {
            writer.write_end(elog::end_reason::too_large);
        }
        return 0;
    });
    ASSERT_EQ(status, 0);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
    // Damage of the first sectors.
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(sizeof(elog::file_header));
    file << std::string(1024, 'x');
    file.close();
    EXPECT_EQ(elog::file_reader(path).providers().size(), 1U);
}

/// An index or a repeated host that finds no space behind a block does not make it unwritten.
TEST(file_sink, counts_records_once_before_a_full_disk) {
    const eventlog::test::scoped_environment_variable step{"EVENTLOG_TEST_INDEX_BYTES", "32768"};
    const eventlog::test::scoped_environment_variable verbatim{"EVENTLOG_TEST_COMPACTION", "0"};
    for (std::uint64_t limit = 150'000; limit < 300'000; limit += 997) {
        SCOPED_TRACE(limit);
        record_beyond(limit, 12'000);
    }
}

}  // namespace
