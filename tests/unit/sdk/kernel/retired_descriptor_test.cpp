// SPDX-License-Identifier: MIT
//
// The descriptor of a withdrawn provider while a thread writes to it: it is closed later, because
// until then the kernel module has the provider as a published one.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "fake_kernel_file.hpp"
#include "kernel/user_events_write.hpp"
#include "platform/unique_fd.hpp"
#include "two_event_provider.hpp"

namespace {

using namespace eventlog::core;

bool is_open(int file) {
    return ::fcntl(file, F_GETFD) >= 0;
}

class retired_descriptor : public testing::Test {
  protected:
    void SetUp() override {
        std::array<int, 2> ends{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
        kernel_end = unique_fd(ends[0]);
        file = ends[1];
    }

    /// Withdraws a provider with this file while a thread uses descriptors.
    void withdraw_in_use() {
        const thread_count::user writer(descriptor_users);
        const eventlog::dynamic_provider provider = eventlog::test::make("withdrawn_in_use");
        user_events_route& route = provider.handle()->user_events;
        if (route.file.load() >= 0) {
            GTEST_SKIP() << "this kernel has the real file";
        }
        fake_kernel::set_route_file(route, file);
        route.expected = true;
        route.retired[0] = inherited;
    }

    unique_fd kernel_end;
    int file = -1;
    int inherited = -1;  // by a child of fork(), and already retired then
};

TEST_F(retired_descriptor, is_closed_by_next_emit_of_another_provider) {
    const eventlog::dynamic_provider other = eventlog::test::make("other");
    withdraw_in_use();
    if (IsSkipped()) {
        return;
    }
    EXPECT_TRUE(is_open(file));
    eventlog::test::wait_for_retry();
    other.emit(0);
    EXPECT_FALSE(is_open(file));
}

TEST_F(retired_descriptor, is_closed_by_next_registration) {
    withdraw_in_use();
    if (IsSkipped()) {
        return;
    }
    EXPECT_TRUE(is_open(file));
    const eventlog::dynamic_provider next = eventlog::test::make("next");
    EXPECT_FALSE(is_open(file));
}

TEST_F(retired_descriptor, is_closed_with_the_one_before) {
    inherited = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    withdraw_in_use();
    if (IsSkipped()) {
        return;
    }
    EXPECT_TRUE(is_open(file));
    EXPECT_TRUE(is_open(inherited));
    const eventlog::dynamic_provider next = eventlog::test::make("next");
    EXPECT_FALSE(is_open(file));
    EXPECT_FALSE(is_open(inherited));
}

}  // namespace
