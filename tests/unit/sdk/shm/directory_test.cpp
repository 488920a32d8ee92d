// SPDX-License-Identifier: MIT
//
// The permissions of the directory.
#include "shm/directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "scratch.hpp"
#include "shm/user_directory.hpp"

namespace {

using namespace eventlog::core;

/// Sets EVENTLOG_DIR while it lives.
class other_directory {
  public:
    explicit other_directory(const std::string& path) {
        EXPECT_EQ(::setenv("EVENTLOG_DIR", path.c_str(), 1), 0);
    }
    ~other_directory() {
        static_cast<void>(
            ::setenv("EVENTLOG_DIR", eventlog::test::eventlog_directory().c_str(), 1));
    }
    other_directory(const other_directory&) = delete;
    other_directory& operator=(const other_directory&) = delete;
};

std::string fresh_path(const char* name) {
    return eventlog::test::scratch_directory() + "/" + name;
}

bool complains_about(const std::string& path, if_missing policy, std::string_view what) {
    const other_directory use(path);
    directory where;
    error_text error;
    const directory_path named = current_directory();
    const bool opened = where.open(named, policy, error);
    EXPECT_NE(std::string_view(error.text().c_str()).find(what), std::string_view::npos)
        << error.text().c_str();
    return !opened;
}

TEST(user_directory, has_the_number_outside_of_a_user_namespace) {
    constexpr const char* first = "         0          0 4294967295\n";
    EXPECT_EQ(outer_user_in(first, 0), 0U);
    EXPECT_EQ(outer_user_in(first, 1000), 1000U);
    constexpr const char* mapped = "         0       1000          1\n"
                                   "         1     100000      65536\n";
    EXPECT_EQ(outer_user_in(mapped, 0), 1000U);
    EXPECT_EQ(outer_user_in(mapped, 1), 100000U);
    EXPECT_EQ(outer_user_in(mapped, 65536), 165535U);
    EXPECT_EQ(outer_user_in(mapped, 65537), 65537U);
    EXPECT_EQ(outer_user_in("", 7), 7U);
    EXPECT_EQ(outer_user_in("0 1000", 0), 0U);
    EXPECT_EQ(std::string_view(user_directory_of(UINT32_MAX).data()),
              "/dev/shm/eventlog-4294967295");
}

TEST(user_directory, is_not_moved_unless_it_is_the_one_of_root) {
    EXPECT_FALSE(move_foreign_directory(fresh_path("other").c_str()));
}

TEST(directory, is_created_with_owner_only_permissions) {
    const std::string path = fresh_path("new");
    const other_directory use(path);
    directory where;
    error_text error;
    const directory_path named = current_directory();
    ASSERT_TRUE(where.open(named, if_missing::create, error)) << error.text().c_str();
    for (const char* folder : {"", "/processes", "/subscriptions"}) {
        struct stat status {};
        ASSERT_EQ(::stat((path + folder).c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777U, 0700U);
    }
}

TEST(directory, is_not_created_by_readers) {
    const std::string path = fresh_path("missing");
    EXPECT_TRUE(complains_about(path, if_missing::fail, "There is no directory"));
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(directory, accessible_to_other_users_is_rejected_with_remedy) {
    const std::string path = fresh_path("open");
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0750), 0);
    EXPECT_TRUE(complains_about(path, if_missing::create, "chmod 700"));
}

bool is_not_advised_to_be_closed(const std::string& path) {
    const other_directory use(path);
    directory where;
    error_text error;
    const directory_path named = current_directory();
    const bool opened = where.create(named, error);
    const std::string message = error.text().c_str();
    EXPECT_NE(message.find("Set EVENTLOG_DIR to a directory of your own"), std::string::npos);
    EXPECT_EQ(message.find("chmod"), std::string::npos) << message;
    EXPECT_EQ(message.find("remove"), std::string::npos) << message;
    return !opened;
}

TEST(directory, of_other_use_is_not_advised_to_be_closed) {
    EXPECT_TRUE(is_not_advised_to_be_closed("/dev/shm"));
    EXPECT_TRUE(is_not_advised_to_be_closed("/tmp"));
    EXPECT_TRUE(is_not_advised_to_be_closed("/proc"));
    const std::string path = fresh_path("home");
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((path + "/documents").c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    EXPECT_TRUE(is_not_advised_to_be_closed(path));
}

TEST(directory, with_processes_is_rejected_with_remedy) {
    const std::string path = fresh_path("opened");
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((path + "/processes").c_str(), 0700), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
    EXPECT_TRUE(complains_about(path, if_missing::create, "chmod 700"));
}

TEST(directory, owned_by_another_user_is_rejected) {
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can make a directory that belongs to another user";
    }
    const std::string path = fresh_path("foreign");
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
    EXPECT_TRUE(complains_about(path, if_missing::create, "belongs to user 12345"));
}

TEST(directory, behind_symbolic_link_is_rejected) {
    const std::string path = fresh_path("link");
    ASSERT_EQ(::symlink(eventlog::test::scratch_directory().c_str(), path.c_str()), 0);
    EXPECT_TRUE(complains_about(path, if_missing::create, "cannot be opened"));
}

TEST(directory, with_too_long_name_is_rejected) {
    EXPECT_TRUE(complains_about("/" + std::string(600, 'x'), if_missing::create, "longer than"));
}

TEST(directory, with_relative_name_is_rejected) {
    EXPECT_TRUE(complains_about("relative", if_missing::create, "EVENTLOG_DIR is relative, which"));
    EXPECT_TRUE(complains_about("./there", if_missing::fail, "begins with /"));
    EXPECT_FALSE(std::filesystem::exists("relative"));
}

TEST(directory, listing_skips_dot_entries) {
    const std::string path = fresh_path("listed");
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
    ASSERT_EQ(::mkdir((path + "/one").c_str(), 0700), 0);
    const unique_fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY));
    folder_listing names(folder);
    EXPECT_STREQ(names.next(), "one");
    EXPECT_EQ(names.next(), nullptr);
}

}  // namespace
