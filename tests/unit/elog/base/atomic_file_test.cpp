// SPDX-License-Identifier: MIT
//
// Files that have their name when they are whole.
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "scratch.hpp"

namespace {

namespace fs = std::filesystem;

class new_files : public ::testing::Test {
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
    static std::string refusal(const std::string& path) {
        try {
            const elog::atomic_file made(path);
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

  private:
    std::string folder_ = eventlog::test::scratch_directory() + "/new_files";
};

TEST_F(new_files, leave_what_was_there_until_they_are_whole) {
    write(path("kept"), "before");
    elog::atomic_file made(path("kept"));
    write(made.temporary_path(), "after");
    EXPECT_EQ(read(path("kept")), "before");
    made.finish();
    EXPECT_EQ(read(path("kept")), "after");
    EXPECT_FALSE(fs::exists(made.temporary_path()));
}

TEST_F(new_files, that_are_given_up_leave_nothing) {
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

TEST_F(new_files, do_not_take_the_place_of_one_that_a_recorder_has_begun_meanwhile) {
    elog::atomic_file made(path("kept"));
    write(made.temporary_path(), "after");
    write(path("kept"), "being written");
    const eventlog::core::unique_fd recorder(::open(path("kept").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(recorder.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_THROW(made.finish(), elog::user_error);
    EXPECT_EQ(read(path("kept")), "being written");
}

TEST_F(new_files, take_the_place_of_what_a_link_leads_to) {
    write(path("kept"), "before");
    fs::create_symlink("kept", path("link"));
    elog::atomic_file made(path("link"));
    write(made.temporary_path(), "after");
    made.finish();
    EXPECT_TRUE(fs::is_symlink(path("link")));
    EXPECT_EQ(read(path("kept")), "after");
}

TEST_F(new_files, take_the_place_of_files_only) {
    fs::create_directory(path("folder"));
    EXPECT_NE(refusal(path("folder")).find("is not a file"), std::string::npos);
    EXPECT_NE(refusal("/dev/null").find("is not a file"), std::string::npos);
}

TEST_F(new_files, do_not_take_the_place_of_one_that_is_being_written) {
    write(path("written"), "");
    const eventlog::core::unique_fd file(::open(path("written").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(file.get(), LOCK_EX), 0);
    EXPECT_NE(refusal(path("written")).find("is being written by another recording"),
              std::string::npos);
}

TEST_F(new_files, that_cannot_have_their_name_are_removed) {
    std::string unfinished;
    {
        elog::atomic_file made(path("name"));
        unfinished = made.temporary_path();
        write(unfinished, "whole");
        // Somebody was quicker.
        fs::create_directories(path("name") + "/in_the_way");
        EXPECT_THROW(made.finish(), elog::user_error);
    }
    EXPECT_FALSE(fs::exists(unfinished));
}

}  // namespace
