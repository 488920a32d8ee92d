// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

namespace {

using eventlog::detail::type_name;

template <class Struct>
constexpr const auto& field_names = eventlog::detail::fields_of<Struct>::table.names;

struct hidden_event {
    std::uint32_t first_field;
    std::string_view second;
    std::string third_3;
    const char* f;
};

TEST(names, of_a_type_in_an_anonymous_namespace) {
    EXPECT_EQ(type_name<hidden_event>(), "hidden_event");
}

TEST(names, of_fields_in_an_anonymous_namespace) {
    EXPECT_EQ(field_names<hidden_event>[0], "first_field");
    EXPECT_EQ(field_names<hidden_event>[1], "second");
    EXPECT_EQ(field_names<hidden_event>[2], "third_3");
    EXPECT_EQ(field_names<hidden_event>[3], "f");
}

}  // namespace

namespace outer::inner {
struct nested_event {
    bool flag;
};
}  // namespace outer::inner

struct global_event {
    double value;
};

namespace {

TEST(names, of_a_type_leave_out_its_namespaces) {
    EXPECT_EQ(type_name<outer::inner::nested_event>(), "nested_event");
    EXPECT_EQ(field_names<outer::inner::nested_event>[0], "flag");
}

TEST(names, of_a_global_type) {
    EXPECT_EQ(type_name<global_event>(), "global_event");
    EXPECT_EQ(field_names<global_event>[0], "value");
}

TEST(names, identifiers_are_letters_digits_and_underscores) {
    using eventlog::is_identifier;
    EXPECT_TRUE(is_identifier("a", 1));
    EXPECT_TRUE(is_identifier("_9Z", 3));
    EXPECT_FALSE(is_identifier("", 0));
    EXPECT_FALSE(is_identifier("9a", 2));
    EXPECT_FALSE(is_identifier("a-b", 3));
    EXPECT_FALSE(is_identifier("a b", 3));
    EXPECT_TRUE(is_identifier(std::string(63, 'x').c_str(), 63));
    EXPECT_FALSE(is_identifier(std::string(64, 'x').c_str(), 64));
}

}  // namespace
