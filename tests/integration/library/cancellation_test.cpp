// SPDX-License-Identifier: MIT
//
// A cancelled thread ends at a cancellation point of the application, never in a system call of the
// library, which would leave its locks held.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;

struct farewell {
    std::uint32_t number;
};
using cancellation = eventlog::provider<"cancellation", farewell>;

/// Runs `work` in a cancelled thread. Returns whether it ran to its end.
bool ends_although_cancelled(const std::function<void()>& work) {
    struct job {
        const std::function<void()>& work;
        bool ended = false;
    } whole{work};
    pthread_t thread{};
    const auto run = [](void* argument) -> void* {
        auto* const here = static_cast<job*>(argument);
        ::pthread_cancel(::pthread_self());
        here->work();
        here->ended = true;
        return nullptr;
    };
    EXPECT_EQ(::pthread_create(&thread, nullptr, run, &whole), 0);
    EXPECT_EQ(::pthread_join(thread, nullptr), 0);
    return whole.ended;
}

TEST(cancellation, is_disabled_during_register_and_unregister) {
    alignas(65536) static std::array<std::uint32_t, 16384> gate{};
    const auto& schema = cancellation::schema();
    const eventlog_raw_provider definition{
        sizeof definition, 1, gate.data(), sizeof gate, schema.data(), schema.size()};
    eventlog_status_code status = EVENTLOG_STATUS_UNREGISTERED;
    ASSERT_TRUE(ends_although_cancelled([&] {
        eventlog_provider* handle = eventlog_raw_provider_register(&definition);
        status = eventlog_provider_status(handle, nullptr, 0);
        eventlog_raw_provider_unregister(handle);
    }));
    EXPECT_EQ(status, EVENTLOG_STATUS_OK);
}

TEST(cancellation, is_disabled_during_attaching_emit) {
    event_listener listener("cancellation:*");
    ASSERT_TRUE(ends_although_cancelled([] { cancellation::emit(farewell{1}); }));
    listener.finish();
    EXPECT_EQ(listener.records().size(), 1U);
}

TEST(cancellation, is_disabled_during_fork_handlers) {
    cancellation::emit(farewell{1});
    int status = 0;
    ASSERT_TRUE(ends_although_cancelled([&] {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(7);
        }
        ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
        EXPECT_EQ(::waitpid(child, &status, 0), child);
    }));
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

}  // namespace
