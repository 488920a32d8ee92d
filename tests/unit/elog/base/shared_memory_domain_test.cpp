// SPDX-License-Identifier: MIT
#include "base/shared_memory_domain.hpp"

#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

namespace {

using elog::mounted_at;

// A line of mountinfo: number, parent, device, folder, mount point, and fields that elog ignores.
std::string mount(const std::string& device, const std::string& folder, const std::string& point) {
    return "36 35 " + device + " " + folder + " " + point +
           " rw,nosuid shared:1 - tmpfs tmpfs rw\n";
}

TEST(shared_memory_domain, is_mount_at_path) {
    EXPECT_EQ(mounted_at(mount("8:1", "/", "/") + mount("0:24", "/", "/dev/shm"), "/dev/shm"),
              "0:24:");
}

TEST(shared_memory_domain, is_folder_of_parent_mount) {
    EXPECT_EQ(mounted_at(mount("8:1", "/", "/"), "/dev/shm"), "8:1:/dev/shm");
    EXPECT_EQ(mounted_at(mount("0:5", "/", "/dev") + mount("8:1", "/", "/"), "/dev/shm"),
              "0:5:/shm");
}

TEST(shared_memory_domain, is_bind_mounted_folder) {
    EXPECT_EQ(mounted_at(mount("8:1", "/pods/7", "/dev/shm"), "/dev/shm"), "8:1:/pods/7");
}

TEST(shared_memory_domain, is_topmost_mount) {
    EXPECT_EQ(
        mounted_at(mount("0:24", "/", "/dev/shm") + mount("0:25", "/", "/dev/shm"), "/dev/shm"),
        "0:25:");
}

TEST(shared_memory_domain, ignores_similar_names) {
    EXPECT_EQ(
        mounted_at(mount("0:24", "/", "/dev/shmem") + mount("0:25", "/", "/dev/s"), "/dev/shm"),
        "");
}

TEST(shared_memory_domain, unescapes_names) {
    EXPECT_EQ(mounted_at(mount("0:24", "/a\\040b\\134c", "/dev\\040shm"), "/dev shm"),
              "0:24:/a b\\c");
}

TEST(shared_memory_domain, is_not_found_in_invalid_mountinfo) {
    for (const char* text : {"", "\n\n", "36", "36 35 8:1 /\n", "36 35 8:1 / \n", "a b c d e"}) {
        EXPECT_EQ(mounted_at(text, "/dev/shm"), "") << text;
    }
}

TEST(shared_memory_domain, of_this_process_belongs_to_its_user) {
    const auto own = elog::shared_memory_domains().of(::getpid());
    ASSERT_TRUE(own);
    EXPECT_EQ(own->user, ::geteuid());
    EXPECT_FALSE(own->memory.empty());
    EXPECT_EQ(elog::name_of_process(::getpid()), "unit_tests");
}

TEST(shared_memory_domain, is_empty_without_process) {
    EXPECT_FALSE(elog::shared_memory_domains().of(0));
    EXPECT_EQ(elog::name_of_process(0), "?");
}

}  // namespace
