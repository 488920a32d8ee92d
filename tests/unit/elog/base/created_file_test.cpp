// SPDX-License-Identifier: MIT
//
// Files for writing where other users may have prepared the name.
#include "base/created_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "run_in_child.hpp"
#include "scratch.hpp"
#include "syscall_override.hpp"

namespace {

namespace fs = std::filesystem;
using elog::existing_file;
using eventlog::core::unique_fd;

class created_file : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(path("shared"));
        fs::permissions(path("shared"), fs::perms::all | fs::perms::sticky_bit);
    }
    void TearDown() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

    static void write(const std::string& path, const std::string& text) {
        std::ofstream(path) << text;
    }
    static std::string read(const std::string& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static std::ptrdiff_t count_files(const std::string& folder) {
        return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    }
    static mode_t mode_of(const std::string& path) {
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        return status.st_mode & 07777U;
    }
    static std::string rejection(const std::string& path) {
        try {
            static_cast<void>(elog::open_created_file(path, existing_file::replace));
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

  private:
    std::string folder_ = eventlog::test::scratch_directory() + "/created_file";
};

TEST_F(created_file, that_replaces_another_leaves_its_content_to_its_readers) {
    write(path("old"), "before");
    fs::permissions(path("old"), fs::perms::all);
    std::ifstream reader(path("old"));
    const unique_fd file = elog::open_created_file(path("old"), existing_file::replace);
    ASSERT_TRUE(file);
    EXPECT_TRUE(elog::is_open_as(file.get(), path("old")));
    EXPECT_EQ(mode_of(path("old")), 0600U);
    EXPECT_EQ(read(path("old")), "");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "before");
    const unique_fd other(::open(path("old").c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_NE(::flock(other.get(), LOCK_SH | LOCK_NB), 0) << "it is not marked as being written";
}

TEST_F(created_file, does_not_replace_one_that_is_being_written) {
    write(path("old"), "before");
    const unique_fd writer(::open(path("old").c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::flock(writer.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_NE(rejection(path("old")).find("is being written"), std::string::npos);
    EXPECT_TRUE(elog::is_open_as(writer.get(), path("old")));
}

TEST_F(created_file, is_where_a_link_leads) {
    fs::create_directories(path("disk"));
    fs::create_symlink("disk/run", path("second"));
    fs::create_symlink("second", path("first"));
    EXPECT_EQ(elog::follow_links(path("first")), path("disk/run"));
    ASSERT_TRUE(elog::open_created_file(path("first"), existing_file::replace));
    EXPECT_TRUE(fs::is_symlink(path("first")));
    EXPECT_TRUE(fs::is_regular_file(path("disk/run")));
    fs::create_symlink("circle", path("circle"));
    EXPECT_NE(rejection(path("circle")).find("symbolic links"), std::string::npos);
}

TEST_F(created_file, is_not_behind_a_link_in_a_folder_of_several_users) {
    write(path("precious"), "before");
    fs::create_symlink(path("precious"), path("shared/link"));
    fs::create_symlink("shared/link", path("link"));
    EXPECT_NE(rejection(path("shared/link")).find("symbolic link"), std::string::npos);
    EXPECT_NE(rejection(path("link")).find("shared/link is a symbolic link"), std::string::npos);
    EXPECT_EQ(read(path("precious")), "before");
}

TEST_F(created_file, is_not_below_a_link_of_another_user) {
    constexpr uid_t other_user = 65534;
    if (::geteuid() != 0) {
        GTEST_SKIP() << "only root can make a link that belongs to another user";
    }
    fs::create_directories(path("disk/folder"));
    fs::create_symlink(path("disk"), path("shared/out"));
    ASSERT_EQ(::lchown(path("shared/out").c_str(), other_user, other_user), 0);
    fs::create_symlink("shared/out/folder", path("way"));
    fs::create_symlink("shared/out/run", path("link"));
    fs::create_directories(path("shared/own"));
    for (const char* name : {"shared/out/run", "shared/own/../out/run", "shared//out/folder/run",
                             "way/run", "link", "way/../run"}) {
        EXPECT_NE(rejection(path(name)).find("/out is a symbolic link of user 65534"),
                  std::string::npos)
            << name;
    }
    EXPECT_THROW(static_cast<void>(elog::open_created_file(path("way/run"), existing_file::reject)),
                 elog::user_error);
    EXPECT_EQ(count_files(path("disk")) + count_files(path("disk/folder")), 1);
}

TEST_F(created_file, is_below_a_link_of_this_user) {
    fs::create_directories(path("disk/folder"));
    fs::create_symlink(path("disk"), path("shared/out"));
    fs::create_symlink("shared/out/folder", path("way"));
    EXPECT_EQ(rejection(path("shared/out/run")), "");
    EXPECT_EQ(rejection(path("way/run")), "");
    EXPECT_TRUE(elog::open_created_file(path("way/new"), existing_file::reject));
    EXPECT_TRUE(fs::is_regular_file(path("disk/run")));
    EXPECT_TRUE(fs::is_regular_file(path("disk/folder/run")));
    fs::create_symlink("circle/folder", path("circle"));
    EXPECT_NE(rejection(path("circle/run")).find("symbolic links"), std::string::npos);
}

TEST_F(created_file, in_a_folder_of_several_users_has_one_name) {
    write(path("precious"), "before");
    fs::create_hard_link(path("precious"), path("shared/name"));
    fs::create_symlink("shared/name", path("link"));
    EXPECT_NE(rejection(path("shared/name")).find("has 2 names"), std::string::npos);
    EXPECT_NE(rejection(path("link")).find("has 2 names"), std::string::npos);
    EXPECT_EQ(read(path("precious")), "before");
}

/// A child that may have its system calls changed.
void check_in_child(const std::function<void()>& check) {
    EXPECT_EQ(eventlog::test::run_in_child([&] {
                  check();
                  return ::testing::Test::HasFailure() ? 1 : 0;
              }),
              0);
}

TEST_F(created_file, that_replaces_another_can_be_undone) {
    for (const std::string& folder : {path("own"), path("shared")}) {
        fs::create_directories(folder);
        const std::string name = folder + "/old";
        write(name, "before");
        {
            elog::replaced_file replaced;
            const unique_fd file = elog::open_created_file(name, existing_file::replace,
                                                           elog::private_mode, &replaced);
            ASSERT_TRUE(file);
            EXPECT_TRUE(elog::is_open_as(file.get(), name));
            EXPECT_EQ(count_files(folder), 2);
            EXPECT_TRUE(replaced.restore());
            EXPECT_FALSE(replaced.restore());
        }
        EXPECT_EQ(read(name), "before");
        EXPECT_EQ(count_files(folder), 1);
    }
}

TEST_F(created_file, that_replaces_another_is_undone_unless_the_name_of_that_is_removed) {
    fs::create_directories(path("own"));
    for (const bool is_removed : {false, true}) {
        write(path("own/old"), "before");
        {
            elog::replaced_file replaced;
            ASSERT_TRUE(elog::open_created_file(path("own/old"), existing_file::replace,
                                                elog::private_mode, &replaced));
            if (is_removed) {
                EXPECT_TRUE(replaced.remove());
            }
        }
        EXPECT_EQ(read(path("own/old")), is_removed ? "" : "before");
        EXPECT_EQ(count_files(path("own")), 1);
    }
}

TEST_F(created_file, that_replaces_another_leaves_it_open_when_its_name_is_removed) {
    fs::create_directories(path("own"));
    write(path("own/old"), "before");
    elog::replaced_file replaced;
    const unique_fd file = elog::open_created_file(path("own/old"), existing_file::replace,
                                                   elog::private_mode, &replaced);
    const unique_fd old = replaced.remove();
    struct stat status {};
    ASSERT_TRUE(file && old);
    EXPECT_EQ(::fstat(old.get(), &status), 0);
    EXPECT_EQ(status.st_nlink, 0U);
    EXPECT_EQ(status.st_size, 6);
    EXPECT_EQ(count_files(path("own")), 1);
    EXPECT_FALSE(replaced.restore());
    EXPECT_TRUE(elog::is_open_as(file.get(), path("own/old")));
}

TEST_F(created_file, keeps_a_link_where_names_cannot_be_exchanged) {
    check_in_child([this] {
        ASSERT_TRUE(eventlog::test::override_syscall(SYS_renameat2, EINVAL));
        for (const auto& [folder, is_kept] :
             {std::pair(path("own"), true), std::pair(path("shared"), false)}) {
            fs::create_directories(folder);
            const std::string name = folder + "/old";
            write(name, "before");
            {
                elog::replaced_file replaced;
                ASSERT_TRUE(elog::open_created_file(name, existing_file::replace,
                                                    elog::private_mode, &replaced));
                EXPECT_EQ(read(name), "");
                EXPECT_EQ(replaced.restore(), is_kept);
            }
            EXPECT_EQ(read(name), is_kept ? "before" : "");
            EXPECT_EQ(count_files(folder), 1);
        }
    });
}

TEST_F(created_file, has_exactly_the_mode) {
    const mode_t previous = ::umask(0077);
    const unique_fd exact =
        elog::open_created_file(path("exact"), existing_file::reject, {0664, true});
    const unique_fd masked =
        elog::open_created_file(path("masked"), existing_file::reject, elog::text_mode);
    static_cast<void>(::umask(previous));
    ASSERT_TRUE(exact && masked);
    EXPECT_EQ(mode_of(path("exact")), 0664U);
    EXPECT_EQ(mode_of(path("masked")), 0600U);
    EXPECT_FALSE(elog::open_created_file(path("exact"), existing_file::reject));
    EXPECT_EQ(errno, EEXIST);
}

}  // namespace
