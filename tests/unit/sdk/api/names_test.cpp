// SPDX-License-Identifier: MIT
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
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

TEST(names, of_type_omit_namespaces) {
    EXPECT_EQ(type_name<outer::inner::nested_event>(), "nested_event");
    EXPECT_EQ(field_names<outer::inner::nested_event>[0], "flag");
}

TEST(names, of_a_global_type) {
    EXPECT_EQ(type_name<global_event>(), "global_event");
    EXPECT_EQ(field_names<global_event>[0], "value");
}

template <class... Types>
struct generic_scope {
    struct inside {
        bool flag;
    };
    enum class state { open, shut };
};

template <class... Types>
auto make_in_function() {
    struct local_event {
        bool flag;
    };
    return local_event{};
}

TEST(names, of_types_in_templates_omit_template) {
    EXPECT_EQ(type_name<generic_scope<int>::inside>(), "inside");
    EXPECT_EQ((type_name<generic_scope<outer::inner::nested_event, int[3]>::inside>()), "inside");
    EXPECT_EQ(type_name<generic_scope<generic_scope<>>::state>(), "state");
    EXPECT_EQ(field_names<generic_scope<int>::inside>[0], "flag");
}

TEST(names, of_local_types_are_not_template_arguments) {
    struct local_event {
        bool flag;
    };
    EXPECT_EQ(type_name<local_event>(), "local_event");
    EXPECT_EQ(type_name<decltype(make_in_function<>())>(), "local_event");
    EXPECT_EQ((type_name<decltype(make_in_function<outer::inner::nested_event, int>())>()),
              "local_event");
}

TEST(names, of_unnamed_types_are_empty) {
    const auto lambda = [] {};
    enum { unnamed };
    EXPECT_EQ(type_name<decltype(lambda)>(), "");
    EXPECT_EQ(type_name<decltype(unnamed)>(), "");
    EXPECT_EQ(type_name<generic_scope<int>>(), "");
    EXPECT_EQ(type_name<generic_scope<outer::inner::nested_event>>(), "");
}

struct scope {
    struct inside {
        std::uint16_t port;
        std::uint16_t size;
    };
};

template <class... Types>
struct template_event {
    std::uint16_t first;
    std::uint16_t second;
};

template <class Type>
auto make_local() {
    struct local_event {
        Type first;
        Type second;
    };
    return local_event{};
}

TEST(names, of_fields_in_any_struct_scope) {
    EXPECT_EQ(field_names<scope::inside>[0], "port");
    EXPECT_EQ(field_names<scope::inside>[1], "size");
    struct local_event {
        std::uint16_t first;
        std::uint16_t second;
    };
    EXPECT_EQ(field_names<local_event>[0], "first");
    EXPECT_EQ(field_names<local_event>[1], "second");
}

TEST(names, of_fields_of_a_struct_with_brackets_in_its_name) {
    using plain = template_event<>;
    using nested = template_event<int, template_event<char>>;
    using local = decltype(make_local<std::array<int, 2>>());
    EXPECT_EQ(field_names<plain>[0], "first");
    EXPECT_EQ(field_names<plain>[1], "second");
    EXPECT_EQ(field_names<nested>[0], "first");
    EXPECT_EQ(field_names<nested>[1], "second");
    EXPECT_EQ(field_names<local>[0], "first");
    EXPECT_EQ(field_names<local>[1], "second");
}

/// More members than the headers list in one row.
struct long_event {
    std::uint8_t a;
    std::uint8_t second;
    std::uint8_t c_3;
    std::uint8_t d;
    std::uint8_t the_fifth_member;
    std::uint8_t f6;
    std::uint8_t g;
    std::uint8_t h;
    std::uint8_t ninth;
    std::uint8_t j10;
    std::uint8_t k;
    std::uint8_t twelfth;
    std::uint8_t m;
    std::uint8_t n;
    std::uint8_t o15;
    std::uint8_t p;
    std::uint8_t q;
    std::uint8_t r;
    std::uint8_t s19;
    std::uint8_t twentieth;
    std::uint8_t u;
    std::uint8_t v22;
    std::uint8_t last;
};

TEST(names, of_more_fields_than_compilers_print) {
    constexpr const char* expected[] = {"a",  "second",  "c_3", "d",     "the_fifth_member",
                                        "f6", "g",       "h",   "ninth", "j10",
                                        "k",  "twelfth", "m",   "n",     "o15",
                                        "p",  "q",       "r",   "s19",   "twentieth",
                                        "u",  "v22",     "last"};
    for (std::size_t i = 0; i < std::size(expected); ++i) {
        EXPECT_EQ(field_names<long_event>[i], expected[i]);
    }
}

/// Names that are rejected, at each position that affects the other names.
struct foreign_first {
    std::uint8_t höhe;  // NOLINT(readability-identifier-naming): the letter is the point
    std::uint8_t width;
    std::uint8_t depth;
};
struct foreign_second {
    std::uint8_t width;
    std::uint8_t höhe;  // NOLINT(readability-identifier-naming): the letter is the point
    std::uint8_t depth;
    std::uint8_t weight;
};

TEST(names, of_fields_next_to_one_with_other_letters) {
    EXPECT_EQ(field_names<foreign_first>[0], "");
    EXPECT_EQ(field_names<foreign_first>[1], "width");
    EXPECT_EQ(field_names<foreign_first>[2], "depth");
    EXPECT_EQ(field_names<foreign_second>[0], "width");
    EXPECT_EQ(field_names<foreign_second>[1], "");
    EXPECT_EQ(field_names<foreign_second>[2], "depth");
    EXPECT_EQ(field_names<foreign_second>[3], "weight");
}

TEST(names, identifiers_are_letters_digits_and_underscores) {
    using eventlog::schema_format::is_identifier;
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
