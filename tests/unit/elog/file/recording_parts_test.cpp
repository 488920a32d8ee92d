// SPDX-License-Identifier: MIT
#include "file/recording_parts.hpp"

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/failure.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
namespace fs = std::filesystem;

/// An empty folder, with a name of its own.
std::string make_folder(const std::string& name) {
    std::string folder = test::scratch_directory() + "/" + name;
    fs::remove_all(folder);
    fs::create_directory(folder);
    return folder;
}

std::ptrdiff_t open_files() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST(recording_parts, are_numbered_before_the_extension) {
    const std::string folder = make_folder("numbered");
    elog::recording_parts parts(folder + "/run.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-000001.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-000002.elog");
    elog::recording_parts plain(folder + "/run");
    EXPECT_EQ(plain.next_path(), folder + "/run-000001");
    EXPECT_EQ(elog::pattern_of_parts("a/run.elog"), "a/run-*.elog");
    EXPECT_EQ(elog::pattern_of_parts("run.log"), "run.log-*");
}

TEST(recording_parts, go_on_behind_those_of_earlier_recordings) {
    const std::string folder = make_folder("earlier");
    test::write_sample(folder + "/run-000007.elog");
    test::write_sample(folder + "/run-1000000.elog");
    test::write_sample(folder + "/run-000009.elog");
    elog::recording_parts parts(folder + "/run.elog");
    EXPECT_EQ(parts.count(), 3U);
    EXPECT_EQ(parts.total(), 3 * fs::file_size(folder + "/run-000007.elog"));
    EXPECT_EQ(parts.next_path(), folder + "/run-1000001.elog");
    parts.remove_oldest();
    EXPECT_FALSE(fs::exists(folder + "/run-000007.elog"));
    EXPECT_EQ(parts.count(), 2U);
}

TEST(recording_parts, behind_one_come_in_the_order_of_their_numbers) {
    const std::string folder = make_folder("behind");
    for (const char* name : {"run-000009.elog", "run-1000000.elog", "run-000007.elog", "run-000008",
                             "other-000010.elog", "run-x.elog"}) {
        test::write_sample(folder + "/" + name);
    }
    const std::vector<std::string> behind{folder + "/run-000009.elog",
                                          folder + "/run-1000000.elog"};
    EXPECT_EQ(elog::parts_behind(folder + "/run-000007.elog"), behind);
    EXPECT_TRUE(elog::parts_behind(folder + "/run-1000000.elog").empty());
    EXPECT_TRUE(elog::parts_behind(folder + "/run-x.elog").empty());
    EXPECT_TRUE(elog::parts_behind(folder + "/run.elog").empty());
}

TEST(recording_parts, are_never_something_else_that_is_called_alike) {
    const std::string folder = make_folder("alike");
    std::ofstream(folder + "/run-000001.elog") << "a letter to my mother";
    test::write_sample(folder + "/run-1.elog");
    test::write_sample(folder + "/run-00000x.elog");
    test::write_sample(folder + "/other-000001.elog");
    test::write_sample(folder + "/run-000002");
    fs::create_directory(folder + "/run-000003.elog");
    fs::create_symlink(folder + "/other-000001.elog", folder + "/run-000004.elog");
    elog::recording_parts parts(folder + "/run.elog");
    EXPECT_EQ(parts.count(), 0U);
    EXPECT_EQ(parts.next_path(), folder + "/run-000005.elog");
}

TEST(recording_parts, end_with_the_last_number_there_is) {
    const std::string folder = make_folder("last");
    std::ofstream(folder + "/run-999999999999999998.elog") << "mine";
    elog::recording_parts parts(folder + "/run.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-999999999999999999.elog");
    EXPECT_THROW(static_cast<void>(parts.next_path()), elog::failure);
    EXPECT_THROW(static_cast<void>(parts.next_path()), elog::failure);
}

TEST(recording_parts, that_are_gone_already_are_no_error) {
    const std::string folder = make_folder("gone");
    test::write_sample(folder + "/run-000001.elog");
    elog::recording_parts parts(folder + "/run.elog");
    fs::remove(folder + "/run-000001.elog");
    parts.remove_oldest();
    EXPECT_EQ(parts.total(), 0U);
}

TEST(recording_parts, leave_nothing_open_that_has_been_removed) {
    const std::string folder = make_folder("removed");
    const std::ptrdiff_t before = open_files();
    {
        for (int number = 1; number <= 20; ++number) {
            test::write_sample(folder + "/run-0000" + std::to_string(10 + number) + ".elog");
        }
        elog::recording_parts parts(folder + "/run.elog");
        while (parts.count() > 0) {
            parts.remove_oldest();
            // The one that is removed, and the one before it.
            EXPECT_LE(open_files(), before + 2);
        }
    }
    EXPECT_EQ(open_files(), before);
    EXPECT_TRUE(fs::is_empty(folder));
}

TEST(recording_parts, are_removed_and_leave_the_signals_as_they_were) {
    const std::string folder = make_folder("signals");
    test::write_sample(folder + "/run-000001.elog");
    elog::recording_parts parts(folder + "/run.elog");
    sigset_t before{};
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    parts.remove_oldest();
    sigset_t after{};
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
    EXPECT_EQ(::sigismember(&after, SIGINT), ::sigismember(&before, SIGINT));
}

TEST(recording_parts, in_a_folder_that_is_not_there_are_refused_in_words) {
    EXPECT_THROW(elog::recording_parts(test::scratch_directory() + "/no/such/run.elog"),
                 elog::failure);
}

}  // namespace
