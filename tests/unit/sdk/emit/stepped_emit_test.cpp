// SPDX-License-Identifier: MIT
//
// Another thread attaches between two instructions of an emit that cannot: it clears the bit of the
// listener, and perhaps sets it again. The event must be counted once.
#ifdef __x86_64__

#include <cstdint>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "emit/notification.hpp"
#include "listener.hpp"
#include "platform/registry_lock.hpp"
#include "provider/registered_provider.hpp"
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
using eventlog::test::unattached_of;

// Steps between the points at which the other thread runs.
constexpr std::uint64_t stride = 7;

eventlog_provider* stepped = nullptr;
std::uint64_t attaches_at = 0;
std::uint64_t steps = 0;
bool ends = false;
std::optional<registry_lock> of_other_thread;

void clear_bit() {
    stepped->cleared_slots.fetch_or(1U);
    eventlog::core::set_notification_request(*stepped, true);
    stepped->gate_word(0).fetch_and(~1U);
}

void set_bit() {
    stepped->gate_word(0).fetch_or(1U);
    stepped->cleared_slots.fetch_and(~1U);
}

void attach_once(gregset_t& registers) {
    of_other_thread.emplace(std::try_to_lock);
    if (!of_other_thread->held()) {
        of_other_thread.reset();
        return;
    }
    if (++steps != attaches_at) {
        of_other_thread.reset();
        return;
    }
    clear_bit();
    if (ends) {
        set_bit();
    }
    end_steps(registers);
}

void check_counts(bool attach_ends) {
    ends = attach_ends;
    const dynamic_provider provider = make("stepped_emit");
    stepped = provider.handle();
    {
        const event_listener gives_it_a_gate("stepped_emit:first");
        EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    }
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    const event_listener listener("stepped_emit:first");
    stepped->attachment_to(0).not_before = UINT64_MAX;
    std::uint64_t expected = 0;
    do {
        attaches_at += stride;
        steps = 0;
        run_in_steps(attach_once, [&] { static_cast<void>(provider.emit(0)); });
        of_other_thread.reset();
        set_bit();
        ASSERT_EQ(unattached_of("stepped_emit", 0), ++expected) << attaches_at;
    } while (steps >= attaches_at);
    EXPECT_GT(attaches_at, 20 * stride);
}

TEST(stepped_emit, counts_an_event_whose_bit_an_attach_clears) {
    check_in_child([] { check_counts(false); });
}

TEST(stepped_emit, counts_an_event_once_if_the_attach_ends_meanwhile) {
    check_in_child([] { check_counts(true); });
}

}  // namespace

#endif
