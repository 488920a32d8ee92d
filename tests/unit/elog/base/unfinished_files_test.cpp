// SPDX-License-Identifier: MIT
//
// The list of temporary files that a signal handler removes.
#include "base/unfinished_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <climits>
#include <deque>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "platform/unique_fd.hpp"
#include "scratch.hpp"

namespace {

namespace fs = std::filesystem;
using eventlog::core::unique_fd;

class unfinished_files : public ::testing::Test {
  protected:
    void SetUp() override { fs::create_directories(folder_); }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    static unique_fd make(const std::string& path) {
        return unique_fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }

  private:
    std::string folder_ = eventlog::test::scratch_directory() + "/unfinished_files";
};

TEST_F(unfinished_files, are_removed_while_they_are_in_the_list) {
    const unique_fd first = make(path("first"));
    const unique_fd second = make(path("second"));
    const elog::unfinished_file kept_listed(path("first"), first.get());
    { const elog::unfinished_file listed(path("second"), second.get()); }
    elog::remove_unfinished_files();
    EXPECT_FALSE(fs::exists(path("first")));
    EXPECT_TRUE(fs::exists(path("second")));
    const elog::unfinished_file again(path("second"), second.get());
    elog::remove_unfinished_files();
    EXPECT_FALSE(fs::exists(path("second")));
}

TEST_F(unfinished_files, are_not_removed_under_a_name_of_another_file) {
    const unique_fd file = make(path("file"));
    const elog::unfinished_file listed(path("file"), file.get());
    fs::rename(path("file"), path("complete"));
    elog::remove_unfinished_files();
    EXPECT_TRUE(fs::exists(path("complete")));
    const unique_fd other = make(path("file"));
    elog::remove_unfinished_files();
    EXPECT_TRUE(fs::exists(path("file")));
}

TEST_F(unfinished_files, stay_if_the_list_has_no_space_for_them) {
    constexpr int count = 20;
    const unique_fd file = make(path("file"));
    std::deque<elog::unfinished_file> listed;  // of other files
    for (int number = 0; number < count; ++number) {
        listed.emplace_back(path("missing"), file.get());
    }
    const elog::unfinished_file too_many(path("file"), file.get());
    const elog::unfinished_file too_long(std::string(PATH_MAX, 'x'), file.get());
    elog::remove_unfinished_files();
    EXPECT_TRUE(fs::exists(path("file")));
}

}  // namespace
