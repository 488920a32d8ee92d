// SPDX-License-Identifier: MIT
//
// Inputs that cannot be read at any position: pipes are copied, files are read where they are.
#include "import/seekable_input.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_format.hpp"
#include "file/file_reader.hpp"
#include "file/read_observer.hpp"
#include "file/recording_follower.hpp"
#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
#include "schema/schema_text.hpp"
#include "scoped_environment.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using eventlog::core::unique_fd;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/" + name;
}

/// Delivers bytes through an anonymous pipe, as a shell does with `command | elog`.
class piped {
  public:
    explicit piped(test::bytes content) {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
        read_end_ = unique_fd(ends[0]);
        writer_ = std::thread([end = ends[1], bytes = std::move(content)] {
            const unique_fd file(end);
            std::size_t done = 0;
            while (done < bytes.size()) {
                const ssize_t size = ::write(file.get(), bytes.data() + done, bytes.size() - done);
                if (size <= 0) {
                    return;
                }
                done += static_cast<std::size_t>(size);
            }
        });
    }
    ~piped() {
        read_end_ = unique_fd();
        writer_.join();
        std::signal(SIGPIPE, before_);
    }
    piped(const piped&) = delete;
    piped& operator=(const piped&) = delete;

    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(read_end_.get());
    }

  private:
    // The reader may reject the content and close the pipe.
    void (*before_)(int) = std::signal(SIGPIPE, SIG_IGN);
    unique_fd read_end_;
    std::thread writer_;
};

/// A pipe that a test fills step by step.
class open_pipe {
  public:
    open_pipe() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
        read_end_ = unique_fd(ends[0]);
        write_end_ = unique_fd(ends[1]);
    }
    void write(std::span<const std::uint8_t> part) {
        EXPECT_EQ(::write(write_end_.get(), part.data(), part.size()),
                  static_cast<ssize_t>(part.size()));
    }
    void close() { write_end_ = unique_fd(); }
    /// Bytes that have not been read.
    [[nodiscard]] int waiting() const {
        int size = 0;
        EXPECT_EQ(::ioctl(read_end_.get(), FIONREAD, &size), 0);
        return size;
    }
    [[nodiscard]] std::string path() const {
        return "/proc/self/fd/" + std::to_string(read_end_.get());
    }

  private:
    unique_fd read_end_;
    unique_fd write_end_;
};

/// Bytes of the disk that a file takes.
std::uint64_t allocated_size(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

std::string rejection(const std::string& path) {
    try {
        const elog::seekable_input input(path);
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

TEST(seekable_input, reads_file_where_it_is) {
    test::write_sample(path_of("plain.elog"));
    const elog::seekable_input input(path_of("plain.elog"));
    EXPECT_FALSE(input.is_copy());
    EXPECT_EQ(input.path(), path_of("plain.elog"));
    EXPECT_EQ(input.name(), path_of("plain.elog"));
}

TEST(seekable_input, keeps_path_that_cannot_be_opened) {
    const elog::seekable_input input(path_of("missing.elog"));
    EXPECT_EQ(input.path(), path_of("missing.elog"));
}

TEST(seekable_input, copies_pipe_completely) {
    for (const int compression : {0, 3}) {
        test::sample_options options;
        options.records = 20000;  // more than a pipe holds
        options.compression = compression;
        test::write_sample(path_of("large.elog"), options);
        const test::bytes whole = test::contents(path_of("large.elog"));
        const piped source(whole);
        const elog::seekable_input input(source.path());
        EXPECT_TRUE(input.is_copy());
        EXPECT_EQ(input.name(), source.path());
        EXPECT_EQ(test::contents(input.path()), whole);
        const test::sample_contents found = test::read_sample(input.path());
        EXPECT_EQ(found.numbers.size(), options.records);
        EXPECT_TRUE(found.damages.empty());
    }
}

TEST(seekable_input, copies_named_pipe) {
    test::write_sample(path_of("named.elog"));
    const test::bytes whole = test::contents(path_of("named.elog"));
    const std::string fifo = path_of("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream file(fifo, std::ios::binary);
        file.write(reinterpret_cast<const char*>(whole.data()),
                   static_cast<std::streamsize>(whole.size()));
    });
    const elog::seekable_input input(fifo);
    writer.join();
    EXPECT_EQ(test::contents(input.path()), whole);
}

TEST(seekable_input, accepts_damaged_file_header) {
    test::write_sample(path_of("damaged.elog"));
    test::bytes content = test::contents(path_of("damaged.elog"));
    content[0] ^= 0xffU;
    const piped source(content);
    EXPECT_EQ(test::contents(elog::seekable_input(source.path()).path()), content);
}

TEST(seekable_input, rejects_endless_text_early) {
    const piped source(test::bytes(std::size_t{8} << 20U, 'y'));
    EXPECT_NE(rejection(source.path()).find("is not an .elog file"), std::string::npos);
}

TEST(seekable_input, copies_schema_up_to_its_size_limit) {
    const test::bytes text(1000, 'y');
    const piped small(text);
    EXPECT_EQ(test::contents(elog::seekable_input(small.path(), elog::pipe_copy::schemas).path()),
              text);
    const piped endless(test::bytes(std::size_t{32} << 20U, 'y'));
    const elog::seekable_input input(endless.path(), elog::pipe_copy::schemas);
    EXPECT_GT(test::contents(input.path()).size(), elog::schema_text_size_max);
    EXPECT_LT(test::contents(input.path()).size(), elog::schema_text_size_max * 2);
}

TEST(seekable_input, rejects_empty_pipe) {
    const piped source({});
    EXPECT_NE(rejection(source.path()).find("is not an .elog file"), std::string::npos);
}

TEST(seekable_input, grows_while_pipe_is_written) {
    test::write_sample(path_of("growing.elog"));
    const test::bytes whole = test::contents(path_of("growing.elog"));
    const std::size_t half = whole.size() / 2;
    open_pipe source;
    source.write(std::span(whole).first(half));
    elog::seekable_input input(source.path(), elog::pipe_copy::growing);
    EXPECT_TRUE(input.is_growing());
    const std::size_t before = test::read_sample(input.path()).numbers.size();
    const auto is_growing = [&] { return input.is_growing(); };
    const elog::file_reader part(input.path(), {}, is_growing);
    EXPECT_TRUE(part.is_being_written());
    EXPECT_TRUE(part.damages().empty());
    input.grow(std::chrono::milliseconds(0));  // nothing is there
    EXPECT_TRUE(input.is_growing());
    source.write(std::span(whole).subspan(half));
    source.close();
    while (input.is_growing()) {
        input.grow(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(test::contents(input.path()), whole);
    EXPECT_FALSE(elog::file_reader(input.path(), {}, is_growing).is_being_written());
    EXPECT_LT(before, test::read_sample(input.path()).numbers.size());
}

TEST(seekable_input, is_followed_from_pipe_and_releases_what_was_read) {
    test::sample_options options;
    options.records = 200'000;
    test::write_sample(path_of("followed.elog"), options);
    const test::bytes whole = test::contents(path_of("followed.elog"));
    ASSERT_GT(whole.size(), std::size_t{4} << 20U);
    const piped source(whole);
    elog::seekable_input input(source.path(), elog::pipe_copy::growing);
    std::uint64_t found = 0;
    elog::recording_follower recording(
        input.path(),
        [&] {
            input.release(recording.first_unread());
            input.grow(std::chrono::milliseconds(50));
        },
        [&] { return input.is_growing(); });
    recording.follow([&](const elog::merged_record&, const elog::clock_converter&) { ++found; },
                     [] {}, [] { return false; });
    EXPECT_EQ(found, options.records);
    EXPECT_TRUE(recording.file().damages().empty());
    EXPECT_TRUE(recording.file().end().has_value());
}

/// The folder of the copy may be on a file system without locks.
TEST(seekable_input, is_followed_without_lock_of_its_copy) {
    test::write_sample(path_of("unlocked.elog"));
    const test::bytes whole = test::contents(path_of("unlocked.elog"));
    const std::size_t half = whole.size() / 2;
    open_pipe source;
    source.write(std::span(whole).first(half));
    elog::seekable_input input(source.path(), elog::pipe_copy::growing);
    const std::size_t number_at = input.path().rfind('/') + 1;
    ASSERT_EQ(::flock(std::stoi(input.path().substr(number_at)), LOCK_UN), 0);
    bool has_rest = false;
    elog::recording_follower recording(
        input.path(),
        [&] {
            if (!has_rest) {
                has_rest = true;
                source.write(std::span(whole).subspan(half));
                source.close();
            }
            input.grow(std::chrono::milliseconds(1));
        },
        [&] { return input.is_growing(); });
    recording.follow([](const elog::merged_record&, const elog::clock_converter&) {}, [] {},
                     [] { return false; });
    EXPECT_TRUE(recording.file().end().has_value());
    EXPECT_EQ(recording.file().damages(), std::vector<std::string>{});
}

/// Counts the reads of more than a few bytes.
class large_reads : public elog::read_observer {
  public:
    void note(std::uint64_t bytes) override { count += bytes > 8 ? 1U : 0U; }
    std::uint64_t count = 0;
};

/// Each read of the pipe delivers one byte.
TEST(seekable_input, searches_the_start_of_a_pipe_once) {
    test::write_sample(path_of("slow.elog"));
    const test::bytes whole = test::contents(path_of("slow.elog"));
    open_pipe source;
    std::atomic<bool> is_open = false;
    std::thread writer([&] {
        for (std::size_t at = 0; at < whole.size() && !is_open; ++at) {
            source.write(std::span(whole).subspan(at, 1));
            while (source.waiting() != 0 && !is_open) {
                std::this_thread::yield();
            }
        }
    });
    large_reads reads;
    const elog::seekable_input input(source.path(), elog::pipe_copy::growing);
    is_open = true;
    writer.join();
    EXPECT_TRUE(input.is_growing());
    EXPECT_LT(reads.count, 100U);
}

TEST(seekable_input, frees_released_space) {
    test::write_sample(path_of("released.elog"));
    test::bytes content = test::contents(path_of("released.elog"));
    content.resize(std::size_t{8} << 20U, 1);  // damaged behind its end
    const piped source(content);
    elog::seekable_input input(source.path());
    const std::uint64_t before = allocated_size(input.path());
    input.release((std::size_t{6} << 20U) + 1);
    // Not every file system frees a part of a file.
    const std::uint64_t after = allocated_size(input.path());
    EXPECT_TRUE(after == before || after + (std::size_t{6} << 20U) <= before) << after;
    EXPECT_EQ(test::contents(input.path()).size(), content.size());
}

TEST(seekable_input, names_pipe_in_message_about_version) {
    test::write_sample(path_of("other.elog"));
    test::bytes content = test::contents(path_of("other.elog"));
    // Big-endian numbers: the magic number is reversed.
    for (std::size_t i = 0; i < 4; ++i) {
        std::swap(content[i], content[7 - i]);
    }
    const piped source(content);
    const std::string text = rejection(source.path());
    EXPECT_NE(text.find("The file " + source.path() + " begins like"), std::string::npos) << text;
}

TEST(seekable_input, reports_folder_without_room_for_copy) {
    test::write_sample(path_of("small.elog"));
    const piped source(test::contents(path_of("small.elog")));
    const test::scoped_environment_variable folder("TMPDIR", "/no/such/folder");
    const std::string text = rejection(source.path());
    EXPECT_NE(text.find("To read " + source.path()), std::string::npos) << text;
    EXPECT_NE(text.find("/no/such/folder"), std::string::npos) << text;
}

}  // namespace
