// SPDX-License-Identifier: MIT
//
// The filter of a subscription in shared memory, with the sampling of its reader.
#include "schema/stored_filter.hpp"

#include <linux/eventlog.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "schema/filter.hpp"

namespace {

namespace core = eventlog::core;
using namespace std::string_view_literals;

elog::event_patterns patterns_of(const std::vector<std::string>& texts) {
    elog::event_patterns patterns;
    for (const std::string& text : texts) {
        patterns.add(text);
    }
    return patterns;
}

std::vector<std::string> rules_for_applications(std::string_view list) {
    std::vector<std::string> found;
    core::filter_rule rule;
    while (core::next_rule(list, rule)) {
        found.push_back(fmt::format("{}:{}", rule.provider, rule.event));
    }
    return found;
}

TEST(stored_filter, without_sampling_is_that_of_applications) {
    elog::event_patterns patterns = patterns_of({"shop:*", "net"});
    patterns.add_process("nginx*");
    EXPECT_EQ(elog::pack_filter(patterns, {}), patterns.packed());
    EXPECT_EQ(elog::pack_filter(patterns, {{1, 1}, 0}), patterns.packed());
}

TEST(stored_filter, returns_rules_rates_and_processes) {
    elog::event_patterns patterns = patterns_of({"shop:order_*", "net:*@warn/a", "disk"});
    patterns.add_process(4242U);
    patterns.add_process("nginx*");
    const std::string packed = elog::pack_filter(patterns, {{100, 1, 7}, 10'000});
    const elog::stored_filter found = elog::unpack_filter(packed);
    EXPECT_EQ(found.rules, (std::vector<std::string>{"shop:order_*", "net:*@warn/a", "disk:*"}));
    EXPECT_EQ(found.sampling.every, (std::vector<std::uint64_t>{100, 1, 7}));
    EXPECT_EQ(found.sampling.max_rate, 10'000U);
    EXPECT_EQ(found.processes, (std::vector<std::string>{"=4242", "~nginx*"}));
    EXPECT_EQ(elog::sampled_rules(found),
              (std::vector<std::string>{"shop:order_* 1/100", "net:*@warn/a", "disk:* 1/7"}));
}

TEST(stored_filter, does_not_change_rules_and_processes_for_applications) {
    elog::event_patterns patterns = patterns_of({"shop:order_*", "net:*"});
    patterns.add_process("nginx*");
    const std::string packed = elog::pack_filter(patterns, {{100, 7}, 10'000});
    EXPECT_EQ(rules_for_applications(packed), (std::vector<std::string>{"shop:order_*", "net:*"}));
    EXPECT_TRUE(core::wants_process(packed, 1, "nginx-worker"));
    EXPECT_FALSE(core::wants_process(packed, 1, "postgres"));
}

TEST(stored_filter, has_marks_of_sessions_in_rules) {
    elog::event_patterns patterns = patterns_of({"shop:*"});
    patterns.add_session(7);
    const elog::stored_filter found = elog::unpack_filter(elog::pack_filter(patterns, {{5}, 0}));
    EXPECT_EQ(found.rules, std::vector<std::string>{"shop:*#"});
    EXPECT_EQ(found.sampling.every, std::vector<std::uint64_t>{5});
    const std::vector<std::uint64_t> sessions{7};
    EXPECT_EQ(elog::patterns_of(found, sessions).packed(), "shop:*#\0"sv);
    EXPECT_EQ(elog::patterns_of(found, sessions).sessions(), sessions);
}

TEST(stored_filter, leaves_out_invalid_entries) {
    const elog::stored_filter found = elog::unpack_filter(
        "%5\0a:b\0%0\0%\0%x\0%99999999999\0\0c:d\0%-1\0%3x\0<0\0<abc\0<99999999999999999999"sv);
    EXPECT_EQ(found.rules, (std::vector<std::string>{"a:b", "c:d"}));
    EXPECT_EQ(found.sampling.every, (std::vector<std::uint64_t>{1, 1}));
    EXPECT_EQ(found.sampling.max_rate, 0U);
    EXPECT_FALSE(found.sampling.omits_any());
    EXPECT_TRUE(elog::unpack_filter({}).rules.empty());
}

TEST(stored_filter, survives_too_many_sessions_and_rules) {
    std::string list;
    while (list.size() + 5 <= EVENTLOG_FILTER_SIZE_MAX) {
        list += "a:b\0"sv;
    }
    const std::vector<std::uint64_t> sessions(EVENTLOG_SESSIONS_MAX + 1, 1);
    EXPECT_EQ(elog::patterns_of(elog::unpack_filter(list), sessions).sessions().size(),
              EVENTLOG_SESSIONS_MAX);
}

TEST(stored_filter, rejects_rates_without_room) {
    elog::event_patterns patterns;
    elog::sampling_options sampling;
    // Each rule takes 16 bytes alone, and with its rate and one byte for a mark 28.
    while (patterns.size() < EVENTLOG_FILTER_SIZE_MAX / 17) {
        patterns.add("provider:event_");
        sampling.every.push_back(elog::sampling_every_max);
    }
    EXPECT_THROW(static_cast<void>(elog::pack_filter(patterns, sampling)), elog::user_error);
}

}  // namespace
