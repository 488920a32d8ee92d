// SPDX-License-Identifier: MIT
#include "platform/populate.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "run_in_child.hpp"
#include "syscall_override.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::override_syscall;
using eventlog::test::run_in_child;

TEST(populate, does_not_trust_madvise_that_accepts_any_advice) {
    EXPECT_EQ(
        run_in_child([] { return override_syscall(SYS_madvise, 0) && !can_populate() ? 0 : 1; }),
        0);
}

TEST(populate, stops_after_repeated_interruption) {
    EXPECT_EQ(run_in_child([] {
                  void* mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                  if (mapped == MAP_FAILED || !override_syscall(SYS_madvise, EINTR)) {
                      return 1;
                  }
                  return populate(mapped, 4096) ? 2 : 0;
              }),
              0);
}

TEST(populate, allocates_pages_and_keeps_contents) {
    if (!can_populate()) {
        GTEST_SKIP() << "the kernel is older than Linux 5.14";
    }
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* mapped =
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    *static_cast<char*>(mapped) = 'x';
    EXPECT_TRUE(populate(mapped, 2 * page));
    std::vector<unsigned char> resident(2);
    EXPECT_EQ(::mincore(mapped, 2 * page, resident.data()), 0);
    EXPECT_EQ(resident[1] & 1U, 1U);
    EXPECT_EQ(*static_cast<char*>(mapped), 'x');
    ASSERT_EQ(::munmap(mapped, 2 * page), 0);
    errno = 0;
    EXPECT_FALSE(populate(mapped, 2 * page));
    EXPECT_EQ(errno, 0);
}

}  // namespace
