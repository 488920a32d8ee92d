// SPDX-License-Identifier: MIT
//
// A file gets its name only when it is complete.
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "syscall_override.hpp"

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

TEST_F(atomic_file_writing, does_not_use_what_has_the_temporary_name) {
    const std::string usual = elog::temporary_name(path("new"));
    const std::vector<std::function<void()>> planted = {
        [&] { write(usual, "before"); },
        [&] { fs::create_symlink(path("precious"), usual); },
        [&] { fs::create_symlink(path("missing"), usual); },
        [&] { fs::create_hard_link(path("precious"), usual); },
        [&] { fs::create_directory(usual); },
        [&] { ASSERT_EQ(::mkfifo(usual.c_str(), 0600), 0); },
    };
    for (const std::function<void()>& plant : planted) {
        write(path("precious"), "before");
        plant();
        const fs::file_status before = fs::symlink_status(usual);
        elog::atomic_file made(path("new"));
        EXPECT_NE(made.temporary_path(), usual);
        write(made.temporary_path(), "after");
        made.finish();
        EXPECT_EQ(read(path("new")), "after");
        EXPECT_EQ(read(path("precious")), "before");
        EXPECT_EQ(fs::symlink_status(usual).type(), before.type());
        EXPECT_FALSE(fs::exists(path("missing")));
        fs::remove_all(usual);
    }
}

TEST_F(atomic_file_writing, has_names_of_any_length) {
    const std::string umlaut = "\xc3\xa4";
    std::string characters;
    while (characters.size() + umlaut.size() < NAME_MAX) {
        characters += umlaut;
    }
    for (const std::string& name :
         {std::string(NAME_MAX - 1, 'x') + "a", std::string(NAME_MAX - 1, 'x') + "b",
          std::string(NAME_MAX - 11, 'y'), std::string(NAME_MAX - 10, 'z'), characters}) {
        const std::string usual = elog::temporary_name(path(name.c_str()));
        write(usual, "left");
        elog::atomic_file made(path(name.c_str()));
        EXPECT_NE(made.temporary_path(), usual);
        write(made.temporary_path(), name);
        made.finish();
        EXPECT_EQ(read(path(name.c_str())), name);
        EXPECT_EQ(usual.size() == path(name.c_str()).size() + 11, name.front() == 'y') << name;
        const std::string shown = fs::path(usual).filename();
        EXPECT_TRUE(shown.ends_with(".unfinished"));
        EXPECT_TRUE(name.front() != umlaut.front() || shown.find("\xc3~") == std::string::npos);
        EXPECT_EQ(read(usual), "left");  // another file has another name
    }
}

TEST_F(atomic_file_writing, is_unknown_to_processes_that_opened_the_temporary_name) {
    write(elog::temporary_name(path("new")), "");
    std::ifstream opened_before(elog::temporary_name(path("new")));
    elog::atomic_file made(path("new"));
    write(made.temporary_path(), "after");
    made.finish();
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(opened_before), {}), "");
    EXPECT_EQ(read(path("new")), "after");
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

TEST_F(atomic_file_writing, is_rejected_while_another_command_writes) {
    elog::atomic_file first(path("name"));
    write(first.temporary_path(), "first");
    {
        const eventlog::core::unique_fd writer(
            ::open(first.temporary_path().c_str(), O_WRONLY | O_CLOEXEC));
        ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
        EXPECT_NE(rejection(path("name")).find("is being written by another"), std::string::npos);
    }
    first.finish();
    EXPECT_EQ(read(path("name")), "first");
}

TEST_F(atomic_file_writing, is_not_rejected_because_of_a_lock_on_a_file_with_several_names) {
    write(path("precious"), "before");
    fs::create_hard_link(path("precious"), elog::temporary_name(path("name")));
    const eventlog::core::unique_fd other(::open(path("precious").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(rejection(path("name")), "");
}

TEST_F(atomic_file_writing, is_complete_if_another_command_begins_at_the_same_time) {
    elog::atomic_file first(path("name"));
    elog::atomic_file second(path("name"));
    write(first.temporary_path(), "first");
    write(second.temporary_path(), "second");
    second.finish();
    EXPECT_EQ(read(path("name")), "second");
    first.finish();
    EXPECT_EQ(read(path("name")), "first");
}

TEST_F(atomic_file_writing, uses_a_reserved_temporary_file) {
    const std::string usual = elog::temporary_name(path("name"));
    const eventlog::core::unique_fd reserved(
        ::open(usual.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    elog::atomic_file made(path("name"), elog::atomic_file::if_exists::replace, elog::private_mode,
                           reserved.get());
    EXPECT_EQ(made.temporary_path(), usual);
    fs::remove(usual);
    write(usual, "of another process");
    elog::atomic_file other(path("name"), elog::atomic_file::if_exists::replace, elog::private_mode,
                            reserved.get());
    EXPECT_NE(other.temporary_path(), usual);
}

TEST_F(atomic_file_writing, removes_temporary_file_of_killed_command) {
    const std::string usual = elog::temporary_name(path("name"));
    for (const bool is_old : {false, true}) {
        write(usual, "left");
        if (is_old) {
            fs::last_write_time(usual, fs::file_time_type::clock::now() - std::chrono::minutes(2));
        }
        elog::atomic_file made(path("name"));
        write(made.temporary_path(), "new");
        EXPECT_TRUE(fs::exists(usual));
        made.finish();
        EXPECT_EQ(read(path("name")), "new");
        EXPECT_EQ(fs::exists(usual), !is_old);
    }
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

/// A child that may have its system calls changed.
void check_in_child(const std::function<void()>& check) {
    EXPECT_EQ(eventlog::test::run_in_child([&] {
                  check();
                  return ::testing::Test::HasFailure() ? 1 : 0;
              }),
              0);
}

TEST_F(atomic_file_writing, keeps_existing_file_if_content_does_not_reach_the_disk) {
    write(path("kept"), "before");
    check_in_child([this] {
        ASSERT_TRUE(eventlog::test::override_syscall(SYS_fsync, EIO));
        elog::atomic_file made(path("kept"));
        write(made.temporary_path(), "after");
        EXPECT_THROW(made.finish(), elog::user_error);
    });
    EXPECT_EQ(read(path("kept")), "before");
    EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path("kept")).parent_path()),
                            fs::directory_iterator()),
              1);
}

TEST_F(atomic_file_writing, is_complete_where_files_cannot_be_synced) {
    check_in_child([this] {
        ASSERT_TRUE(eventlog::test::override_syscall(SYS_fsync, EINVAL));
        elog::atomic_file made(path("new"));
        write(made.temporary_path(), "after");
        EXPECT_NO_THROW(made.finish());
    });
    EXPECT_EQ(read(path("new")), "after");
}

TEST_F(atomic_file_writing, syncs_the_content_before_the_name_and_the_name_after_it) {
    write(path("kept"), "before");
    check_in_child([this] {
        std::mutex mutex;
        std::vector<std::string> contents;  // of the file with the name, at each sync
        ASSERT_TRUE(eventlog::test::watch_syscall(SYS_fsync, [&] {
            const std::lock_guard lock(mutex);
            contents.push_back(read(path("kept")));
        }));
        elog::atomic_file made(path("kept"));
        write(made.temporary_path(), "after");
        made.finish();
        const std::lock_guard lock(mutex);
        EXPECT_EQ(contents, (std::vector<std::string>{"before", "after"}));
    });
}

}  // namespace
