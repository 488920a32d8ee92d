// SPDX-License-Identifier: MIT
//
// A subscription whose file was removed by hand has not ended, and another one gets its slot: the
// process leaves the old region at its next emit.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "detach_fixture.hpp"
#include "memory/subscription.hpp"
#include "memory/unattached_losses.hpp"
#include "platform/error_text.hpp"
#include "shm/directory.hpp"

namespace {

using namespace detach_test;

class replaced_region : public detach {
  protected:
    static constexpr event_listener::options flight{
        .buffer_size = 128U << 10U, .buffers_per_cpu = 2, .overwrite = true};

    static std::string path_of(event_listener& listener) {
        return eventlog_directory() + "/subscriptions/" +
               eventlog::core::slot_file_name(listener.source().slot()).data();
    }
    static void remove_file_of(event_listener& listener) {
        EXPECT_TRUE(std::filesystem::remove(path_of(listener)));
    }
};

TEST_F(replaced_region, is_left_at_next_emit) {
    event_listener old("leaving_test:*");
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    event_listener next("leaving_test:*");
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(unwanted{3});
    EXPECT_EQ(next.received_names(), "wanted unwanted");
    EXPECT_EQ(old.received_names(), "wanted");
}

TEST_F(replaced_region, of_flight_recorder_is_left_at_next_emit) {
    event_listener old("leaving_test:*", flight);
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    event_listener next("leaving_test:*");
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_EQ(next.received_names(), "wanted");
}

TEST_F(replaced_region, of_paused_subscription_is_left_at_next_emit) {
    event_listener old("leaving_test:*", flight);
    detach_provider::emit(wanted{1});
    old.source().pause();
    remove_file_of(old);
    event_listener next("leaving_test:*");
    detach_provider::emit(wanted{2});
    EXPECT_EQ(next.received_names(), "wanted");
}

TEST_F(replaced_region, is_left_beside_other_subscriptions) {
    event_listener staying("leaving_test:*");
    event_listener old("leaving_test:*");
    detach_provider::emit(wanted{1});
    detach_provider::emit(wanted{2});
    remove_file_of(old);
    event_listener next("leaving_test:*");
    detach_provider::emit(wanted{3});
    EXPECT_EQ(mapped_regions(), 2);
    EXPECT_EQ(next.received_names(), "wanted");
    EXPECT_EQ(staying.received_names(), "wanted wanted wanted");
}

TEST_F(replaced_region, leaves_no_bits_of_unwanted_events) {
    event_listener old("leaving_test:*");
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    event_listener next("leaving_test:wanted");
    detach_provider::emit(unwanted{2});
    detach_provider::emit(wanted{3});
    EXPECT_FALSE(detach_provider::enabled<unwanted>());
    EXPECT_EQ(next.received_names(), "wanted");
}

TEST_F(replaced_region, is_unmapped_if_its_successor_wants_nothing) {
    event_listener old("leaving_test:*", flight);
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    event_listener next("leaving_test_of_no_process:*");
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(at_some_emit(is_gate_closed));
    EXPECT_EQ(old.received_names(), "wanted");
    EXPECT_EQ(next.received_names(), "");
}

TEST_F(replaced_region, stays_left_when_its_successors_end) {
    event_listener old("leaving_test:*", flight);
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    for (int i = 0; i < 3; ++i) {
        event_listener next("leaving_test:*");
        detach_provider::emit(wanted{2});
        EXPECT_EQ(next.received_names(), "wanted") << i;
    }
    detach_provider::emit(wanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(replaced_region, leaves_slot_to_its_successor_when_it_ends) {
    std::optional<event_listener> old(std::in_place, "leaving_test:*");
    detach_provider::emit(wanted{1});
    remove_file_of(*old);
    event_listener next("leaving_test:*");
    old.reset();
    EXPECT_TRUE(std::filesystem::exists(path_of(next)));
    EXPECT_TRUE(detach_provider::enabled<unwanted>());
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_EQ(next.received_names(), "wanted");
}

TEST_F(replaced_region, leaves_slot_to_its_successor_when_it_is_paused) {
    event_listener old("leaving_test:*");
    detach_provider::emit(wanted{1});
    remove_file_of(old);
    event_listener next("leaving_test:*");
    old.source().pause();
    detach_provider::emit(wanted{2});
    EXPECT_THROW(old.source().resume(), elog::user_error);
    detach_provider::emit(wanted{3});
    EXPECT_EQ(next.received_names(), "wanted wanted");
    EXPECT_EQ(old.received_names(), "wanted");
}

/// Without an emit: a program in a sandbox cannot look for the subscriptions that still exist.
TEST_F(replaced_region, has_no_bits_after_the_end_of_its_subscription) {
    std::optional<event_listener> old(std::in_place, "leaving_test:wanted");
    detach_provider::emit(wanted{1});
    remove_file_of(*old);
    old.reset();
    for (const std::uint32_t word : gate_of(::getpid())) {
        EXPECT_EQ(word & EVENTLOG_GATE_SUBSCRIPTIONS, 0U);
    }
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

/// The slot has a subscription for another process, so that only the end notifies this one.
TEST_F(replaced_region, is_unmapped_at_an_unwanted_event_after_the_end) {
    std::optional<event_listener> old(std::in_place, "leaving_test:wanted");
    detach_provider::emit(wanted{1});
    remove_file_of(*old);
    elog::subscription_options options;
    options.patterns.add("leaving_test:*");
    options.patterns.add_process(1);
    options.buffer_size = flight.buffer_size;
    const elog::subscription next(options);
    ASSERT_EQ(next.slot(), old->source().slot());
    detach_provider::emit(unwanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    old.reset();
    detach_provider::emit(unwanted{3});
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(replaced_region, cannot_be_resumed_or_detached) {
    event_listener old("leaving_test:*");
    old.source().pause();
    remove_file_of(old);
    EXPECT_THROW(old.source().resume(), elog::user_error);
    EXPECT_THROW(old.source().detach(), elog::user_error);
}

/// The events of this process that were lost because it was not attached.
std::uint64_t count_unattached(event_listener& listener) {
    eventlog::core::directory where;
    eventlog::core::error_text error;
    const eventlog::core::directory_path path = eventlog::core::current_directory();
    EXPECT_TRUE(where.open(path, eventlog::core::if_missing::fail, error));
    elog::unattached_losses losses(where, listener.source().slot(),
                                   listener.source().region().header);
    losses.read();
    std::uint64_t count = 0;
    for (const auto& [program, loss] : losses.all()) {
        count += loss.count;
    }
    return count;
}

/// All threads: each event emitted after the new subscription has begun is read or counted.
TEST_F(replaced_region, is_left_by_all_threads) {
    constexpr int rounds = 20;
    constexpr int threads = 4;
    constexpr std::uint64_t events = 500;
    constexpr event_listener::options large{.buffer_size = 4U << 20U, .buffers_per_cpu = 2};
    for (int round = 0; round < rounds; ++round) {
        event_listener old("leaving_test:*", flight);
        detach_provider::emit(wanted{0});
        remove_file_of(old);
        std::atomic<bool> has_begun{false};
        std::vector<std::thread> emitters;
        for (int i = 0; i < threads; ++i) {
            emitters.emplace_back([&] {
                for (std::uint64_t left = events; left != 0;) {
                    const bool is_counted = has_begun;
                    detach_provider::emit(wanted{is_counted ? std::uint64_t{1} : 0});
                    left -= is_counted ? 1 : 0;
                }
            });
        }
        event_listener next("leaving_test:*", large);
        has_begun = true;
        for (std::thread& each : emitters) {
            each.join();
        }
        next.poll();
        std::uint64_t found = next.totals().lost + next.lost_by_providers();
        for (const auto& record : next.records()) {
            found += std::get<std::uint64_t>(next.field(record, "number"));
        }
        found += count_unattached(next);
        EXPECT_GE(found, threads * events) << round;
    }
}

}  // namespace
