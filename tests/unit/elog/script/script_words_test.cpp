// SPDX-License-Identifier: MIT
//
// A script of one clause that only prints or aggregates expands to the command in elog(1), other
// scripts do not, and mistakes are rejected with their column.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "script/script.hpp"

namespace {

using words = std::vector<std::string>;

words meant_by(const std::string& text) {
    return elog::script::parse(text).words().value_or(words{"run"});
}

std::string rejection_of(const std::string& text) {
    try {
        static_cast<void>(elog::script::parse(text));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

TEST(script_words, shows_events) {
    const words all{"record", "-e", "shop:*"};
    for (const char* text : {"shop:*", " shop:* ", "shop:*{}", "shop:* { }", "shop:*\n{ ; }"}) {
        EXPECT_EQ(meant_by(text), all) << text;
    }
}

TEST(script_words, accepts_several_events) {
    const words both{"record", "-e", "shop:*@warn/orders,money", "-e", "tcp:loss"};
    EXPECT_EQ(meant_by("shop:*@warn/orders,money tcp:loss"), both);
    EXPECT_EQ(meant_by("shop:*@warn/orders,money, tcp:loss {}"), both);
}

TEST(script_words, keeps_sampling_rates_with_their_patterns) {
    EXPECT_EQ(meant_by("shop:* 1/100 tcp:loss"),
              (words{"record", "-e", "shop:* 1/100", "-e", "tcp:loss"}));
    EXPECT_EQ(meant_by("tcp:loss, shop:* 1/7, /items > 2/"),
              (words{"record", "-e", "tcp:loss", "-e", "shop:* 1/7", "--where=items > 2"}));
    EXPECT_EQ(meant_by("shop:* 1/7{ @ = count() }"), (words{"agg", "count()", "-e", "shop:* 1/7"}));
}

TEST(script_words, parses_predicate_between_slashes) {
    EXPECT_EQ(meant_by("tcp:loss /bytes > 1000/"),
              (words{"record", "-e", "tcp:loss", "--where=bytes > 1000"}));
    EXPECT_EQ(meant_by("tcp:loss / peer == 10.0.0.0/8 && why ~ \"a/{*\" /{}"),
              (words{"record", "-e", "tcp:loss", "--where=peer == 10.0.0.0/8 && why ~ \"a/{*\""}));
    EXPECT_EQ(meant_by("tcp:loss /why == \"\\\"/ {\"/ {}"),
              (words{"record", "-e", "tcp:loss", "--where=why == \"\\\"/ {\""}));
    EXPECT_EQ(meant_by("tcp:loss /-1 < bytes/"),
              (words{"record", "-e", "tcp:loss", "--where=-1 < bytes"}));
}

TEST(script_words, parses_aggregation) {
    EXPECT_EQ(meant_by("tcp:loss { @ = count() }"), (words{"agg", "count()", "-e", "tcp:loss"}));
    EXPECT_EQ(meant_by("tcp:loss /bytes > 1/ { @sizes[peer, why] = quantize(bytes), sum(bytes); }"),
              (words{"agg", "quantize(bytes), sum(bytes) by peer, why", "-e", "tcp:loss",
                     "--where=bytes > 1"}));
}

TEST(script_words, parses_aggregation_with_qualified_fields) {
    EXPECT_EQ(meant_by("a:b { @ = top(5, x) }"),
              (words{"agg", "count() by x | top 5", "-e", "a:b"}));
}

TEST(script_words, parses_several_aggregations_with_same_keys) {
    EXPECT_EQ(meant_by("a:b { @n[x] = count(); @s[ x ] = hist(y, 10ms); trunc(@n, 5) }"),
              (words{"agg", "count(), hist(y, 10ms) by x | top 5", "-e", "a:b"}));
    EXPECT_EQ(meant_by("a:b { @n[x] = lquantize(y, 5) }"),
              (words{"agg", "lquantize(y, 5) by x", "-e", "a:b"}));
}

TEST(script_words, are_none_for_what_other_commands_cannot_do) {
    for (const char* text :
         {"a:b { @n[x] = count(); @m[y] = count() }", "a:b { print } c:d { print }",
          "BEGIN { exit } a:b { print }", "a:b, tick-1s { exit() }", "a:b { print; @ = count() }",
          "a:b { printf(\"x\") }", "a:b { stack }", "a:b { print; print }", "a:b { exit() }",
          "a:b { @ = latency(a:b, a:c by x) }", "a:b { @ = count(); print(@) }"}) {
        EXPECT_EQ(meant_by(text), words{"run"}) << text;
    }
}

TEST(script_words, requires_event_first) {
    for (const char* text : {"", "  ", "{}", "/x/", ", {}"}) {
        EXPECT_NE(rejection_of(text).find("PROVIDER:EVENT"), std::string::npos) << text;
    }
}

TEST(script_words, reports_error_column) {
    const struct {
        const char* text;
        const char* message;
    } cases[] = {
        {"a:b/x > 1/ {}", "column 7: the events are followed by"},
        {"a:b x > 1", "column 5: the events are followed by"},
        {"a:b /x > 1", "column 5: the predicate that begins here does not end"},
        {"a:b /x/ y", "column 5: the predicate that begins here does not end"},
        {"a:b //", "column 5: there is nothing between the slashes"},
        {"a:b {", "column 5: the brace is not closed"},
        {"a:b { @ = count() } c:d {", "column 25: the brace is not closed"},
        {"a:b { sing }", "column 7: this is no action"},
        {"a:b { @[x = count() }", "column 5: the brace is not closed"},
        {"a:b { @x] = count() }", "column 9: '= CALL' must follow '@'"},
        {"a:b { @ == count() }", "column 9: '= CALL' must follow '@'"},
        {"a:b { @ = }", "column 10: a call such as count()"},
        {"a:b { trunc(@, 5) }", "column 7: no clause computes @"},
        {"a:b { @ = count(); trunc(@) }", "write 'trunc(@, NUMBER)'"},
        {"a:b { @ = count(); trunc(@, x) }", "column 29: a number from 1 to 1000000"},
        {"a:b { @ = count(); trunc(@, 0) }", "column 29: a number from 1 to"},
        {"a:b { @ = count(); trunc(@, 1000001) }", "column 29: a number from 1 to"},
        {"a:b { @ = count(); trunc(@, 5); trunc(@, 6) }", "column 33: the number of rows"},
        {"a:b { @ = --help }", "column 11: "},
        {"a:b { @ = -j }", "column 11: "},
        {"-j {}", "column 1: options follow the script"},
        {"a:b -x:y {}", "column 5: options follow the script"},
        {"a:b { @ = count(); @s[x] = sume(y) }", "column 28: 'sume' is no function"},
        {"a:b { @ = hist(y, 0) }", "column 19: The width of a bucket"},
        {"a:b { @[x, ] = count() }", "column 11: A field is missing"},
        {"a:b { @[x y] = count() }", "column 11: 'y' does not belong here"},
        {"a:b { @[z] = count() by x }", "column 9: the fields stand in brackets"},
        {"a:b { @ = count(); @ = top(5, x) }", "column 20: @ has other fields"},
        {"a:b { @ = top(5, x); trunc(@, 3) }", "column 22: the number of rows"},
        {"a:b { @ = count(); trunc(5) }", "column 20: write 'trunc(@, NUMBER)'"},
    };
    for (const auto& each : cases) {
        EXPECT_NE(rejection_of(each.text).find(each.message), std::string::npos)
            << each.text << ": " << rejection_of(each.text);
    }
}

TEST(script_words, parses_any_text_within_bounds) {
    const std::string whole =
        R"(a:b, c:d /x == "\"" && y == 1.2.3.4/8/ { @n[x, y] = hist(z, 1ms); trunc(@n, 5) })";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        static_cast<void>(rejection_of(whole.substr(0, size)));
        for (const char* end : {"/", "{", "}", "\"", "\\", "@", "[", "(", ";", ","}) {
            static_cast<void>(rejection_of(whole.substr(0, size) + end));
        }
    }
    EXPECT_NE(rejection_of(std::string(70000, 'a')).find("70000 bytes"), std::string::npos);
}

}  // namespace
