// SPDX-License-Identifier: MIT
//
// Each one-liner expands to the command in elog(1), or is rejected with an error text.
#include "aggregate/one_liner.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

using words = std::vector<std::string>;

words meant_by(const std::string& text) {
    return elog::one_liner::parse(text).words();
}

std::string rejection_of(const std::string& text) {
    try {
        static_cast<void>(elog::one_liner::parse(text));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

TEST(one_liner, shows_events) {
    const words all{"record", "-e", "shop:*"};
    for (const char* text : {"shop:*", " shop:* ", "shop:*{}", "shop:* { }", "shop:*\n{ ; }"}) {
        EXPECT_EQ(meant_by(text), all) << text;
    }
}

TEST(one_liner, accepts_several_events) {
    const words both{"record", "-e", "shop:*@warn/orders,money", "-e", "tcp:loss"};
    EXPECT_EQ(meant_by("shop:*@warn/orders,money tcp:loss"), both);
    EXPECT_EQ(meant_by("shop:*@warn/orders,money, tcp:loss {}"), both);
}

TEST(one_liner, keeps_sampling_rates_with_their_patterns) {
    EXPECT_EQ(meant_by("shop:* 1/100 tcp:loss"),
              (words{"record", "-e", "shop:* 1/100", "-e", "tcp:loss"}));
    EXPECT_EQ(meant_by("tcp:loss, shop:* 1/7, /items > 2/"),
              (words{"record", "-e", "tcp:loss", "-e", "shop:* 1/7", "--where=items > 2"}));
    EXPECT_EQ(meant_by("shop:* 1/7{ @ = count() }"), (words{"agg", "count()", "-e", "shop:* 1/7"}));
}

TEST(one_liner, parses_predicate_between_slashes) {
    EXPECT_EQ(meant_by("tcp:loss /bytes > 1000/"),
              (words{"record", "-e", "tcp:loss", "--where=bytes > 1000"}));
    EXPECT_EQ(meant_by("tcp:loss / peer in 10.0.0.0/8 && why ~ \"a/{*\" /{}"),
              (words{"record", "-e", "tcp:loss", "--where=peer in 10.0.0.0/8 && why ~ \"a/{*\""}));
    EXPECT_EQ(meant_by("tcp:loss /why == \"\\\"/ {\"/ {}"),
              (words{"record", "-e", "tcp:loss", "--where=why == \"\\\"/ {\""}));
    EXPECT_EQ(meant_by("tcp:loss /-1 < bytes/"),
              (words{"record", "-e", "tcp:loss", "--where=-1 < bytes"}));
}

TEST(one_liner, parses_aggregation) {
    EXPECT_EQ(meant_by("tcp:loss { @ = count() }"), (words{"agg", "count()", "-e", "tcp:loss"}));
    EXPECT_EQ(meant_by("tcp:loss /bytes > 1/ { @sizes[peer, why] = quantize(bytes), sum(bytes); }"),
              (words{"agg", "quantize(bytes), sum(bytes) by peer, why", "-e", "tcp:loss",
                     "--where=bytes > 1"}));
}

TEST(one_liner, parses_aggregation_with_qualified_fields) {
    EXPECT_EQ(meant_by("a:b { @ = top(5, x) }"), (words{"agg", "top(5, x)", "-e", "a:b"}));
}

TEST(one_liner, parses_several_aggregations_with_same_keys) {
    EXPECT_EQ(meant_by("a:b { @n[x] = count(); @s[ x ] = hist(y, 10ms); trunc(@n, 5) }"),
              (words{"agg", "count(), hist(y, 10ms) by x | top 5", "-e", "a:b"}));
    EXPECT_EQ(rejection_of("a:b { @[x] = count(); @[y] = count() }"),
              "one-liner, column 23: all that one command computes has the same keys in brackets. "
              "For others, run elog once more.");
}

TEST(one_liner, requires_event_first) {
    for (const char* text : {"", "  ", "{}", "/x/", ", {}"}) {
        EXPECT_NE(rejection_of(text).find("it begins with PROVIDER:EVENT"), std::string::npos)
            << text;
    }
}

TEST(one_liner, reports_error_column) {
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
        {"a:b { @ = count() } c:d {}", "column 21: nothing can follow '}'"},
        {R"(a:b { printf("x") })", "column 7: an action is"},
        {"a:b { @[x = count() }", "column 5: the brace is not closed"},
        {"a:b { @x] = count() }", "column 9: '= CALL' must follow '@'"},
        {"a:b { @ == count() }", "column 9: '= CALL' must follow '@'"},
        {"a:b { @ = }", "column 10: a call such as count()"},
        {"a:b { trunc(@, 5) }", "column 7: there is nothing that could be truncated"},
        {"a:b { @ = count(); trunc(@) }", "write 'trunc(@, NUMBER)'"},
        {"a:b { @ = count(); trunc(@, x) }", "column 29: a number from 1 to 1000000"},
        {"a:b { @ = count(); trunc(@, 0) }", "column 29: a number from 1 to"},
        {"a:b { @ = count(); trunc(@, 1000001) }", "column 29: a number from 1 to"},
        {"a:b { @ = count(); trunc(@, 5); trunc(@, 6) }", "column 33: the number of rows"},
        {"a:b { @ = --help }", "column 11: "},
        {"a:b { @ = -j }", "column 11: "},
        {"-j {}", "column 1: options follow the one-liner"},
        {"a:b -x:y {}", "column 5: options follow the one-liner"},
        {"a:b { @ = count(); @s[x] = sume(y) }", "column 28: 'sume' is no function"},
        {"a:b { @ = hist(y, 0) }", "column 19: The width of a bucket"},
        {"a:b { @[x, ] = count() }", "column 11: A field is missing"},
        {"a:b { @[x y] = count() }", "column 11: 'y' does not belong here"},
        {"a:b { @[z] = count() by x }", "column 14: this contains fields"},
        {"a:b { @ = count(); @ = top(5, x) }", "column 24: this contains fields"},
        {"a:b { @ = top(5, x); trunc(@, 3) }", "column 11: this contains fields"},
        {"a:b { @ = count(); trunc(5) }", "column 20: write 'trunc(@, NUMBER)'"},
    };
    for (const auto& each : cases) {
        EXPECT_NE(rejection_of(each.text).find(each.message), std::string::npos)
            << each.text << ": " << rejection_of(each.text);
    }
}

TEST(one_liner, parses_any_text_within_bounds) {
    const std::string whole =
        R"(a:b, c:d /x == "\"" && y in 1.2.3.4/8/ { @n[x, y] = hist(z, 1ms); trunc(@n, 5) })";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        static_cast<void>(rejection_of(whole.substr(0, size)));
        for (const char* end : {"/", "{", "}", "\"", "\\", "@", "[", "(", ";", ","}) {
            static_cast<void>(rejection_of(whole.substr(0, size) + end));
        }
    }
    EXPECT_NE(rejection_of(std::string(10000, 'a')).find("10000 characters"), std::string::npos);
}

}  // namespace
