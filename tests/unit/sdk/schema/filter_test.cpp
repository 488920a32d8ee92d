// SPDX-License-Identifier: MIT
#include "schema/filter.hpp"

#include <cstdint>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

namespace {

using namespace eventlog::core;
using namespace std::string_view_literals;
using eventlog::level;

constexpr eventlog::keyword receive{0, "receive"};
constexpr eventlog::keyword send{5, "send"};

struct quiet {
    std::uint32_t number;
};
using filter_test = eventlog::provider<"filter_test", quiet>;

}  // namespace

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<filter_test>{
    .keywords = {receive, send}};

namespace {

keyword_names names() {
    schema_reader schema;
    error_text ignored;
    EXPECT_TRUE(schema.open(filter_test::schema(), ignored));
    return keyword_names(schema);
}

event_description event(std::string_view name, level severity = level::info,
                        std::uint64_t keywords = 0, bool session_bound = false) {
    event_description made;
    made.name = name;
    made.severity = severity;
    made.keywords = keywords;
    made.session_bound = session_bound;
    return made;
}

bool wants(std::string_view filter, std::string_view provider, const event_description& what) {
    return judge(filter, provider, what, names()) == verdict::wanted;
}

TEST(filter, matches_if_any_rule_matches) {
    constexpr auto filter = "tcp:loss\0shop:order_*\0"sv;
    EXPECT_TRUE(wants(filter, "tcp", event("loss")));
    EXPECT_TRUE(wants(filter, "shop", event("order_placed")));
    EXPECT_FALSE(wants(filter, "tcp", event("order_placed")));
    EXPECT_FALSE(wants(filter, "shop", event("payment")));
}

TEST(filter, damaged_matches_nothing_and_stays_in_bounds) {
    EXPECT_FALSE(wants(""sv, "tcp", event("loss")));
    EXPECT_FALSE(wants("\0\0\0"sv, "tcp", event("loss")));
    EXPECT_FALSE(wants("tcp"sv, "tcp", event("loss")));
    EXPECT_FALSE(wants("tcp:loss@loud"sv, "tcp", event("loss")));
    EXPECT_FALSE(wants("tcp:loss/"sv, "tcp", event("loss")));
    EXPECT_TRUE(wants("tcp:loss"sv, "tcp", event("loss")));
}

TEST(filter, matches_levels_up_to_limit) {
    constexpr level levels[] = {level::error, level::warn, level::info, level::verbose,
                                level::trace};
    constexpr std::string_view filters[] = {"a:b@error", "a:b@warn", "a:b@info", "a:b@verbose",
                                            "a:b@trace"};
    for (int asked = 0; asked < 5; ++asked) {
        for (int is = 0; is < 5; ++is) {
            EXPECT_EQ(wants(filters[asked], "a", event("b", levels[is])), is <= asked)
                << filters[asked] << " " << is;
        }
    }
    EXPECT_TRUE(wants("a:b", "a", event("b", level::trace)));
}

TEST(filter, matches_events_with_any_keyword_or_without_keywords) {
    EXPECT_TRUE(wants("a:b/receive", "a", event("b", level::info, receive)));
    EXPECT_FALSE(wants("a:b/receive", "a", event("b", level::info, send)));
    EXPECT_TRUE(wants("a:b/receive", "a", event("b", level::info, receive | send)));
    EXPECT_TRUE(wants("a:b/send,receive", "a", event("b", level::info, send)));
    EXPECT_TRUE(wants("a:b/receive", "a", event("b")));
    EXPECT_TRUE(wants("a:b", "a", event("b", level::info, send)));
}

TEST(filter, resolves_keywords_by_pattern) {
    EXPECT_TRUE(wants("a:b/s*", "a", event("b", level::info, send)));
    EXPECT_FALSE(wants("a:b/elsewhere", "a", event("b", level::info, send)));
}

TEST(filter, accepts_numbers_of_levels) {
    EXPECT_TRUE(wants("a:b@4", "a", event("b", level::verbose)));
    EXPECT_FALSE(wants("a:b@3", "a", event("b", level::verbose)));
    EXPECT_FALSE(wants("a:b@0", "a", event("b", level::error)));
    EXPECT_FALSE(wants("a:b@6", "a", event("b", level::error)));
    EXPECT_FALSE(wants("a:b@12", "a", event("b", level::error)));
}

TEST(filter, accepts_bits_of_keywords) {
    EXPECT_TRUE(wants("a:b/0x20", "a", event("b", level::info, send)));
    EXPECT_FALSE(wants("a:b/0x1", "a", event("b", level::info, send)));
    EXPECT_TRUE(wants("a:b/0x1,s*", "a", event("b", level::info, send)));
    EXPECT_TRUE(wants("a:b/0X8000000000000000", "a", event("b", level::info, 1ULL << 63U)));
    EXPECT_TRUE(wants("a:b/0xfF", "a", event("b", level::info, receive)));
    for (const std::string_view bad : {"0x", "0xg", "0x10000000000000000", "receive,0x1z"}) {
        EXPECT_FALSE(are_valid_masks(bad)) << bad;
    }
    EXPECT_TRUE(are_valid_masks("receive,0x1"));
}

TEST(filter, requires_level_and_keyword_of_same_rule) {
    constexpr auto filter = "a:b@warn/receive\0a:b@trace/send\0"sv;
    EXPECT_FALSE(wants(filter, "a", event("b", level::trace, receive)));
    EXPECT_TRUE(wants(filter, "a", event("b", level::trace, send)));
    EXPECT_TRUE(wants(filter, "a", event("b", level::warn, receive)));
}

TEST(filter, with_session_mark_matches_session_events_only) {
    const auto bound = event("b", level::info, 0, true);
    EXPECT_EQ(judge("a:b#", "a", bound, names()), verdict::in_session);
    EXPECT_EQ(judge("a:b#", "a", event("b"), names()), verdict::unwanted);
    EXPECT_EQ(judge("a:b#\0a:*\0"sv, "a", bound, names()), verdict::wanted);
}

TEST(filter, with_processes_matches_those_only) {
    constexpr auto filter = "a:b\0=42\0~ngin?\0~*work*\0"sv;
    EXPECT_TRUE(wants_process(filter, 42, "other"));
    EXPECT_TRUE(wants_process(filter, 7, "nginx"));
    EXPECT_TRUE(wants_process(filter, 7, "a worker"));
    EXPECT_FALSE(wants_process(filter, 7, "other"));
    EXPECT_FALSE(wants_process(filter, 4, "ngin"));
    EXPECT_FALSE(wants_process(filter, 420, "nginxx"));
    EXPECT_TRUE(wants(filter, "a", event("b")));
}

TEST(filter, without_processes_matches_all) {
    EXPECT_TRUE(wants_process("a:b\0"sv, 7, "other"));
    EXPECT_TRUE(wants_process(""sv, 7, ""));
}

TEST(filter, does_not_count_process_as_rule) {
    EXPECT_FALSE(wants("~a:b"sv, "~a", event("b")));
    EXPECT_FALSE(wants("=1:b"sv, "=1", event("b")));
}

TEST(filter, with_invalid_process_matches_none) {
    for (const std::string_view process :
         {"=", "=0", "=x", "=4x", "=4294967338", "=18446744073709551658"}) {
        EXPECT_FALSE(wants_process(process, 42, "name")) << process;
        EXPECT_FALSE(wants_process(process, 0, "name")) << process;
    }
    EXPECT_TRUE(wants_process("=4294967295"sv, 4294967295, "name"));
    EXPECT_FALSE(wants_process("~"sv, 42, "name"));
}

}  // namespace
