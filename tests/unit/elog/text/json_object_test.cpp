// SPDX-License-Identifier: MIT
#include "text/json_object.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "text/json_text.hpp"

namespace {

using elog::json_object;

TEST(json_object, is_empty_without_members) {
    EXPECT_EQ(json_object().text(), "{}");
    EXPECT_EQ(json_object().line(), "{}\n");
}

TEST(json_object, keeps_insertion_order) {
    json_object object;
    object.add("z", 1).add("a", "text").add("m", true);
    EXPECT_EQ(object.text(), R"({"z":1,"a":"text","m":true})");
}

TEST(json_object, keeps_all_digits_of_numbers) {
    EXPECT_EQ(json_object().add("a", UINT64_MAX).add("b", INT64_MIN).add("c", 0.25).text(),
              R"({"a":18446744073709551615,"b":-9223372036854775808,"c":0.25})");
}

TEST(json_object, writes_null_for_nan_and_absent_values) {
    EXPECT_EQ(json_object()
                  .add("a", std::numeric_limits<double>::infinity())
                  .add("b", std::optional<std::string>())
                  .add("c", std::optional<std::uint64_t>(7))
                  .text(),
              R"({"a":null,"b":null,"c":7})");
}

TEST(json_object, escapes_texts) {
    EXPECT_EQ(json_object().add("a", "\"\\\x1b\xff").text(), R"({"a":"\"\\\u001b\ufffd"})");
}

TEST(json_text, of_another_writer_gets_no_invisible_characters) {
    fmt::memory_buffer out;
    elog::append_visible_json(out, "{\n  \"a\": \"\u00e9\u009b\u202e\x7f\U000e0041\\n\"\n}");
    EXPECT_EQ(fmt::to_string(out),
              "{\n  \"a\": \"\u00e9\\u009b\\u202e\\u007f\\udb40\\udc41\\n\"\n}");
}

TEST(json_object, nests_lists_and_objects) {
    const json_object inner = json_object().add("b", 1);
    EXPECT_EQ(json_object()
                  .add("a", inner)
                  .add("c", std::vector<json_object>{inner, json_object()})
                  .add("d", std::vector<std::string>{"x", "y\n"})
                  .text(),
              R"({"a":{"b":1},"c":[{"b":1},{}],"d":["x","y\u000a"]})");
    EXPECT_EQ(json_object()
                  .add("a", std::vector<json_object>())
                  .add("b", std::vector<std::string>())
                  .text(),
              R"({"a":[],"b":[]})");
}

TEST(json_object, adds_members_of_another) {
    const json_object other = json_object().add("b", 1).add("c", 2);
    EXPECT_EQ(json_object().add("a", 0).add_members(other).text(), R"({"a":0,"b":1,"c":2})");
    EXPECT_EQ(json_object().add_members(other).text(), R"({"b":1,"c":2})");
    EXPECT_EQ(json_object().add("a", 0).add_members({}).text(), R"({"a":0})");
}

TEST(json_object, begins_with_version_as_output) {
    EXPECT_EQ(elog::versioned_object().add("a", 0).text(), R"({"version":1,"a":0})");
}

}  // namespace
