// SPDX-License-Identifier: MIT
//
// Another thread requests a notification between two instructions of one that answers the last
// request. The new request must not be lost with the old one.
#ifdef __x86_64__

#include <cstdint>
#include <mutex>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "emit/notification.hpp"
#include "listener.hpp"
#include "platform/registry_lock.hpp"
#include "provider/own_gate.hpp"
#include "single_steps.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::core::registry_lock;
using eventlog::test::check_in_child;
using eventlog::test::end_steps;
using eventlog::test::event_listener;
using eventlog::test::make;
using eventlog::test::run_in_steps;

eventlog_provider* stepped = nullptr;
std::uint64_t requested_at = 0;  // 0: not at all
std::uint64_t steps = 0;
std::uint64_t answered_at = 0;  // the first step without a notification

bool has_notification() {
    return (stepped->gate_word(0).load() & EVENTLOG_GATE_NOTIFICATION) != 0;
}

/// Requests one, as a scan does that finds a subscription and cannot attach.
void request_once(gregset_t& registers) {
    const registry_lock lock(std::try_to_lock);
    if (!lock.held()) {
        return;
    }
    ++steps;
    if (answered_at == 0 && !has_notification()) {
        answered_at = steps;
    }
    if (steps == requested_at) {
        eventlog::core::note_missed_subscription(*stepped, 0, false);
        end_steps(registers);
    }
}

void answer_in_steps(const dynamic_provider& provider, std::uint64_t request_at) {
    requested_at = request_at;
    steps = 0;
    answered_at = 0;
    eventlog::core::set_notification_request(*stepped, true);
    run_in_steps(request_once, [&] { static_cast<void>(provider.emit(0)); });
}

void check_requests() {
    const dynamic_provider provider = make("stepped_notification");
    stepped = provider.handle();
    {
        const event_listener gives_it_a_gate("stepped_notification:first");
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    }
    answer_in_steps(provider, 0);
    const std::uint64_t usual = answered_at;
    ASSERT_GT(usual, 100U);
    for (const std::uint64_t before : {1U, 2U, 3U, 5U, 8U, 13U, 21U, 34U, 55U, 89U}) {
        answer_in_steps(provider, usual - before);
        ASSERT_EQ(steps, requested_at);
        ASSERT_TRUE(has_notification() || !stepped->misses_subscriptions) << before;
        const registry_lock lock;
        eventlog::core::forget_missed_subscriptions(*stepped);
    }
}

TEST(stepped_notification, keeps_a_request_that_comes_during_the_answer) {
    check_in_child(check_requests);
}

}  // namespace

#endif
