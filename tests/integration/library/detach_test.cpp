// SPDX-License-Identifier: MIT
//
// A process detaches from an ended subscription at its next emit, and unmaps its region.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "detach_fixture.hpp"

namespace {

using namespace detach_test;

TEST_F(detach, runs_at_next_emit) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 1);
    listener.reset();
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(detach, runs_at_next_emit_of_disabled_event) {
    std::optional<event_listener> listener("leaving_test:wanted");
    detach_provider::emit(wanted{1});
    listener.reset();
    detach_provider::emit(unwanted{2});
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

TEST_F(detach, runs_at_next_poll) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    detach_provider::run_callbacks();
    EXPECT_EQ(mapped_regions(), 0);
}

TEST_F(detach, runs_when_listener_query_finds_no_listener) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    listener.reset();
    EXPECT_FALSE(detach_provider::enabled<wanted>());
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_TRUE(is_gate_closed());
}

unsigned reported = 0;

struct noticed {
    std::uint64_t number;
};
// A separate provider: after its first callback, other subscriptions notify it as well.
using watched = eventlog::provider<"leaving_watched", noticed>;

TEST_F(detach, runs_callbacks_only_from_emit) {
    std::optional<event_listener> listener("leaving_watched:*");
    watched::on_listeners_changed([](unsigned listeners) { reported = 10 + listeners; });
    watched::emit(noticed{1});
    EXPECT_EQ(reported, 11U);
    listener.reset();
    EXPECT_TRUE(watched::enabled<noticed>()) << "or programs that ask would never come to an emit";
    EXPECT_EQ(reported, 11U);
    watched::emit(noticed{2});
    EXPECT_EQ(reported, 10U);
    EXPECT_EQ(mapped_regions(), 0);
    EXPECT_FALSE(watched::enabled<noticed>());
    watched::on_listeners_changed(nullptr);
}

TEST_F(detach, unmaps_all_ended_subscriptions_and_no_live_one) {
    event_listener staying("leaving_test:*");
    std::vector<std::unique_ptr<event_listener>> ending;
    for (int i = 0; i < 5; ++i) {
        ending.push_back(std::make_unique<event_listener>("leaving_test:*"));
    }
    detach_provider::emit(wanted{1});
    EXPECT_EQ(mapped_regions(), 6);
    ending.clear();
    detach_provider::emit(wanted{2});
    EXPECT_EQ(mapped_regions(), 1);
    detach_provider::emit(wanted{3});
    EXPECT_EQ(staying.received_names(), "wanted wanted wanted");
}

TEST_F(detach, waits_until_no_thread_uses_region) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    subscription_slot& slot = slot_of(*listener);
    std::atomic<int> stage{0};
    std::thread other([&] {
        const slot_user user(slot, slot.mapping.load());
        stage = user.holds() ? 1 : -1;
        stage.notify_all();
        stage.wait(1);
    });
    stage.wait(0);
    listener.reset();
    for (int i = 0; i < 20; ++i) {
        detach_provider::emit(wanted{2});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(mapped_regions(), 1);
    EXPECT_FALSE(detach_provider::enabled<wanted>());
    EXPECT_EQ(stage.exchange(2), 1);
    stage.notify_all();
    other.join();
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

TEST_F(detach, waits_for_emit_interrupted_by_signal_handler) {
    std::optional<event_listener> listener("leaving_test:*");
    detach_provider::emit(wanted{1});
    subscription_slot& slot = slot_of(*listener);
    {
        // The rest of this block acts as the handler.
        const slot_user user(slot, slot.mapping.load());
        listener.reset();
        detach_provider::emit(wanted{2});
        EXPECT_EQ(mapped_regions(), 1);
    }
    EXPECT_TRUE(at_some_emit(are_all_detached));
}

TEST_F(detach, does_not_affect_next_subscription_in_slot) {
    for (std::uint64_t i = 0; i < 20; ++i) {
        event_listener listener("leaving_test:wanted");
        detach_provider::emit(wanted{i});
        EXPECT_EQ(mapped_regions(), 1);
        EXPECT_EQ(listener.received_names(), "wanted");
    }
}

}  // namespace
