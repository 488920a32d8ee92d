// SPDX-License-Identifier: MIT
//
// A recording to an open descriptor, and to a path that must not exist.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <future>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "file/file_writer.hpp"
#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

using eventlog::core::unique_fd;
using eventlog::test::bytes;

constexpr std::uint64_t record_count = 100'000;  // more than a pipe holds

std::string path_of(const std::string& name) {
    return eventlog::test::scratch_directory() + "/" + name;
}

elog::file_options options_for(int descriptor) {
    elog::file_options options;
    options.path = "on a descriptor";
    options.descriptor = descriptor;
    return options;
}

void write_recording(elog::file_writer& writer) {
    writer.write_clock({1, 1, 1});
    writer.write_provider(eventlog::test::mark_provider());
    constexpr std::uint64_t block = 10'000;
    for (std::uint64_t first = 1; first <= record_count; first += block) {
        const bytes records = eventlog::test::make_records(first, first + block - 1);
        elog::record_run run;
        run.sequence = first - 1;
        run.count = block;
        run.bytes = records;
        writer.write_run(run);
    }
    writer.write_end();
}

void expect_whole(const std::string& path) {
    const eventlog::test::sample_contents found = eventlog::test::read_sample(path);
    EXPECT_EQ(found.numbers.size(), record_count);
    EXPECT_EQ(found.wrong, 0U);
    EXPECT_TRUE(found.has_end);
    EXPECT_TRUE(found.damages.empty());
}

std::pair<unique_fd, unique_fd> make_pipe(int flags = 0) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | flags), 0);
    return {unique_fd(ends[0]), unique_fd(ends[1])};
}

bytes read_all(int descriptor) {
    bytes all;
    std::array<std::uint8_t, 4096> part{};
    while (true) {
        const ssize_t size = ::read(descriptor, part.data(), part.size());
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0) {
            return all;
        }
        all.insert(all.end(), part.begin(), part.begin() + size);
    }
}

void write_to_pipe(int flags, const elog::abort_check& should_abort) {
    auto [reading, writing] = make_pipe(flags);
    const int from = reading.get();
    ASSERT_EQ(::fcntl(from, F_SETFL, 0), 0);  // the reader waits
    std::future<bytes> received = std::async(std::launch::async, [from] { return read_all(from); });
    {
        elog::file_options options = options_for(writing.get());
        options.should_abort = should_abort;
        elog::file_writer writer(std::move(options));
        write_recording(writer);
    }
    writing = unique_fd();
    eventlog::test::replace(path_of("received.elog"), received.get());
    expect_whole(path_of("received.elog"));
}

TEST(file_descriptor, pipe_receives_whole_recording) {
    write_to_pipe(0, {});
}

TEST(file_descriptor, pipe_with_abort_check_receives_whole_recording) {
    write_to_pipe(0, [] { return false; });
}

TEST(file_descriptor, nonblocking_pipe_receives_whole_recording) {
    write_to_pipe(O_NONBLOCK, {});
}

TEST(file_descriptor, closed_pipe_ends_recording) {
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    auto [reading, writing] = make_pipe();
    elog::file_writer writer(options_for(writing.get()));
    reading = unique_fd();
    EXPECT_THROW(writer.write_clock({1, 1, 1}), elog::output_closed);
}

TEST(file_descriptor, unread_pipe_ends_recording_after_abort) {
    const auto [reading, writing] = make_pipe();
    elog::file_options options = options_for(writing.get());
    options.should_abort = [] { return true; };
    elog::file_writer writer(std::move(options));
    EXPECT_THROW(write_recording(writer), elog::user_error);
}

TEST(file_descriptor, open_file_is_locked_while_it_is_written) {
    const std::string path = path_of("open.elog");
    const unique_fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    ASSERT_TRUE(file);
    {
        elog::file_writer writer(options_for(file.get()));
        EXPECT_THROW(elog::file_writer(path, EVENTLOG_CLOCK_MONOTONIC, 1), elog::user_error);
        write_recording(writer);
    }
    expect_whole(path);
    // The caller's descriptor is still open, but does not hold the lock.
    const elog::file_writer next(path, EVENTLOG_CLOCK_MONOTONIC, 1);
    EXPECT_GT(next.size(), 0U);
}

TEST(file_descriptor, recording_does_not_follow_other_data) {
    const std::string path = path_of("text.elog");
    eventlog::test::replace(path, {'t', 'e', 'x', 't'});
    const unique_fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    ASSERT_TRUE(file);
    EXPECT_THROW(elog::file_writer(options_for(file.get())), elog::user_error);
    EXPECT_EQ(eventlog::test::contents(path).size(), 4U);
}

TEST(file_descriptor, existing_file_is_kept_if_it_must_be_new) {
    const std::string path = path_of("existing.elog");
    eventlog::test::replace(path, {'t', 'e', 'x', 't'});
    elog::file_options options;
    options.path = path;
    options.existing = elog::existing_file::reject;
    try {
        const elog::file_writer writer(options);
        FAIL() << "it was replaced";
    } catch (const elog::user_error& error) {
        EXPECT_NE(std::string(error.what()).find("--force"), std::string::npos);
    }
    EXPECT_EQ(eventlog::test::contents(path).size(), 4U);
    options.path = path_of("new.elog");
    elog::file_writer writer(options);
    write_recording(writer);
    expect_whole(options.path);
}

}  // namespace
