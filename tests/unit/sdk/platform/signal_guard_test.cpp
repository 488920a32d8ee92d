// SPDX-License-Identifier: MIT
//
// The mask of signals inside the library: the kernel ends a process that blocks a signal which its
// own instruction or system call raises, although the program may handle it.
#include "platform/signal_guard.hpp"

#include <pthread.h>
#include <signal.h>

#include <array>

#include <gtest/gtest.h>

#include <eventlog/abi.h>

#include "listener.hpp"
#include "two_event_provider.hpp"

namespace {

sigset_t present_mask() {
    sigset_t mask;
    EXPECT_EQ(::pthread_sigmask(SIG_SETMASK, nullptr, &mask), 0);
    return mask;
}

/// Not the library's own list.
constexpr std::array synchronous{SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
constexpr std::array asynchronous{SIGUSR1, SIGUSR2, SIGTERM, SIGINT, SIGALRM, SIGCHLD};

void check_mask(const sigset_t& mask) {
    for (const int number : synchronous) {
        EXPECT_EQ(::sigismember(&mask, number), 0) << number;
    }
    for (const int number : asynchronous) {
        EXPECT_EQ(::sigismember(&mask, number), 1) << number;
    }
}

void check_nothing_is_blocked() {
    const sigset_t mask = present_mask();
    for (const int number : asynchronous) {
        EXPECT_EQ(::sigismember(&mask, number), 0) << number;
    }
}

TEST(signal_guard, blocks_all_but_synchronous_signals) {
    {
        const eventlog::core::signal_guard guard;
        check_mask(present_mask());
    }
    check_nothing_is_blocked();
}

TEST(signal_guard, keeps_what_the_program_has_blocked) {
    sigset_t own;
    sigset_t before;
    ::sigemptyset(&own);
    ::sigaddset(&own, SIGFPE);
    ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &own, &before), 0);
    {
        const eventlog::core::signal_guard guard;
        const sigset_t mask = present_mask();
        EXPECT_EQ(::sigismember(&mask, SIGFPE), 1);
    }
    const sigset_t after = present_mask();
    EXPECT_EQ(::sigismember(&after, SIGFPE), 1);
    EXPECT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST(signal_guard, leaves_synchronous_signals_to_callbacks_on_new_listeners) {
    struct seen {
        int calls = 0;
        sigset_t mask{};
    } found;
    const eventlog::dynamic_provider provider = eventlog::test::make("mask_in_callback");
    const auto note = [](void* context) {
        auto& to = *static_cast<seen*>(context);
        ++to.calls;
        to.mask = present_mask();
    };
    ASSERT_TRUE(eventlog_provider_on_new_listener(provider.handle(), note, &found));
    {
        eventlog::test::event_listener listener("mask_in_callback:*");
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(found.calls, 1);
        check_mask(found.mask);
        check_nothing_is_blocked();
        listener.finish();
    }
    EXPECT_TRUE(eventlog_provider_on_new_listener(provider.handle(), nullptr, nullptr));
}

}  // namespace
