// SPDX-License-Identifier: MIT
//
// Inputs that cannot be read at any position: pipes are copied, files are read where they are.
#include "import/seekable_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_format.hpp"
#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
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

TEST(seekable_input, rejects_empty_pipe) {
    const piped source({});
    EXPECT_NE(rejection(source.path()).find("is not an .elog file"), std::string::npos);
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
