// SPDX-License-Identifier: MIT
#include "file/rotated_files.hpp"

#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
namespace fs = std::filesystem;

/// An empty folder with a unique name.
std::string make_folder(const std::string& name) {
    std::string folder = test::scratch_directory() + "/" + name;
    fs::remove_all(folder);
    fs::create_directory(folder);
    return folder;
}

std::ptrdiff_t open_files() {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

TEST(rotated_files, are_numbered_before_the_extension) {
    const std::string folder = make_folder("numbered");
    elog::rotated_files parts(folder + "/run.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-000001.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-000002.elog");
    elog::rotated_files plain(folder + "/run");
    EXPECT_EQ(plain.next_path(), folder + "/run-000001");
    EXPECT_EQ(elog::rotation_glob("a/run.elog"), "a/run-*.elog");
    EXPECT_EQ(elog::rotation_glob("run.log"), "run.log-*");
}

TEST(rotated_files, continue_numbering_of_earlier_recordings) {
    const std::string folder = make_folder("earlier");
    test::write_sample(folder + "/run-000007.elog");
    test::write_sample(folder + "/run-1000000.elog");
    test::write_sample(folder + "/run-000009.elog");
    elog::rotated_files parts(folder + "/run.elog");
    EXPECT_EQ(parts.count(), 3U);
    EXPECT_EQ(parts.total(), 3 * fs::file_size(folder + "/run-000007.elog"));
    EXPECT_EQ(parts.next_path(), folder + "/run-1000001.elog");
    parts.remove_oldest();
    EXPECT_FALSE(fs::exists(folder + "/run-000007.elog"));
    EXPECT_EQ(parts.count(), 2U);
}

TEST(rotated_files, are_listed_by_number) {
    const std::string folder = make_folder("behind");
    for (const char* name : {"run-000009.elog", "run-1000000.elog", "run-000007.elog", "run-000008",
                             "other-000010.elog", "run-x.elog"}) {
        test::write_sample(folder + "/" + name);
    }
    const std::vector<std::string> behind{folder + "/run-000009.elog",
                                          folder + "/run-1000000.elog"};
    EXPECT_EQ(elog::later_rotated_files(folder + "/run-000007.elog"), behind);
    EXPECT_TRUE(elog::later_rotated_files(folder + "/run-1000000.elog").empty());
    EXPECT_TRUE(elog::later_rotated_files(folder + "/run-x.elog").empty());
    EXPECT_TRUE(elog::later_rotated_files(folder + "/run.elog").empty());
}

TEST(rotated_files, exclude_similar_file_names) {
    const std::string folder = make_folder("alike");
    std::ofstream(folder + "/run-000001.elog") << "a letter to my mother";
    test::write_sample(folder + "/run-1.elog");
    test::write_sample(folder + "/run-00000x.elog");
    test::write_sample(folder + "/other-000001.elog");
    test::write_sample(folder + "/run-000002");
    fs::create_directory(folder + "/run-000003.elog");
    fs::create_symlink(folder + "/other-000001.elog", folder + "/run-000004.elog");
    elog::rotated_files parts(folder + "/run.elog");
    EXPECT_EQ(parts.count(), 0U);
    EXPECT_EQ(parts.next_path(), folder + "/run-000005.elog");
}

TEST(rotated_files, stop_at_maximum_number) {
    const std::string folder = make_folder("last");
    std::ofstream(folder + "/run-999999999999999998.elog") << "mine";
    elog::rotated_files parts(folder + "/run.elog");
    EXPECT_EQ(parts.next_path(), folder + "/run-999999999999999999.elog");
    EXPECT_THROW(static_cast<void>(parts.next_path()), elog::user_error);
    EXPECT_THROW(static_cast<void>(parts.next_path()), elog::user_error);
}

TEST(rotated_files, already_removed_are_no_error) {
    const std::string folder = make_folder("gone");
    test::write_sample(folder + "/run-000001.elog");
    elog::rotated_files parts(folder + "/run.elog");
    fs::remove(folder + "/run-000001.elog");
    parts.remove_oldest();
    EXPECT_EQ(parts.total(), 0U);
}

TEST(rotated_files, close_removed_files) {
    const std::string folder = make_folder("removed");
    const std::ptrdiff_t before = open_files();
    {
        for (int number = 1; number <= 20; ++number) {
            test::write_sample(folder + "/run-0000" + std::to_string(10 + number) + ".elog");
        }
        elog::rotated_files parts(folder + "/run.elog");
        while (parts.count() > 0) {
            parts.remove_oldest();
            // The removed file and its predecessor.
            EXPECT_LE(open_files(), before + 2);
        }
    }
    EXPECT_EQ(open_files(), before);
    EXPECT_TRUE(fs::is_empty(folder));
}

TEST(rotated_files, removal_preserves_signal_mask) {
    const std::string folder = make_folder("signals");
    test::write_sample(folder + "/run-000001.elog");
    elog::rotated_files parts(folder + "/run.elog");
    sigset_t before{};
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &before), 0);
    parts.remove_oldest();
    sigset_t after{};
    ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &after), 0);
    EXPECT_EQ(::sigismember(&after, SIGINT), ::sigismember(&before, SIGINT));
}

TEST(rotated_files, in_missing_folder_are_rejected) {
    EXPECT_THROW(elog::rotated_files(test::scratch_directory() + "/no/such/run.elog"),
                 elog::user_error);
}

}  // namespace
