// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "listener.hpp"
#include "process_files.hpp"
#include "provider/registered_provider.hpp"
#include "scratch.hpp"

namespace {

using eventlog::test::event_listener;

struct knock {
    std::uint32_t times;
};
struct ring_bell {
    std::uint32_t times;
};
using gate_test = eventlog::provider<"gate_test", knock, ring_bell>;

TEST(gate, is_disabled_without_listeners) {
    EXPECT_FALSE(gate_test::enabled<knock>());
    gate_test::emit(knock{1});
}

TEST(gate, is_enabled_only_for_selected_event_until_subscription_ends) {
    std::optional<event_listener> listener(std::in_place, "gate_test:knock");
    EXPECT_TRUE(gate_test::enabled<knock>());
    EXPECT_FALSE(gate_test::enabled<ring_bell>());
    listener.reset();
    EXPECT_FALSE(gate_test::enabled<knock>());
}

TEST(gate, has_one_bit_per_subscription) {
    std::optional<event_listener> first(std::in_place, "gate_test:*");
    std::optional<event_listener> second(std::in_place, "gate_test:knock");
    gate_test::emit(knock{1});
    gate_test::emit(ring_bell{2});
    first->poll();
    second->poll();
    EXPECT_EQ(first->records().size(), 2U);
    EXPECT_EQ(second->records().size(), 1U);
    first.reset();
    EXPECT_TRUE(gate_test::enabled<knock>());
    EXPECT_FALSE(gate_test::enabled<ring_bell>());
    gate_test::emit(knock{3});
    second->poll();
    EXPECT_EQ(second->records().size(), 2U);
}

TEST(gate, reused_slot_delivers_to_new_subscription_only) {
    for (std::uint32_t i = 0; i < 50; ++i) {
        event_listener listener("gate_test:knock");
        gate_test::emit(knock{i});
        listener.poll();
        ASSERT_EQ(listener.records().size(), 1U) << i;
        EXPECT_EQ(std::get<std::uint64_t>(listener.field(listener.records()[0], "times")), i);
    }
}

TEST(gate, rejects_seventeenth_subscription) {
    std::vector<std::unique_ptr<event_listener>> all;
    for (int i = 0; i < EVENTLOG_SUBSCRIPTIONS_MAX; ++i) {
        all.push_back(std::make_unique<event_listener>("gate_test:knock"));
    }
    EXPECT_THROW(event_listener("gate_test:knock"), elog::user_error);
    gate_test::emit(knock{1});
    for (const auto& listener : all) {
        listener->poll();
        EXPECT_EQ(listener->records().size(), 1U);
    }
    all.clear();
    EXPECT_FALSE(gate_test::enabled<knock>());
}

TEST(gate, caches_slot_of_single_listener) {
    alignas(65536) static std::array<std::uint32_t, 16384> gate{};
    const auto& schema = gate_test::schema();
    const eventlog_raw_provider definition{
        sizeof definition, 2, gate.data(), sizeof gate, schema.data(), schema.size()};
    eventlog_provider* provider = eventlog_raw_provider_register(&definition);
    ASSERT_NE(provider, nullptr);
    const auto emit_and_poll = [provider] {
        const std::uint64_t payload = 1;
        eventlog_emit_raw(provider, 0, &payload, sizeof payload);
        return provider->latest.load()->gate_bit;
    };
    std::optional<event_listener> first(std::in_place, "gate_test:*");
    EXPECT_EQ(emit_and_poll(), 1U);
    // With two listeners, emits do not store to `latest`, which threads share.
    std::optional<event_listener> second(std::in_place, "gate_test:*");
    EXPECT_EQ(emit_and_poll(), 1U);
    first.reset();
    EXPECT_EQ(emit_and_poll(), 2U);
    second->poll();
    EXPECT_EQ(second->records().size(), 2U);
    eventlog_raw_provider_unregister(provider);
}

TEST(gate, lazy_events_are_not_built_when_disabled) {
    int made = 0;
    const auto make = [&] {
        ++made;
        return knock{1};
    };
    gate_test::emit(make);
    EXPECT_EQ(made, 0);
    event_listener listener("gate_test:knock");
    gate_test::emit(make);
    EXPECT_EQ(made, 1);
    listener.poll();
    EXPECT_EQ(listener.records().size(), 1U);
}

TEST(gate, status_reports_directory) {
    const eventlog::provider_status status = gate_test::status();
    EXPECT_EQ(status.code, EVENTLOG_STATUS_OK);
    EXPECT_NE(std::string_view(status.text.data()).find(eventlog::test::eventlog_directory()),
              std::string_view::npos);
}

TEST(gate, process_file_has_the_provider) {
    EXPECT_TRUE(eventlog::test::is_published(::getpid(), "gate_test"));
}

TEST(gate, subscriptions_remove_their_files) {
    { const event_listener listener("gate_test:knock"); }
    EXPECT_TRUE(std::filesystem::is_empty(eventlog::test::eventlog_directory() + "/subscriptions"));
}

}  // namespace
