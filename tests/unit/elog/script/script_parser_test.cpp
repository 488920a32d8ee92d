// SPDX-License-Identifier: MIT
//
// Scripts of several clauses are parsed into probes, predicates and actions, and each mistake is
// rejected at its line and column.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "script/script.hpp"
#include "script/script_mistake.hpp"

namespace {

using elog::action_kind;
using elog::probe_kind;
using elog::script;

elog::script_mistake mistake_in(std::string_view text, std::string_view file = {}) {
    try {
        static_cast<void>(script::parse(text));
    } catch (const elog::user_error& error) {
        return elog::locate_mistake(error.what(), text, file);
    }
    return {"none", {}};
}

TEST(script_parser, splits_clauses_and_probes) {
    const script parsed = script::parse(
        "# comment { of\n"
        "BEGIN { printf(\"start\\n\") }\n"
        "shop:a, shop:b@warn/x,y tcp:loss /items > 2 && net == 10.0.0.0/8/ { print; exit() }\n"
        "tick-250ms, END { snapshot(\"slow { order\") }");
    ASSERT_EQ(parsed.clauses.size(), 3U);
    EXPECT_EQ(parsed.clauses[0].probes[0].kind, probe_kind::begin);
    EXPECT_EQ(parsed.clauses[0].actions[0].kind, action_kind::format);
    ASSERT_EQ(parsed.clauses[1].probes.size(), 3U);
    EXPECT_EQ(parsed.clauses[1].probes[1].pattern, "shop:b@warn/x,y");
    EXPECT_EQ(parsed.clauses[1].predicate, "items > 2 && net == 10.0.0.0/8");
    ASSERT_EQ(parsed.clauses[1].actions.size(), 2U);
    EXPECT_EQ(parsed.clauses[1].actions[1].kind, action_kind::exit);
    EXPECT_EQ(parsed.clauses[2].probes[0].interval, 250'000'000);
    EXPECT_EQ(parsed.clauses[2].probes[1].kind, probe_kind::end);
    EXPECT_EQ(parsed.clauses[2].actions[0].text, "slow { order");
    EXPECT_EQ(parsed.patterns(),
              (std::vector<std::string>{"shop:a", "shop:b@warn/x,y", "tcp:loss"}));
}

TEST(script_parser, shares_an_aggregation_between_clauses) {
    const script parsed = script::parse(
        "a:b { @n[x] = count(); @s = sum(y), avg(y) } c:d { @n[x] = count() } END { print(@s); "
        "clear(@n) }");
    ASSERT_EQ(parsed.results.size(), 2U);
    EXPECT_EQ(parsed.results[0].query.text(), "count() by x");
    EXPECT_EQ(parsed.results[1].query.text(), "sum(y), avg(y)");
    EXPECT_EQ(parsed.clauses[1].actions[0].result, 0U);
    EXPECT_EQ(parsed.clauses[2].actions[0].result, 1U);
    EXPECT_EQ(parsed.clauses[2].actions[1].result, 0U);
}

TEST(script_parser, parses_latency) {
    const script parsed =
        script::parse("a:* { @lat[who] = latency(a:begin, a:end by id, pid); trunc(@lat, 3) }");
    ASSERT_TRUE(parsed.results.at(0).latency);
    EXPECT_EQ(parsed.results[0].latency->begin, "a:begin");
    EXPECT_EQ(parsed.results[0].latency->end, "a:end");
    ASSERT_EQ(parsed.results[0].latency->by.size(), 2U);
    EXPECT_EQ(parsed.results[0].latency->by[1].text, "pid");
    EXPECT_EQ(parsed.results[0].query.top, 3U);
}

TEST(script_parser, joins_predicates_only_of_equal_patterns) {
    EXPECT_EQ(script::parse("a:b /x > 1/ {print} a:b /y/ {exit}").common_predicate(),
              "(x > 1) || (y)");
    EXPECT_EQ(script::parse("a:b /x > 1/ {print} a:c /y/ {exit}").common_predicate(), "");
    EXPECT_EQ(script::parse("a:b /x > 1/ {print} a:b {exit}").common_predicate(), "");
    EXPECT_EQ(script::parse("BEGIN {exit} a:b /x > 1/ {print}").common_predicate(), "(x > 1)");
}

TEST(script_parser, rejects_mistakes_with_line_and_column) {
    const struct {
        std::string_view text;
        std::string_view message;
    } cases[] = {
        {"BEGIN { print } a:b {}", "-n, column 9: this needs an event"},
        {"BEGIN { printf(\"%s\", x) } a:b {}", "-n, column 9: this needs an event"},
        {"a:b, END { @ = count() }", "-n, column 12: this needs an event"},
        {"BEGIN /x/ { exit } a:b {}", "-n, column 7: BEGIN, END and tick have no fields"},
        {"BEGIN { exit }", "-n, column 1: a script needs an event"},
        {"tick-5 { exit } a:b {}", "-n, column 6: 'tick-5' is no interval"},
        {"tick-1us { exit } a:b {}", "-n, column 6: 'tick-1us' is no interval"},
        {"tick-99999999999999999999s { exit } a:b {}", "-n, column 6: "},
        {"a:b { printf(x) }", "-n, column 14: printf begins with a text"},
        {"a:b { printf(\"%s\") }", "-n, column 14: The text has 1 conversions and 0 fields"},
        {"a:b { printf(\"%q\", x) }", "-n, column 14: The text has a % without a conversion"},
        {"a:b { printf(\"%999s\", x) }", "-n, column 14: A conversion is up to 256 wide"},
        {"a:b { printf(\"x\" y) }", "-n, column 18: 'y' does not belong here"},
        {"a:b { print x }", "-n, column 13: a ; is missing"},
        {"a:b { pritn }", "-n, column 7: this is no action"},
        {"a:b { exit(1) }", "-n, column 12: exit has nothing in its parentheses"},
        {"a:b { snapshot(x) }", "-n, column 16: 'x' does not belong here"},
        {"a:b { clear() }", "-n, column 7: clear needs the name of an aggregation"},
        {"a:b { print(@x) }", "-n, column 13: no clause computes @x"},
        {"a:b { @x = count() } c:d { @x = sum(y) }", "-n, column 28: another clause computes"},
        {"a:b { @x[y] = count(); @x = sum(z) }", "-n, column 24: @x has other fields"},
        {"a:b { @ = latency(a:c by x) }", "-n, column "},
        {"a:b { @ = latency(a:c, a:d) }", "-n, column 27: write latency(BEGIN, END by FIELD)"},
        {"a:b { @ = latency(a:c, a:d by x), count() }", "-n, column 33: latency(BEGIN, END by"},
        {"a:b\n{ @ = sume(x) }", "-n, line 2, column 7: 'sume' is no function"},
        {"# one\na:b /x >/ {}", "-n, line 2, column 9: "},
        {"a:!b {}", "-n, column 1: 'a:!b' is not a pattern"},
        {"a:b 1/x {}", "-n, column 5: "},
    };
    for (const auto& each : cases) {
        EXPECT_TRUE(mistake_in(each.text).message.starts_with(each.message))
            << each.text << ": " << mistake_in(each.text).message;
    }
    EXPECT_EQ(mistake_in("a:b\n{ @ = sume(x) }", "x.script").message.find("x.script:2:7: "), 0U);
}

TEST(script_parser, shows_the_line_with_a_caret) {
    EXPECT_EQ(mistake_in("a:b\n\t{ @ = sume(x) }\n").excerpt, "   { @ = sume(x) }\n         ^\n");
    EXPECT_EQ(mistake_in("a:b /name == \"\u00e4\"/ { @ = sume(x) }").excerpt,
              "  a:b /name == \"\u00e4\"/ { @ = sume(x) }\n" + std::string(26, ' ') + "^\n");
    const std::string excerpt =
        mistake_in("a:b { " + std::string(3000, ' ') + "sing" + std::string(3000, ' ') + " }")
            .excerpt;
    EXPECT_LT(excerpt.size(), 200U);
    const std::size_t second = excerpt.find('\n') + 1;
    EXPECT_EQ(excerpt.find("sing"), excerpt.find('^') - second);
}

TEST(script_parser, bounds_size_and_number_of_clauses) {
    std::string many;
    for (int i = 0; i < 65; ++i) {
        many += "a:b { exit } ";
    }
    EXPECT_NE(mistake_in(many).message.find("up to 64 clauses"), std::string::npos);
}

TEST(script_parser, parses_any_text_within_bounds) {
    const std::string whole =
        "BEGIN { printf(\"%-5d%%\", a, b[1]) } a:b, c:d /x == \"\\\"\" && y == 1.2.3.4/8/ { @n[x, "
        "y] = "
        "hist(z, 1ms); @l = latency(a:b, c:d by id); trunc(@n, 5); clear(@n); stack } tick-1s {}";
    for (std::size_t size = 0; size <= whole.size(); ++size) {
        static_cast<void>(mistake_in(whole.substr(0, size)));
        for (const char* end : {"/", "{", "}", "\"", "\\", "@", "[", "(", ";", ",", "\n#", "%"}) {
            static_cast<void>(mistake_in(whole.substr(0, size) + end));
        }
    }
}

}  // namespace
