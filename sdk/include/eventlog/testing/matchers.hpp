// SPDX-License-Identifier: MIT
//
// Matchers of GoogleTest (gmock) for captured events. This header alone needs GoogleTest;
// libeventlog does not.
//
//     EXPECT_THAT(mails.all(), ElementsAre(event("mail_sent", field("attempts", 1U),
//                                                field("recipient", HasSubstr("@")))));
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>

#include <eventlog/testing/captured_events.hpp>

namespace eventlog {
inline namespace v0 {
namespace testing {
namespace detail {

/// The type in which a field is read to be compared with a value of type Expected.
template <class Expected>
using field_value = std::conditional_t<std::is_convertible_v<Expected, std::string_view>,
                                       std::string, std::decay_t<Expected>>;

template <class Type>
class field_matcher : public ::testing::MatcherInterface<const collected_event&> {
  public:
    field_matcher(std::string name, ::testing::Matcher<Type> expected)
        : name_(std::move(name)), expected_(std::move(expected)) {}

    bool MatchAndExplain(const collected_event& event,
                         ::testing::MatchResultListener* listener) const override {
        const auto value = event.get<Type>(name_);
        if (!value) {
            *listener << "whose field " << name_ << " has no such value";
            return false;
        }
        *listener << "whose field " << name_ << " is " << ::testing::PrintToString(*value);
        return expected_.Matches(*value);
    }
    void DescribeTo(std::ostream* stream) const override {
        *stream << "has a field " << name_ << " that ";
        expected_.DescribeTo(stream);
    }
    void DescribeNegationTo(std::ostream* stream) const override {
        *stream << "has no field " << name_ << " that ";
        expected_.DescribeTo(stream);
    }

  private:
    std::string name_;
    ::testing::Matcher<Type> expected_;
};

}  // namespace detail

/// Matches an event whose field has a value that `expected`, a value or a matcher, matches. Values
/// of the field are read as Type: a number, bool, enumeration or std::string.
template <class Type, class Expected>
[[nodiscard]] ::testing::Matcher<const collected_event&> field(std::string name,
                                                               const Expected& expected) {
    return ::testing::MakeMatcher(new detail::field_matcher<Type>(
        std::move(name), ::testing::SafeMatcherCast<Type>(expected)));
}

/// The same for a value, whose type is that of the field's value. An integer has to be in the range
/// of its type: a field of 300 is not equal to any std::uint8_t.
template <class Expected>
[[nodiscard]] ::testing::Matcher<const collected_event&> field(std::string name,
                                                               const Expected& expected) {
    using type = detail::field_value<Expected>;
    return field<type, type>(std::move(name), type(expected));
}

/// Matches an event by its name and all of the matchers, which are those of field().
template <class... Matchers>
[[nodiscard]] ::testing::Matcher<const collected_event&> event(std::string name,
                                                               const Matchers&... matchers) {
    return ::testing::AllOf(
        ::testing::Property("name", &collected_event::name, ::testing::Eq(std::move(name))),
        matchers...);
}

}  // namespace testing
}  // namespace v0
}  // namespace eventlog
