// SPDX-License-Identifier: MIT
//
// The user's selection as a request to the kernel module.
#include "kmod/device_request.hpp"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

using namespace std::string_view_literals;

elog::event_patterns patterns(std::initializer_list<const char*> all) {
    elog::event_patterns made;
    for (const char* each : all) {
        made.add(each);
    }
    return made;
}

std::string complaint_about(const elog::event_patterns& asked) {
    try {
        static_cast<void>(elog::device_request(asked));
    } catch (const elog::user_error& mistake) {
        return mistake.what();
    }
    return "";
}

TEST(device_request, creates_one_rule_per_pattern) {
    const elog::device_request request(patterns({"shop", "http*:re?uest@warn"}));
    ASSERT_EQ(request.rules.size(), 2U);
    EXPECT_EQ(&request.rules[0].provider[0], "shop"sv);
    EXPECT_EQ(&request.rules[0].event[0], "*"sv);
    EXPECT_EQ(request.rules[0].level, 5U);
    EXPECT_EQ(&request.rules[1].provider[0], "http*"sv);
    EXPECT_EQ(&request.rules[1].event[0], "re?uest"sv);
    EXPECT_EQ(request.rules[1].level, 2U);
    EXPECT_EQ(request.rules[1].flags, 0U);
    EXPECT_FALSE(request.names_keywords);
}

TEST(device_request, includes_all_keywords_if_any_is_named) {
    const elog::device_request request(patterns({"shop:*/sales,returns"}));
    ASSERT_EQ(request.rules.size(), 1U);
    EXPECT_EQ(request.rules[0].keywords, 0U);
    EXPECT_TRUE(request.names_keywords);
}

TEST(device_request, includes_sessions) {
    elog::event_patterns asked = patterns({"shop", "shop:step#"});
    asked.add_session(7);
    const elog::device_request request(asked);
    EXPECT_EQ(request.sessions, std::vector<std::uint64_t>{7});
    EXPECT_EQ(request.rules.at(0).flags, 0U);
    EXPECT_EQ(request.rules.at(1).flags, std::uint32_t{EVENTLOG_RULE_SESSIONS});
}

TEST(device_request, includes_processes) {
    elog::event_patterns asked = patterns({"shop"});
    asked.add_process(4242);
    asked.add_process("nginx*");
    const elog::device_request request(asked);
    ASSERT_EQ(request.processes.size(), 2U);
    EXPECT_EQ(request.processes[0].pid, 4242U);
    EXPECT_EQ(&request.processes[0].name[0], ""sv);
    EXPECT_EQ(request.processes[1].pid, 0U);
    EXPECT_EQ(&request.processes[1].name[0], "nginx*"sv);
}

TEST(device_request, reports_kernel_limits) {
    EXPECT_NE(complaint_about(patterns({(std::string(64, 'x') + ":*").c_str()})).find("63"),
              std::string::npos);
    elog::event_patterns many;
    for (int i = 0; i < EVENTLOG_RULES_MAX; ++i) {
        many.add("shop:event" + std::to_string(i));
    }
    EXPECT_EQ(complaint_about(many), "");
    many.add("shop:one_more");
    EXPECT_NE(complaint_about(many).find("64 patterns"), std::string::npos);
}

}  // namespace
