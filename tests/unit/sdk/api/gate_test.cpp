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
#include "provider/registered_provider.hpp"
#include "scratch.hpp"

namespace {

using eventlog::test::listener;

struct knock {
    std::uint32_t times;
};
struct ring_bell {
    std::uint32_t times;
};
using gate_test = eventlog::provider<"gate_test", knock, ring_bell>;

TEST(gate, is_closed_when_nobody_listens) {
    EXPECT_FALSE(gate_test::enabled<knock>());
    gate_test::emit(knock{1});
}

TEST(gate, opens_for_the_wanted_event_alone_and_closes_at_the_end) {
    std::optional<listener> ears(std::in_place, "gate_test:knock");
    EXPECT_TRUE(gate_test::enabled<knock>());
    EXPECT_FALSE(gate_test::enabled<ring_bell>());
    ears.reset();
    EXPECT_FALSE(gate_test::enabled<knock>());
}

TEST(gate, has_one_bit_for_each_subscription) {
    std::optional<listener> first(std::in_place, "gate_test:*");
    std::optional<listener> second(std::in_place, "gate_test:knock");
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

TEST(gate, slots_are_used_again_and_events_go_to_the_successor_alone) {
    for (std::uint32_t i = 0; i < 50; ++i) {
        listener ears("gate_test:knock");
        gate_test::emit(knock{i});
        ears.poll();
        ASSERT_EQ(ears.records().size(), 1U) << i;
        EXPECT_EQ(std::get<std::uint64_t>(ears.field(ears.records()[0], "times")), i);
    }
}

TEST(gate, takes_sixteen_subscriptions_and_refuses_the_next_in_words) {
    std::vector<std::unique_ptr<listener>> all;
    for (int i = 0; i < EVENTLOG_SUBSCRIPTIONS_MAX; ++i) {
        all.push_back(std::make_unique<listener>("gate_test:knock"));
    }
    EXPECT_THROW(listener("gate_test:knock"), elog::user_error);
    gate_test::emit(knock{1});
    for (const auto& ears : all) {
        ears->poll();
        EXPECT_EQ(ears->records().size(), 1U);
    }
    all.clear();
    EXPECT_FALSE(gate_test::enabled<knock>());
}

TEST(gate, provider_remembers_the_subscription_that_an_event_went_to_alone) {
    alignas(65536) static std::array<std::uint32_t, 16384> gate{};
    const auto& schema = gate_test::schema();
    const eventlog_provider_definition definition{
        sizeof definition, 2, gate.data(), sizeof gate, schema.data(), schema.size()};
    eventlog_provider* provider = eventlog_provider_register(&definition);
    ASSERT_NE(provider, nullptr);
    const auto emit_and_look = [provider] {
        const std::uint64_t payload = 1;
        eventlog_emit(provider, 0, &payload, sizeof payload);
        return provider->latest.load()->gate_bit;
    };
    std::optional<listener> first(std::in_place, "gate_test:*");
    EXPECT_EQ(emit_and_look(), 1U);
    // Two at once: nothing that threads share is written to.
    std::optional<listener> second(std::in_place, "gate_test:*");
    EXPECT_EQ(emit_and_look(), 1U);
    first.reset();
    EXPECT_EQ(emit_and_look(), 2U);
    second->poll();
    EXPECT_EQ(second->records().size(), 2U);
    eventlog_provider_unregister(provider);
}

TEST(gate, lazy_events_are_not_made_when_nobody_listens) {
    int made = 0;
    const auto make = [&] {
        ++made;
        return knock{1};
    };
    gate_test::emit_lazily(make);
    EXPECT_EQ(made, 0);
    listener ears("gate_test:knock");
    gate_test::emit_lazily(make);
    EXPECT_EQ(made, 1);
    ears.poll();
    EXPECT_EQ(ears.records().size(), 1U);
}

TEST(gate, status_says_where_the_provider_is_published) {
    const eventlog::provider_status status = gate_test::status();
    EXPECT_EQ(status.code, EVENTLOG_OK);
    EXPECT_NE(std::string_view(status.text.data()).find(eventlog::test::eventlog_directory()),
              std::string_view::npos);
}

TEST(gate, provider_file_is_where_others_look_for_it) {
    const std::string name = "gate_test." + std::to_string(::getpid()) + ".0";
    EXPECT_TRUE(
        std::filesystem::exists(eventlog::test::eventlog_directory() + "/providers/" + name));
}

TEST(gate, subscriptions_leave_no_file_behind) {
    { const listener ears("gate_test:knock"); }
    EXPECT_TRUE(std::filesystem::is_empty(eventlog::test::eventlog_directory() + "/subscriptions"));
}

}  // namespace
