// SPDX-License-Identifier: MIT
//
// Types of a program as fields, by eventlog::convert.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::event_listener;

class ticket {
  public:
    explicit ticket(std::uint32_t number) : number_(number) {}
    ticket() = default;
    [[nodiscard]] std::uint32_t number() const { return number_; }

  private:
    std::uint32_t number_ = 0;
};
// Without a default constructor, and without a constexpr one.
class receipt {
  public:
    explicit receipt(std::uint16_t number) : number_(number) {}
    [[nodiscard]] std::uint16_t number() const { return number_; }

  private:
    std::uint16_t number_;
};
struct person {
    std::string first;
    std::string last;
};
class samples {
  public:
    std::array<std::uint32_t, 16> values{};
    virtual ~samples() = default;
};

}  // namespace

template <>
struct eventlog::convert<ticket> {
    static std::uint32_t to_field(const ticket& from) noexcept { return from.number(); }
};
template <>
struct eventlog::convert<receipt> {
    static std::uint16_t to_field(const receipt& from) noexcept { return from.number(); }
};
template <>
struct eventlog::convert<person> {
    static std::string_view to_field(const person& from) noexcept { return from.last; }
};
template <>
struct eventlog::convert<samples> {
    static const std::array<std::uint32_t, 16>& to_field(const samples& from) noexcept {
        return from.values;
    }
};

namespace {

struct sold {
    ticket which;
    person to;
};
struct resold {
    sold first;
    std::uint8_t times;
};
struct measured {
    samples all;
};
struct printed {
    receipt first;
    std::string_view printer;
    receipt last;
    std::uint8_t copies;
};
using convert_test = eventlog::provider<"convert_test", sold, resold, measured, printed>;

TEST(convert, makes_number_and_text_of_types_of_the_program) {
    event_listener listener("convert_test:sold");
    convert_test::emit(sold{ticket(17), {"ann", "miller"}});
    ASSERT_EQ(listener.received_names(), "sold");
    const auto& record = listener.records()[0];
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "which")), 17U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "to")), "miller");
}

TEST(convert, applies_in_nested_structs_and_for_callables) {
    event_listener listener("convert_test:resold");
    convert_test::emit([] { return resold{{ticket(3), {"", "smith"}}, 2}; });
    ASSERT_EQ(listener.received_names(), "resold");
    const auto& record = listener.records()[0];
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "first_which")), 3U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "first_to")), "smith");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "times")), 2U);
}

TEST(convert, needs_no_default_constructor) {
    event_listener listener("convert_test:printed");
    convert_test::emit(printed{receipt(3), "laser", receipt(5), 2});
    ASSERT_EQ(listener.received_names(), "printed");
    const auto& record = listener.records()[0];
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "first")), 3U);
    EXPECT_EQ(std::get<std::string_view>(listener.field(record, "printer")), "laser");
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "last")), 5U);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "copies")), 2U);
}

TEST(convert, passes_a_large_array_by_reference) {
    event_listener listener("convert_test:measured");
    measured event;
    event.all.values[15] = 0xabcd;
    convert_test::emit(event);
    ASSERT_EQ(listener.received_names(), "measured");
}

}  // namespace
