// SPDX-License-Identifier: MIT
//
// The provider of a trace event, and the process of a thread.
#include "tracing/kernel_trace_registry.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schema/schema_binary.hpp"
#include "tracing/process_cache.hpp"

namespace {

using elog::kernel_trace_event;
using eventlog::tracefs::event_name;

/// A format with one field, u64 x.
std::string format_of(const std::string& name, int id, const char* type = "u64") {
    return "name: " + name + "\nID: " + std::to_string(id) +
           "\nformat:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
           "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\tfield:" +
           type + " x;\toffset:8;\tsize:8;\tsigned:0;\n\nprint fmt: \"%d\", REC->x\n";
}

elog::provider_schema schema_of(const char* provider, const char* event, eventlog::level severity) {
    elog::provider_schema schema;
    schema.name = provider;
    elog::event_schema& only = schema.events.emplace_back();
    only.name = event;
    only.severity = severity;
    elog::field_schema& field = only.fields.emplace_back();
    field.name = "x";
    field.type = eventlog::field_type::unsigned_64;
    static_cast<void>(elog::assign_offsets(only));
    elog::write_binary(schema);
    return schema;
}

/// A kernel with these events, numbered from 100, and the schemas that processes have published.
struct machine {
    std::vector<event_name> events;
    std::vector<elog::provider_schema> published;
    elog::event_patterns patterns;

    elog::kernel_trace_registry look_at() {
        return {patterns, [this] { return published; },
                [this](const std::vector<std::string>& systems) {
                    std::vector<event_name> found;
                    for (const event_name& event : events) {
                        if (std::find(systems.begin(), systems.end(), event.system) !=
                            systems.end()) {
                            found.push_back(event);
                        }
                    }
                    return found;
                },
                [this](const event_name& wanted) -> std::optional<std::string> {
                    for (std::size_t i = 0; i < events.size(); ++i) {
                        if (events[i].event == wanted.event) {
                            return format_of(wanted.event, static_cast<int>(100 + i));
                        }
                    }
                    return std::nullopt;
                }};
    }
};

std::string name_of(const kernel_trace_event& event) {
    return event.schema->name + ":" + event.schema->events[event.position].name;
}

TEST(kernel_trace_registry, uses_shortest_matching_provider) {
    machine one;
    one.events = {{"user_events", "eventlog_tcp_fast_loss"}};
    one.patterns.add("tcp_fast:*");
    elog::kernel_trace_registry events = one.look_at();
    const auto found = events.discover();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(name_of(*found[0]), "tcp_fast:loss");
    EXPECT_EQ(events.patterns_matched(), std::vector<bool>{true});
}

TEST(kernel_trace_registry, supports_names_of_each_kernel) {
    for (const event_name& name :
         {event_name{"eventlog", "tcp_loss"}, event_name{"eventlog", "eventlog_tcp_loss"},
          event_name{"eventlog", "eventlog_tcp_loss.3"},
          event_name{"user_events", "eventlog_tcp_loss"},
          event_name{"user_events_multi", "eventlog_tcp_loss.0"}}) {
        const elog::kernel_trace_name parts = elog::parse_kernel_name(name.system, name.event);
        EXPECT_EQ(parts.provider, "") << name.event;
        EXPECT_EQ(parts.event, "tcp_loss") << name.event;
    }
    EXPECT_EQ(elog::parse_kernel_name("eventlog", "eventlog_start").event, "eventlog_start");
    EXPECT_EQ(elog::parse_kernel_name("user_events", "others").provider, "user_events");
    EXPECT_EQ(elog::parse_kernel_name("x86-fpu", "fpu.on").provider, "x86_fpu");
}

TEST(kernel_trace_registry, uses_published_schema) {
    machine one;
    one.events = {{"eventlog", "tcp_fast_loss"}};
    one.published = {schema_of("tcp_fast", "loss", eventlog::level::warn)};
    one.patterns.add("*:loss@warn");
    elog::kernel_trace_registry events = one.look_at();
    const auto found = events.discover();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(name_of(*found[0]), "tcp_fast:loss");
    EXPECT_TRUE(found[0]->is_published);
}

TEST(kernel_trace_registry, ignores_published_schema_with_other_fields) {
    machine one;
    one.events = {{"user_events", "eventlog_tcp_loss"}};
    one.published = {schema_of("tcp", "loss", eventlog::level::warn)};
    one.published[0].events[0].fields[0].type = eventlog::field_type::signed_64;
    one.patterns.add("tcp");
    elog::kernel_trace_registry events = one.look_at();
    const auto found = events.discover();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_FALSE(found[0]->is_published);
}

TEST(kernel_trace_registry, matches_sequences_of_published_schema) {
    using eventlog::field_type;
    const elog::kernel_trace_name name = elog::parse_kernel_name("eventlog", "tcp_loss");
    const auto is_published = [&](const char* type, field_type known, std::uint16_t count) {
        elog::provider_schema schema;
        schema.name = "tcp";
        elog::event_schema& event = schema.events.emplace_back();
        event.name = "loss";
        elog::field_schema& field = event.fields.emplace_back();
        field.name = "x";
        field.type = known;
        field.count = count;
        static_cast<void>(elog::assign_offsets(event));
        std::string text = format_of("tcp_loss", 100, type);
        text.replace(text.find("size:8"), 6, "size:4");
        return elog::find_published(name, eventlog::tracefs::parse_format(text, "eventlog"), schema)
            .has_value();
    };
    EXPECT_TRUE(is_published("__data_loc u32[]", field_type::unsigned_32, 0));
    EXPECT_TRUE(is_published("__rel_loc f64[]", field_type::float_64, 0));
    // The kernel has no booleans.
    EXPECT_TRUE(is_published("__rel_loc u8[]", field_type::boolean, 0));
    EXPECT_TRUE(is_published("__rel_loc u8[]", field_type::unsigned_8, 0));
    EXPECT_TRUE(is_published("__rel_loc u8[]", field_type::bytes, 1));
    EXPECT_FALSE(is_published("__data_loc u32[]", field_type::signed_32, 0));
    EXPECT_FALSE(is_published("__data_loc u8[]", field_type::unsigned_16, 0));
    EXPECT_FALSE(is_published("__data_loc u64[]", field_type::unsigned_8, 0));
    EXPECT_FALSE(is_published("u32", field_type::unsigned_32, 0));
    EXPECT_FALSE(is_published("__data_loc u32[]", field_type::unsigned_32, 1));
}

TEST(kernel_trace_registry, derives_sequences) {
    std::string text = format_of("arrays", 100, "__data_loc u64[]");
    text.replace(text.find("size:8"), 6, "size:4");
    const elog::event_schema event =
        elog::derive_event(eventlog::tracefs::parse_format(text, "arrays"));
    ASSERT_EQ(event.fields.size(), 1U);
    EXPECT_EQ(event.fields[0].type, eventlog::field_type::unsigned_64);
    EXPECT_EQ(event.fields[0].count, 0);
    EXPECT_EQ(event.fixed_size, 4);
}

TEST(kernel_trace_registry, excludes_kernel_events_unless_named) {
    machine one;
    one.events = {{"sched", "sched_switch"}, {"user_events", "eventlog_shop_order"}};
    one.patterns.add("*:*");
    elog::kernel_trace_registry all = one.look_at();
    EXPECT_EQ(all.discover().size(), 1U);
    one.patterns.add("sched:sched_switch");
    elog::kernel_trace_registry named = one.look_at();
    const auto found = named.discover();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(name_of(*named.find(100)), "sched:sched_switch");
}

TEST(kernel_trace_registry, groups_events_by_provider) {
    machine one;
    one.events = {{"user_events", "eventlog_shop_order"},
                  {"user_events_multi", "eventlog_shop_order.1"},
                  {"user_events", "eventlog_shop_item"}};
    one.patterns.add("shop");
    elog::kernel_trace_registry events = one.look_at();
    ASSERT_EQ(events.discover().size(), 3U);
    EXPECT_EQ(events.find(100)->schema, events.find(102)->schema);
    // Another format of the same event is another version of the provider.
    EXPECT_NE(events.find(100)->schema, events.find(101)->schema);
    EXPECT_EQ(name_of(*events.find(100)), name_of(*events.find(101)));
}

TEST(kernel_trace_registry, has_one_schema_per_event_version) {
    machine one;
    one.events = {{"user_events", "eventlog_shop_order"},
                  {"user_events_multi", "eventlog_shop_order.1"},
                  {"user_events_multi", "eventlog_shop_order.2"},
                  {"user_events", "eventlog_shop_item"},
                  {"user_events_multi", "eventlog_shop_item.1"}};
    one.patterns.add("shop");
    elog::kernel_trace_registry events = one.look_at();
    ASSERT_EQ(events.discover().size(), 5U);
    EXPECT_EQ(events.find(103)->schema, events.find(100)->schema);
    EXPECT_EQ(events.find(104)->schema, events.find(101)->schema);
    EXPECT_NE(events.find(102)->schema, events.find(101)->schema);
}

TEST(kernel_trace_registry, starts_new_schema_when_full) {
    machine one;
    for (std::size_t i = 0; i <= eventlog::schema_format::events_max; ++i) {
        one.events.push_back({"user_events", "eventlog_shop_event" + std::to_string(i)});
    }
    one.patterns.add("shop");
    elog::kernel_trace_registry events = one.look_at();
    ASSERT_EQ(events.discover().size(), eventlog::schema_format::events_max + 1);
    const auto schema_of_event = [&](std::size_t i) {
        return events.find(static_cast<std::uint16_t>(100 + i))->schema;
    };
    EXPECT_EQ(schema_of_event(0)->events.size(), eventlog::schema_format::events_max);
    EXPECT_EQ(schema_of_event(eventlog::schema_format::events_max)->events.size(), 1U);
}

TEST(kernel_trace_registry, finds_late_event_once) {
    machine one;
    one.patterns.add("shop");
    elog::kernel_trace_registry events = one.look_at();
    EXPECT_TRUE(events.discover().empty());
    EXPECT_EQ(events.patterns_matched(), std::vector<bool>{false});
    one.events = {{"user_events", "eventlog_shop_order"}};
    EXPECT_EQ(events.discover().size(), 1U);
    EXPECT_TRUE(events.discover().empty());
}

TEST(kernel_trace_registry, looks_up_publisher_again_for_late_event) {
    machine one;
    one.events = {{"user_events", "eventlog_shop_order"}, {"user_events", "eventlog_shop_item"}};
    one.patterns.add("shop:*@info");
    elog::kernel_trace_registry events = one.look_at();
    ASSERT_EQ(events.discover().size(), 2U);
    one.published = {schema_of("shop", "order", eventlog::level::warn),
                     schema_of("shop", "item", eventlog::level::trace)};
    ASSERT_NE(events.find(100), nullptr);
    EXPECT_TRUE(events.find(100)->is_published);
    // Its level was unknown when it was discovered.
    EXPECT_EQ(events.find(101), nullptr);
    EXPECT_EQ(events.find(102), nullptr);
}

TEST(kernel_trace_registry, finds_reappeared_event) {
    machine one;
    one.events = {{"user_events", "eventlog_shop_order"}, {"user_events", "eventlog_shop_item"}};
    one.patterns.add("shop:order");
    one.patterns.add("shop:i*");
    elog::kernel_trace_registry events = one.look_at();
    ASSERT_EQ(events.discover().size(), 2U);
    events.forget(101);
    events.forget(102);
    EXPECT_EQ(events.patterns_matched(), (std::vector<bool>{true, false}));
    EXPECT_EQ(events.find(101), nullptr);
    const std::vector<const kernel_trace_event*> again = events.discover();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(name_of(*again[0]), "shop:item");
    EXPECT_EQ(events.patterns_matched(), (std::vector<bool>{true, true}));
}

TEST(process_cache, remembers_ended_processes) {
    bool lives = true;
    elog::process_cache processes(
        [&](std::uint32_t thread) -> std::optional<elog::process_info> {
            return lives ? std::optional(elog::process_info{thread - 1, 1000, 7, "shop"})
                         : std::nullopt;
        },
        [](std::uint32_t) { return std::string("saved"); });
    EXPECT_EQ(processes.of(42).pid, 41U);
    lives = false;
    EXPECT_EQ(processes.of(42).name, "shop");
    EXPECT_EQ(processes.of(43).name, "saved");
    EXPECT_EQ(processes.of(43).pid, 43U);
    EXPECT_EQ(processes.of(0).name, "idle");
}

/// The kernel names the process of a thread.
TEST(process_cache, resolves_process_of_ended_thread) {
    elog::process_cache processes(
        [](std::uint32_t thread) -> std::optional<elog::process_info> {
            return thread == 40 ? std::optional(elog::process_info{40, 1000, 7, "shop"})
                                : std::nullopt;
        },
        [](std::uint32_t) { return std::string(); });
    EXPECT_EQ(processes.of(42, 40), (elog::process_info{40, 1000, 7, "shop"}));
    EXPECT_EQ(processes.of(52, 50), (elog::process_info{50, 0, 0, "?"}));
}

TEST(process_cache, distinguishes_reused_thread_id) {
    elog::process_cache processes(
        [](std::uint32_t thread) -> std::optional<elog::process_info> {
            return thread == 42 || thread == 60
                       ? std::optional(elog::process_info{60, 1000, 9, "later"})
                       : std::nullopt;
        },
        [](std::uint32_t) { return std::string("saved"); });
    EXPECT_EQ(processes.of(42, 40).pid, 40U);
    EXPECT_EQ(processes.of(42, 60).name, "later");
    EXPECT_EQ(processes.of(42, 40).pid, 40U);
}

}  // namespace
