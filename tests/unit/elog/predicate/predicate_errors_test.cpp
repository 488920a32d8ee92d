// SPDX-License-Identifier: MIT
//
// Predicates that are rejected: the column and the text of the error.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "predicate/predicate.hpp"
#include "predicate/record_filter.hpp"
#include "predicate_fixture.hpp"

namespace {

using namespace predicate_test;

TEST_F(predicates, reject_mismatched_units) {
    expect_rejection("bytes > 5ms", 9, "is no time: remove the unit 'ms'");
    expect_rejection("took > 5KiB", 8, "is no size");
    expect_rejection("waited > 5KiB", 10, "is no size");
    expect_rejection("share > 1s", 9, "is no time");
    expect_rejection("bytes > 5m", 10, "'m' is no unit");
    expect_rejection("bytes > 64K", 11, "'K' is no unit");
}

TEST_F(predicates, comparing_different_types_are_rejected) {
    expect_rejection("bytes == \"1500\"", 10, "is a number, and this is a text");
    expect_rejection("why == 5", 8, "is a text, and this is a number");
    expect_rejection("why == 'x'", 8, "is a text, and this is a char");
    expect_rejection("bytes == 10.0.0.1", 10, "is a number, and this is an address");
    expect_rejection("bytes ~ \"1*\"", 9, "~ is for texts");
    expect_rejection("good == 1", 9, "is a bool");
    expect_rejection("good < true", 8, "is a bool");
    expect_rejection("bytes", 1, "is a number, no condition");
    expect_rejection("raw == 5", 8, "byte string");
    expect_rejection("tag == \"xy\"", 8, "is a char");
    expect_rejection("bytes == 1e3", 10, "without exponent");
}

TEST_F(predicates, with_unknown_value_of_enumeration_list_its_values) {
    expect_rejection("state == \"open\"", 10,
                     "'state' of net:packet has no value called 'open'. Its values are closed, "
                     "connecting, connected.");
    expect_rejection("state == \"conected\"", 10, "Did you mean 'connected'?");
}

TEST_F(predicates, with_unknown_field_get_suggestion) {
    expect_rejection("bites > 5", 1, "No event has a field 'bites'. Did you mean 'bytes'?");
    expect_rejection("left > 5 && pidd == 1", 13, "Did you mean 'pid'?");
    expect_rejection("why == timeout", 8, "Texts need double quotes");
    expect_rejection("event == \"packet\" && statte == connected", 22, "Did you mean 'state'?");
}

TEST_F(predicates, know_names_of_values_in_conditions_without_effect) {
    for (const std::string condition :
         {"good == true", "good != false", "true == good", "state == connected",
          "connected == state", "state != connected || good", "flags & (syn | ack)",
          "(flags & syn) == ack", "flags == (syn | ack)", "!(flags & fin)", "error == -ENOENT",
          "level == warn", "!(good == true)"}) {
        for (const std::string deciding : {"pid == 1", "event == \"other\"", "!(pid == 4242)"}) {
            EXPECT_EQ(rejection(deciding + " && (" + condition + ")"), "") << condition;
            EXPECT_EQ(rejection("(" + condition + ") && " + deciding), "") << condition;
            EXPECT_EQ(rejection("!(" + deciding + ") || (" + condition + ")"), "") << condition;
        }
    }
    EXPECT_EQ(rejection("pid == 1 && good == 1"), "");
    EXPECT_EQ(rejection("pid == 1 && values[9] == 1"), "");
    expect_rejection("pid == 1 && state == conected", 22, "Did you mean 'connected'?");
    expect_rejection("pid == 1 && flags & (syn | akc)", 28, "Did you mean 'ack'?");
    expect_rejection("pid == 1 && bytes == true", 22, "No event has a field 'true'");
    expect_rejection("pid == 1 && why == connected", 20, "is a value of 'state'");
}

TEST_F(predicates, know_names_of_values_of_arrays) {
    const record_builder arrays(R"(
provider p {
    enum state : u8 { closed = 0, open = 1 }
    flags bits : u8 { low = 1, high = 2 }
    event e info { ok: bool[4]  states: state[2]  sets: bits[2]  more: bool[]  plain: bool }
}
)",
                                "test", 7);
    const auto said = [&](const std::string& text) -> std::string {
        try {
            elog::record_filter filter(elog::predicate("--where", text), 0);
            filter.add(arrays.provider());
            filter.check_names();
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    };
    for (const std::string condition :
         {"ok[3] == true", "ok[9] == true", "true == ok[9]", "ok == true", "more[9] != false",
          "more == true", "states[9] == open", "states == open", "(sets[9] & low) == high",
          "sets & (low | high)"}) {
        EXPECT_EQ(said("pid == 1 && " + condition), "") << condition;
    }
    EXPECT_EQ(said("ok[3] == true && more[9] == false && states[1] == open"), "");
    // With an effect, the mistake is reported, and not the name of the value.
    const auto expect = [&](const std::string& text, const std::string& part) {
        EXPECT_NE(said(text).find(part), std::string::npos) << text << "\n" << said(text);
    };
    expect("ok[9] == true", "'ok' has 4 elements");
    expect("ok == true", "say which element, for example ok[0]");
    expect("true == ok", "say which element, for example ok[0]");
    expect("more == true", "say which element, for example more[0]");
    expect("states == open", "say which element, for example states[0]");
    expect("ok == maybe", "No event has a field 'maybe'");
    expect("pid == 1 && ok[0] == maybe", "No event has a field 'maybe'");
    expect("plain[1] == true", "is no array of numbers");
}

TEST_F(predicates, with_unknown_event_or_provider_are_reported_but_accepted) {
    const auto reports = [this](std::string_view text) {
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(net.provider());
        filter.check_names();
        return filter.unknown_events();
    };
    using sentences = std::vector<std::string>;
    EXPECT_EQ(reports("event == \"packt\" || bytes > 5"),
              sentences{"--where, column 10: No event has the name \"packt\". Did you mean "
                        "'packet'?"});
    EXPECT_EQ(reports("!(\"nett\" == provider)"),
              sentences{"--where, column 3: No provider has the name \"nett\". Did you mean "
                        "'net'?"});
    EXPECT_EQ(reports("event == \"ned:packet\"").size(), 1U);
    EXPECT_EQ(reports("event == \"net:packet\" && provider == \"net\""), sentences{});
    EXPECT_EQ(reports("event ~ \"packt*\" && why == \"packt\" && event != \"x\""), sentences{});
}

TEST_F(predicates, with_value_as_condition_name_its_field) {
    const std::string advice = "'closed' is a value of 'state', not a field: write state == "
                               "closed, and || between several "
                               "values.";
    expect_rejection("state == connected && closed", 23, advice);
    expect_rejection("closed || state == connected", 1, advice);
    expect_rejection("why == closed", 8, advice + " Texts need double quotes.");
    expect_rejection("state == connected && close", 23, "Did you mean 'closed'?");
}

TEST_F(predicates, with_syntax_error_are_rejected_with_column) {
    expect_rejection("", 1, "There is no condition");
    expect_rejection("bytes >", 8, "A field or a value is missing in front of the end");
    expect_rejection("bytes > 5 left < 3", 11, "'left' does not belong here");
    expect_rejection("(bytes > 5", 11, "A ) is missing");
    expect_rejection("bytes = 5", 7, "write ==");
    expect_rejection("1 < bytes < 5", 11, "join two comparisons with &&");
    expect_rejection("5 == 5", 3, "must be a field");
    expect_rejection("why == \"x", 8, "is not closed");
    expect_rejection(R"(why == "\q")", 9, "A backslash stands");
    expect_rejection("bytes > 5 | left < 3", 11, "Conditions are joined with ||");
    expect_rejection("bytes > 99999999999999999999", 9, "too many digits");
    expect_rejection("bytes > 0x1ffffffffffffffff", 9, "does not fit 64 bits");
    expect_rejection("bytes $ 5", 7, "'$' means nothing");
    expect_rejection("bytes > \x01", 9, "Byte 0x01");
    expect_rejection("über > 5", 1, "means nothing");
    expect_rejection("why == \"ü\" & 5", 12, "& binds less tightly");
    expect_rejection("has(5)", 5, "has() needs a field");
    expect_rejection("bytes > -why", 9, "A number must follow -");
}

TEST_F(predicates, are_limited_in_size) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '(') + "good" + std::string(depth, ')');
    };
    expect_match(nested(elog::predicate_depth_max));
    EXPECT_NE(rejection(nested(elog::predicate_depth_max + 1)).find("Write it flatter"),
              std::string::npos);
    EXPECT_NE(rejection(std::string(100, '!') + "good").find("Write it flatter"),
              std::string::npos);
    EXPECT_NE(rejection(std::string(elog::expression_size_max + 1, ' ')).find("up to 4096"),
              std::string::npos);
    std::string many = "bytes==0";
    while (many.size() + 10 < elog::expression_size_max) {
        many += "||bytes==0";
    }
    expect_no_match(many);
    expect_match("!(" + many.substr(0, 4000 - 4000 % 10 - 2) + ")");
}

}  // namespace
