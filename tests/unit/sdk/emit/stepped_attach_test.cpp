// SPDX-License-Identifier: MIT
//
// Emits an event after each instruction of an attach, as other threads do that run in between. None
// may be missing: each is recorded or counted as lost.
#ifdef __x86_64__

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "emit/emit.hpp"
#include "listener.hpp"
#include "platform/registry_lock.hpp"
#include "single_steps.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::end_steps;
using eventlog::test::event_listener;
using eventlog::test::make;
using eventlog::test::no_descriptors;
using eventlog::test::run_in_steps;
using eventlog::test::unattached_of;
using eventlog::test::wait_for_retry;

// By address. A compare-exchange that is repeated until no event has come in between would not end.
constexpr std::uint8_t events_of_instruction_max = 4;
std::array<std::uint8_t, std::size_t{1} << 20U> events_of_instruction{};

bool may_emit_at(std::uint64_t address) {
    std::uint8_t& events = events_of_instruction[address % events_of_instruction.size()];
    if (events == events_of_instruction_max) {
        return false;
    }
    ++events;
    return true;
}

/// What a run of steps does and finds.
struct stepping {
    const dynamic_provider* provider = nullptr;
    std::uint64_t begins_at = 0;  // the step in which the listener begins; 0: before the first one
    std::uint64_t steps = 0;
    std::uint64_t emitted = 0;     // with the listener
    std::uint64_t attached = 0;    // of these, in steps that found the provider attached
    std::uint64_t cleared_at = 0;  // the step that finds the gate without the bit
    bool has_no_second_look = false;
    bool goes_on = false;  // with steps until the attach ends
};
stepping run;
std::optional<no_descriptors> closed;
std::optional<event_listener> listener;

bool has_bit() {
    return (run.provider->handle()->gate_word(0).load() & 1U) != 0;
}

/// Whether the interrupted code holds the lock, as it does during an attach.
bool is_attaching() {
    const eventlog::core::registry_lock lock(std::try_to_lock);
    return !lock.held();
}

bool is_attached() {
    return eventlog::core::is_attached(*run.provider->handle(), 0);
}

void emit_in_between(gregset_t& registers) {
    if (!is_attaching()) {
        if (is_attached()) {
            end_steps(registers);
        }
        return;
    }
    if (++run.steps == run.begins_at) {
        listener.emplace("stepped_attach:first");
        run.emitted = 1;  // the interrupted event
    }
    if (run.cleared_at == 0 && !has_bit()) {
        run.cleared_at = run.steps;
        if (run.has_no_second_look) {
            closed.emplace();
        }
    }
    if (listener && may_emit_at(static_cast<std::uint64_t>(registers[REG_RIP]))) {
        ++run.emitted;
        run.attached += is_attached() ? 1 : 0;
        static_cast<void>(run.provider->emit(0));
        if (!run.goes_on && is_attached()) {
            end_steps(registers);
        }
    }
}

/// Emits an event, and others in each step until the provider is attached.
void emit_in_steps() {
    run.emitted += listener ? 1 : 0;
    run_in_steps(emit_in_between, [] { static_cast<void>(run.provider->emit(0)); });
}

void check_that_all_are_counted() {
    listener->poll();
    EXPECT_EQ(listener->records().size() + unattached_of("stepped_attach", 0), run.emitted);
    EXPECT_GE(listener->records().size(), 1U);
}

void check_steps(const dynamic_provider& provider) {
    run.provider = &provider;
    listener.emplace("stepped_attach:first");
    emit_in_steps();
    EXPECT_GT(run.emitted, 1000U);
    check_that_all_are_counted();
    listener.reset();
}

/// The provider has a gate of its own, and the first slot is free.
void attach_and_end(const dynamic_provider& provider) {
    std::optional<event_listener> before("stepped_attach:first");
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    before.reset();
    // Releases the region, so that the next event reaches no ring before an attach.
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
}

TEST(stepped_attach, counts_all_events_before_the_first_attach) {
    check_in_child([] {
        const dynamic_provider provider = make("stepped_attach");
        check_steps(provider);
    });
}

TEST(stepped_attach, counts_all_events_if_the_slot_had_another_subscription) {
    check_in_child([] {
        const dynamic_provider provider = make("stepped_attach");
        attach_and_end(provider);
        check_steps(provider);
    });
}

/// Other threads do not wait for the end of an attach that runs: none of their events is lost from
/// the attachment on.
void check_attached_steps() {
    const dynamic_provider provider = make("stepped_attach");
    run.provider = &provider;
    run.goes_on = true;
    listener.emplace("stepped_attach:first");
    emit_in_steps();
    EXPECT_GT(run.attached, 30U);
    listener->poll();
    // With the interrupted event, which comes after the attach.
    EXPECT_EQ(listener->records().size(), run.attached + 1);
    EXPECT_EQ(unattached_of("stepped_attach", 0), run.emitted - run.attached - 1);
    listener.reset();
}

TEST(stepped_attach, writes_events_as_soon_as_the_attachment_exists) {
    check_in_child(check_attached_steps);
}

/// Emits with a bit that a subscription has left. Another one begins in that step, 0: none.
void emit_with_old_bit(const dynamic_provider& provider, std::uint64_t begins_at,
                       bool has_no_second_look = false) {
    attach_and_end(provider);
    wait_for_retry();
    run = {};
    events_of_instruction = {};
    run.provider = &provider;
    run.begins_at = begins_at;
    run.has_no_second_look = has_no_second_look;
    provider.handle()->gate_word(0).fetch_or(1U);
    emit_in_steps();
}

/// The attach finds no subscription, clears the bit, which then is that of another subscription,
/// and finds that one.
void check_cleared_bit() {
    const dynamic_provider provider = make("stepped_attach");
    emit_with_old_bit(provider, 0);
    const std::uint64_t cleared_at = run.cleared_at;
    ASSERT_GT(cleared_at, 100U);
    bool was_cleared = false;
    for (const std::uint64_t before : {1U, 30U}) {
        emit_with_old_bit(provider, cleared_at - before);
        ASSERT_TRUE(listener.has_value());
        was_cleared = was_cleared || run.cleared_at > run.begins_at;
        check_that_all_are_counted();
        listener.reset();
    }
    EXPECT_TRUE(was_cleared);
}

TEST(stepped_attach, counts_all_events_if_it_clears_the_bit_of_a_new_subscription) {
    check_in_child(check_cleared_bit);
}

void check_failed_look() {
    const dynamic_provider provider = make("stepped_attach");
    emit_with_old_bit(provider, 0);
    emit_with_old_bit(provider, run.cleared_at - 1, true);
    ASSERT_TRUE(closed.has_value());
    EXPECT_TRUE(has_bit());
    closed.reset();
    wait_for_retry();
    ++run.emitted;
    EXPECT_EQ(provider.emit(0), EVENTLOG_ERROR_NONE);
    check_that_all_are_counted();
}

TEST(stepped_attach, sets_the_bit_again_if_the_second_look_fails) {
    check_in_child(check_failed_look);
}

}  // namespace

#endif
