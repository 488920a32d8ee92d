// SPDX-License-Identifier: MIT
//
// Whether a process maps a given file.
#include "shm/mapped_files.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "platform/unique_fd.hpp"
#include "scratch.hpp"

namespace {

using namespace eventlog::core;

class sample_file {
  public:
    sample_file() : file_(::mkstemp(path_.data())) {
        EXPECT_EQ(::ftruncate(file_.get(), 4096), 0);
        EXPECT_EQ(::fstat(file_.get(), &status_), 0);
    }
    ~sample_file() {
        unmap();
        ::unlink(path_.c_str());
    }
    sample_file(const sample_file&) = delete;
    sample_file& operator=(const sample_file&) = delete;

    void map() {
        address_ = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file_.get(), 0);
        ASSERT_NE(address_, MAP_FAILED);
    }
    void unmap() {
        if (address_ != nullptr) {
            ::munmap(address_, 4096);
            address_ = nullptr;
        }
    }
    [[nodiscard]] bool is_held(pid_t process = ::getpid()) const {
        return may_map(static_cast<std::uint32_t>(process), status_.st_dev, status_.st_ino);
    }

  private:
    std::string path_ = eventlog::test::scratch_directory() + "/mapped-XXXXXX";
    unique_fd file_;
    struct stat status_ {};
    void* address_ = nullptr;
};

TEST(mapped_files, contain_exactly_the_mapped_files) {
    sample_file one;
    sample_file other;
    one.map();
    EXPECT_TRUE(one.is_held());
    EXPECT_FALSE(other.is_held());
}

TEST(mapped_files, contain_files_mapped_after_first_scan) {
    sample_file one;
    sample_file other;
    one.map();
    ASSERT_TRUE(one.is_held());
    other.map();
    EXPECT_TRUE(other.is_held());
}

TEST(mapped_files, exclude_files_unmapped_before_first_scan) {
    sample_file one;
    one.map();
    one.unmap();
    EXPECT_FALSE(one.is_held());
}

TEST(mapped_files, are_separate_per_process) {
    sample_file one;
    one.map();
    ASSERT_TRUE(one.is_held());
    EXPECT_FALSE(one.is_held(INT32_MAX));  // no such process
    EXPECT_TRUE(one.is_held());
}

TEST(mapped_files, are_all_found_when_there_are_many) {
    std::vector<std::unique_ptr<sample_file>> all;
    for (int i = 0; i < 300; ++i) {
        all.push_back(std::make_unique<sample_file>());
        all.back()->map();
    }
    for (const auto& file : all) {
        EXPECT_TRUE(file->is_held());
    }
}

}  // namespace
