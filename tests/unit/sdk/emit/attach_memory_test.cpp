// SPDX-License-Identifier: MIT
//
// An attach that gets no memory takes no room in the subscription.
#include <linux/eventlog.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "shm/exact_io.hpp"
#include "syscall_override.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::test::event_listener;

eventlog_region header_of(event_listener& listener) {
    eventlog_region header{};
    EXPECT_TRUE(eventlog::core::read_exactly(listener.source().file(), &header, sizeof header, 0));
    return header;
}

TEST(attach_memory, failure_takes_no_room_in_subscription) {
    eventlog::test::check_in_child([] {
        const event_listener first("short_of_memory:*");
        const eventlog::dynamic_provider provider = eventlog::test::make("short_of_memory");
        provider.emit(0);
        // The provider has a gate of its own now, so the second listener takes an attach only.
        event_listener second("short_of_memory:*");
        const eventlog_region before = header_of(second);
        ASSERT_TRUE(eventlog::test::deny_syscall(SYS_fallocate));
        provider.emit(0);
        const eventlog_region after = header_of(second);
        EXPECT_GT(after.providers_refused, before.providers_refused);
        EXPECT_EQ(after.provider_count, before.provider_count);
        EXPECT_EQ(after.schemas_used, before.schemas_used);
        EXPECT_EQ(after.event_numbers, before.event_numbers);
    });
}

}  // namespace
