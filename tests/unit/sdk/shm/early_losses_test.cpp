// SPDX-License-Identifier: MIT
//
// Events that are lost before their process is attached to a subscription count for that one.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "provider/registered_provider.hpp"
#include "scratch.hpp"
#include "shm/process_file_layout.hpp"
#include "syscall_override.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::dynamic_provider;
using eventlog::test::check_in_child;
using eventlog::test::count_reads;
using eventlog::test::definition_of;
using eventlog::test::event_listener;
using eventlog::test::eventlog_directory;
using eventlog::test::find_published;
using eventlog::test::has_own_gate;
using eventlog::test::make;
using eventlog::test::no_descriptors;
using eventlog::test::unattached_of;
using eventlog::test::wait_for_retry;

TEST(early_losses, count_for_their_subscription) {
    const dynamic_provider one = make("unattached");
    event_listener first("unattached:first");
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    {
        const event_listener second("unattached:first");
        {
            const no_descriptors closed;
            for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
            }
        }
        EXPECT_EQ(unattached_of("unattached", 0), 0U);
        EXPECT_EQ(unattached_of("unattached", 1), 3U);
    }
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    // A successor in the slot begins with 0.
    const event_listener third("unattached:first");
    EXPECT_EQ(unattached_of("unattached", 1), 0U);
    {
        wait_for_retry();
        const no_descriptors closed;
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    }
    EXPECT_EQ(unattached_of("unattached", 1), 1U);
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 4U);
}

void check_early_events() {
    const dynamic_provider one = make("too_early");
    event_listener listener("too_early:first");
    {
        const no_descriptors closed;
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
        }
    }
    EXPECT_FALSE(has_own_gate("too_early"));
    EXPECT_EQ(find_published(::getpid(), "too_early")->early[0], EVENTLOG_EARLY_LISTENS | 3U);
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 3U);
    wait_for_retry();
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
    EXPECT_EQ(unattached_of("too_early", 0), 3U);
}

TEST(early_losses, count_before_own_gate) {
    check_in_child(check_early_events);
}

void check_withdrawn_providers() {
    event_listener listener("early_again:first");
    for (int i = 0; i < 80; ++i) {  // more than copies of a process file can exist
        const dynamic_provider one = make("early_again");
        ASSERT_TRUE(find_published(::getpid(), "early_again")) << i;
        const no_descriptors closed;
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    }
}

TEST(early_losses, leave_room_for_later_providers) {
    check_in_child(check_withdrawn_providers);
}

/// Of the withdrawal of the last of many providers, which have a listener. `loses`: and which has
/// lost an event for it.
std::uint64_t reads_of_withdrawal(std::size_t providers, bool loses) {
    const event_listener listener("withdrawn_*:first");
    std::vector<std::unique_ptr<dynamic_provider>> many;
    for (std::size_t i = 0; i < providers; ++i) {
        many.push_back(std::make_unique<dynamic_provider>(definition_of("withdrawn_of_many")));
    }
    auto last = std::make_unique<dynamic_provider>(definition_of("withdrawn_last"));
    std::optional<event_listener> later;
    if (loses) {
        later.emplace("withdrawn_last:first");
        const no_descriptors closed;
        EXPECT_EQ(last->emit(0), EVENTLOG_ERROR_NONE);
        EXPECT_EQ(last->status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 1U);
    }
    const std::uint64_t before = count_reads();
    last.reset();
    return count_reads() - before;
}

void check_reads_of_withdrawal() {
    const std::uint64_t counting = count_reads();
    ASSERT_NE(counting, 0U);
    const std::uint64_t own = count_reads() - counting;
    for (const bool loses : {false, true}) {
        const std::uint64_t few = reads_of_withdrawal(2, loses);
        EXPECT_EQ(reads_of_withdrawal(300, loses), few);
        EXPECT_GT(few, own);
        EXPECT_TRUE(loses || few <= own + 1) << few;
    }
}

TEST(early_losses, are_looked_for_without_a_scan_of_other_providers) {
    if (count_reads() == 0) {
        GTEST_SKIP() << "this kernel does not count the system calls of a thread";
    }
    check_in_child(check_reads_of_withdrawal);
}

void check_unreadable_subscription() {
    const std::string blocked = eventlog_directory() + "/subscriptions/05";
    std::filesystem::create_directory(blocked);
    const dynamic_provider one = make("beside_unreadable");
    event_listener listener("beside_unreadable:first");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    }
    EXPECT_EQ(listener.received_names(), "first first first");
    std::filesystem::remove(blocked);
}

TEST(early_losses, unreadable_subscription_does_not_silence_others) {
    check_in_child(check_unreadable_subscription);
}

int attach_error_of(const dynamic_provider& provider) {
    return provider.handle()->attach_error.load();
}

void check_reason_without_directory() {
    const event_listener listener("unreadable_at_first:first");
    // The provider can open subscriptions and not read them.
    ASSERT_TRUE(eventlog::test::deny_syscall(SYS_pread64));
    const dynamic_provider one = make("unreadable_at_first");
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(attach_error_of(one), EPERM);
    wait_for_retry();
    const no_descriptors closed;
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(attach_error_of(one), EMFILE);
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 2U);
}

TEST(early_losses, have_the_reason_of_the_last_attempt) {
    check_in_child(check_reason_without_directory);
}

void check_early_events_of_a_pause() {
    const dynamic_provider one = make("early_pause");
    event_listener listener("early_pause:first");
    const auto emit_without_gate = [&] {
        const no_descriptors closed;
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    };
    emit_without_gate();
    emit_without_gate();
    listener.source().pause();
    emit_without_gate();
    EXPECT_EQ(find_published(::getpid(), "early_pause")->early[0], 2U);
    wait_for_retry();
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_TRUE(has_own_gate("early_pause"));
    EXPECT_EQ(unattached_of("early_pause", 0), 2U);
    listener.source().resume();
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listener.received_names(), "first");
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 2U);
}

TEST(early_losses, count_for_a_subscription_paused_since) {
    check_in_child(check_early_events_of_a_pause);
}

void check_early_events_of_a_successor() {
    const dynamic_provider one = make("early_successor");
    {
        const event_listener first("early_successor:first");
        const no_descriptors closed;
        EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    }
    event_listener second("early_successor:first");
    EXPECT_EQ(find_published(::getpid(), "early_successor")->early[0], EVENTLOG_EARLY_LISTENS);
    wait_for_retry();
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(second.received_names(), "first");
    EXPECT_EQ(unattached_of("early_successor", 0), 0U);
}

TEST(early_losses, do_not_count_for_a_successor) {
    check_in_child(check_early_events_of_a_successor);
}

/// As if a scan of the process had found a subscription in the first slot just when that ended.
void leave_mark(const char* name) {
    for (eventlog_provider* provider = eventlog::core::get_first_registered(); provider != nullptr;
         provider = provider->next) {
        if (std::string_view(provider->name.data()) == name) {
            std::atomic_ref(provider->entry.load()->early[0]).fetch_or(EVENTLOG_EARLY_LISTENS);
        }
    }
}

void check_mark_of_an_ended_subscription() {
    const dynamic_provider one = make("early_marked");
    const dynamic_provider listened = make("early_listened");
    leave_mark("early_marked");
    const event_listener listener("early_listened:first");
    const no_descriptors closed;
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listened.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 0U);
    EXPECT_EQ(listened.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 1U);
}

TEST(early_losses, do_not_count_for_a_successor_without_interest) {
    check_in_child(check_mark_of_an_ended_subscription);
}

void check_early_events_of_others() {
    const dynamic_provider one = make("early_other");
    const dynamic_provider listened = make("early_listened");
    const event_listener listener("early_listened:first");
    const no_descriptors closed;
    EXPECT_EQ(one.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(listened.emit(0), EVENTLOG_ERROR_NONE);
    EXPECT_EQ(one.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 0U);
    EXPECT_EQ(listened.status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_unattached, 1U);
}

TEST(early_losses, do_not_count_without_a_listener) {
    check_in_child(check_early_events_of_others);
}

TEST(early_losses, do_not_count_in_the_entry_of_another_provider) {
    eventlog_provider* late = nullptr;
    {
        const dynamic_provider one = make("withdrawn_entry");
        late = one.handle();
        EXPECT_NE(late->entry.load(), nullptr);
    }
    // The next provider may be published there.
    EXPECT_EQ(late->entry.load(), nullptr);
}

}  // namespace
