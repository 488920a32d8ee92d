// SPDX-License-Identifier: MIT
//
// A file gets its name only when it is complete.
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "scratch.hpp"

namespace {

namespace fs = std::filesystem;

class atomic_file_writing : public ::testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }

    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
    }
    static std::string read(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::string rejection(const std::string& path) {
        try {
            const elog::atomic_file made(path);
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

  private:
    std::string folder_ = eventlog::test::scratch_directory() + "/atomic_file_writing";
};

TEST_F(atomic_file_writing, does_not_write_through_symbolic_link) {
    write(path("precious"), "before");
    fs::create_symlink(path("precious"), elog::temporary_name(path("new")));
    EXPECT_NE(rejection(path("new")).find("symbolic link"), std::string::npos);
    EXPECT_EQ(read(path("precious")), "before");
}

TEST_F(atomic_file_writing, keeps_existing_file_until_complete) {
    write(path("kept"), "before");
    elog::atomic_file made(path("kept"));
    write(made.temporary_path(), "after");
    EXPECT_EQ(read(path("kept")), "before");
    made.finish();
    EXPECT_EQ(read(path("kept")), "after");
    EXPECT_FALSE(fs::exists(made.temporary_path()));
}

TEST_F(atomic_file_writing, abandoned_leaves_nothing) {
    write(path("kept"), "before");
    {
        const elog::atomic_file made(path("kept"));
        write(made.temporary_path(), "half");
    }
    EXPECT_EQ(read(path("kept")), "before");
    EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path("kept")).parent_path()),
                            fs::directory_iterator()),
              1);
}

TEST_F(atomic_file_writing, does_not_replace_recording_started_meanwhile) {
    elog::atomic_file made(path("kept"));
    write(made.temporary_path(), "after");
    write(path("kept"), "being written");
    const eventlog::core::unique_fd recorder(::open(path("kept").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(recorder.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_THROW(made.finish(), elog::user_error);
    EXPECT_EQ(read(path("kept")), "being written");
}

TEST_F(atomic_file_writing, replaces_target_of_symbolic_link) {
    write(path("kept"), "before");
    fs::create_symlink("kept", path("link"));
    elog::atomic_file made(path("link"));
    write(made.temporary_path(), "after");
    made.finish();
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(read(path("kept")), "after");
}

TEST_F(atomic_file_writing, replaces_only_regular_files) {
    fs::create_directory(path("folder"));
    EXPECT_NE(rejection(path("folder")).find("is not a file"), std::string::npos);
    EXPECT_NE(rejection("/dev/null").find("is not a file"), std::string::npos);
}

TEST_F(atomic_file_writing, does_not_replace_file_being_written) {
    write(path("written"), "");
    const eventlog::core::unique_fd file(::open(path("written").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), LOCK_EX), 0);
    EXPECT_NE(rejection(path("written")).find("is being written by another recording"),
              std::string::npos);
}

TEST_F(atomic_file_writing, does_not_remove_temporary_file_with_another_writer) {
    elog::atomic_file first(path("name"));
    auto second = std::make_unique<elog::atomic_file>(path("name"));
    {
        const eventlog::core::unique_fd writer(
            ::open(first.temporary_path().c_str(), O_WRONLY | O_CLOEXEC));
        ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
        write(first.temporary_path(), "first");
        EXPECT_THROW(second->finish(), elog::user_error);
        second.reset();
    }
    first.finish();
    EXPECT_EQ(read(path("name")), "first");
}

TEST_F(atomic_file_writing, does_not_remove_temporary_file_of_another_process) {
    auto first = std::make_unique<elog::atomic_file>(path("name"));
    elog::atomic_file second(path("name"));
    write(second.temporary_path(), "second");
    second.finish();
    elog::atomic_file third(path("name"));
    write(third.temporary_path(), "third");
    EXPECT_THROW(first->finish(), elog::user_error);
    first.reset();
    third.finish();
    EXPECT_EQ(read(path("name")), "third");
}

TEST_F(atomic_file_writing, takes_over_temporary_file_of_killed_command) {
    write(elog::temporary_name(path("name")), "longer than the new content");
    elog::atomic_file made(path("name"));
    write(made.temporary_path(), "new");
    made.finish();
    EXPECT_EQ(read(path("name")), "new");
}

TEST_F(atomic_file_writing, rejects_missing_folder) {
    EXPECT_NE(rejection(path("missing/name")).find("cannot be made"), std::string::npos);
}

TEST_F(atomic_file_writing, is_removed_if_rename_fails) {
    std::string unfinished;
    {
        elog::atomic_file made(path("name"));
        unfinished = made.temporary_path();
        write(unfinished, "whole");
        // Another process has taken the name.
        fs::create_directories(path("name") + "/in_the_way");
        EXPECT_THROW(made.finish(), elog::user_error);
    }
    EXPECT_FALSE(fs::exists(unfinished));
}

}  // namespace
