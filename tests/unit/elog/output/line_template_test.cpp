// SPDX-License-Identifier: MIT
#include "output/line_template.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"

namespace {

using elog::line_part_kind;
using elog::line_template;

std::string complaint_about(std::string_view text) {
    try {
        const line_template made(text);
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

std::string complaint_about_list(std::string_view text) {
    try {
        static_cast<void>(elog::parse_field_list(text));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

std::vector<std::string> names_of(std::string_view list) {
    std::vector<std::string> names;
    for (const elog::named_field& field : elog::parse_field_list(list)) {
        names.push_back(field.name);
    }
    return names;
}

TEST(line_template, is_text_and_names_in_braces) {
    const line_template made("at {time} {order}!");
    ASSERT_EQ(made.parts().size(), 5U);
    EXPECT_EQ(made.parts()[0].field.name, "at ");
    EXPECT_EQ(made.parts()[1].kind, line_part_kind::time);
    EXPECT_EQ(made.parts()[2].field.name, " ");
    EXPECT_EQ(made.parts()[3].kind, line_part_kind::field);
    EXPECT_EQ(made.parts()[3].field.name, "order");
    EXPECT_EQ(made.parts()[3].field.column, 12U);
    EXPECT_EQ(made.parts()[4].field.name, "!");
    EXPECT_TRUE(made.has(line_part_kind::time));
    EXPECT_FALSE(made.has(line_part_kind::delta));
}

TEST(line_template, has_placeholder_for_each_kind_of_value) {
    for (const std::string_view word : line_template::variable_names()) {
        const line_template made("{" + std::string(word) + "}");
        ASSERT_EQ(made.parts().size(), 1U);
        EXPECT_NE(made.parts()[0].kind, line_part_kind::field) << word;
        EXPECT_NE(made.parts()[0].kind, line_part_kind::text) << word;
    }
}

TEST(line_template, accepts_doubled_braces_and_escapes) {
    const line_template made(R"({{a}}\n\t\\b)");
    ASSERT_EQ(made.parts().size(), 1U);
    EXPECT_EQ(made.parts()[0].field.name, "{a}\n\t\\b");
}

TEST(line_template, finds_nested_fields_and_fields_named_like_placeholders) {
    const line_template made("{peer.port}{.time}");
    ASSERT_EQ(made.parts().size(), 2U);
    EXPECT_EQ(made.parts()[0].field.name, "peer_port");
    EXPECT_EQ(made.parts()[1].kind, line_part_kind::field);
    EXPECT_EQ(made.parts()[1].field.name, "time");
}

TEST(line_template, invalid_is_rejected_with_column) {
    EXPECT_EQ(complaint_about(""),
              "--format, column 1: A template is needed, such as '{time} {event}'.");
    EXPECT_EQ(complaint_about("ab{time"),
              "--format, column 3: This { has no }. One that is meant as such is written {{.");
    EXPECT_EQ(complaint_about("ab}"),
              "--format, column 3: A } that is meant as such is written }}.");
    EXPECT_EQ(complaint_about("{}"), "--format, column 2: A name is missing between { and }.");
    EXPECT_EQ(complaint_about("{.}"), "--format, column 2: A name is missing between { and }.");
    EXPECT_EQ(complaint_about("{a b}"),
              "--format, column 3: A name has letters, digits and _, and ends with }.");
    EXPECT_EQ(complaint_about("a\\x"),
              "--format, column 2: \\ must be followed by n, t or another \\.");
    EXPECT_EQ(complaint_about("a\\"),
              "--format, column 2: \\ must be followed by n, t or another \\.");
    EXPECT_EQ(complaint_about(std::string(5000, 'a')),
              "--format, column 1: This has 5000 bytes; up to 4096 are allowed.");
}

TEST(line_template, counts_columns_in_characters) {
    EXPECT_EQ(complaint_about("€é}"),
              "--format, column 3: A } that is meant as such is written }}.");
}

TEST(field_list, is_names_with_commas_between) {
    EXPECT_EQ(names_of("order"), std::vector<std::string>{"order"});
    EXPECT_EQ(names_of("order, peer.port ,.time"),
              (std::vector<std::string>{"order", "peer_port", "time"}));
    EXPECT_EQ(elog::parse_field_list("order, items")[1].column, 8U);
}

TEST(field_list, invalid_is_rejected_with_column) {
    EXPECT_EQ(complaint_about_list(""), "--fields, column 1: The name of a field is missing here.");
    EXPECT_EQ(complaint_about_list("a,"),
              "--fields, column 3: The name of a field is missing here.");
    EXPECT_EQ(complaint_about_list("a,,b"),
              "--fields, column 3: The name of a field is missing here.");
    EXPECT_EQ(complaint_about_list("a, ,b"),
              "--fields, column 4: The name of a field is missing here.");
    EXPECT_EQ(complaint_about_list("a b"),
              "--fields, column 2: A name has letters, digits and _; commas separate names.");
    EXPECT_EQ(complaint_about_list("a,b,a"),
              "--fields, column 5: This field has been named before.");
}

}  // namespace
