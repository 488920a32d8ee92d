// SPDX-License-Identifier: MIT
//
// What the errors of bpf(2) say about the kernel and the process.
#include <sys/syscall.h>

#include <cerrno>

#include <gtest/gtest.h>

#include "bpf/bpf_counter.hpp"
#include "run_in_child.hpp"
#include "syscall_override.hpp"

namespace {

using eventlog::tracefs::find_bpf_support;
using support = eventlog::tracefs::bpf_support;

class found_bpf_support : public ::testing::Test {
  protected:
    void SetUp() override {
        if (find_bpf_support() == support::too_old) {
            GTEST_SKIP() << "before Linux 6.7 bpf(2) is not asked";
        }
    }

    /// In a child, whose calls of bpf(2) fail with this error until its end.
    static void expect(support expected, int error) {
        EXPECT_EQ(eventlog::test::run_in_child([=] {
                      EXPECT_TRUE(
                          eventlog::test::override_syscall(SYS_bpf, static_cast<unsigned>(error)));
                      const support found = find_bpf_support();
                      const int reason = errno;
                      EXPECT_EQ(found, expected) << error;
                      if (expected == support::unclear) {
                          EXPECT_EQ(reason, error);
                      }
                      return HasFailure() ? 1 : 0;
                  }),
                  0);
    }
};

TEST_F(found_bpf_support, is_none_if_the_kernel_lacks_the_call_or_the_type) {
    expect(support::none, ENOSYS);
    expect(support::none, EINVAL);
}

TEST_F(found_bpf_support, is_not_permitted_without_capabilities) {
    expect(support::not_permitted, EPERM);
    expect(support::not_permitted, EACCES);
}

TEST_F(found_bpf_support, is_unclear_with_the_reason_of_any_other_error) {
    expect(support::unclear, ENOMEM);
    expect(support::unclear, E2BIG);
}

}  // namespace
