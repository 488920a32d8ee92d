// SPDX-License-Identifier: MIT
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>
#include <eventlog/testing/matchers.hpp>

using eventlog::testing::captured_events;
using eventlog::testing::event;
using eventlog::testing::field;
using testing::AllOf;
using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;

namespace {

enum class urgency : std::uint8_t { low, high };

struct mail_sent {
    std::string_view recipient;
    std::uint32_t attempts;
    urgency how;
};
struct mail_refused {
    std::int32_t code;
    bool is_final;
};
using mailer = eventlog::provider<"captured_mailer", mail_sent, mail_refused>;

void send_mail(std::string_view recipient) {
    mailer::emit(mail_sent{recipient, 2, urgency::high});
}

}  // namespace

TEST(captured_events, has_events_of_the_code_under_test_in_order) {
    captured_events mails("captured_mailer:*");
    EXPECT_TRUE(mails.empty());
    send_mail("ann@example.org");
    mailer::emit(mail_refused{-5, true});
    EXPECT_THAT(mails.all(),
                ElementsAre(event("mail_sent", field("recipient", "ann@example.org"),
                                  field("attempts", 2U), field("how", urgency::high)),
                            event("mail_refused", field("code", -5), field("is_final", true))));
    EXPECT_EQ(mails.size(), 2U);
    EXPECT_EQ(mails.count("mail_sent"), 1U);
    mails.clear();
    EXPECT_THAT(mails.all(), IsEmpty());
}

TEST(captured_events, begins_with_its_construction) {
    send_mail("before@example.org");
    captured_events mails({"captured_mailer:mail_sent"});
    mailer::emit(mail_refused{1, false});
    EXPECT_TRUE(mails.empty());
}

TEST(captured_events, field_matches_by_matcher_and_type) {
    captured_events mails("captured_mailer:*");
    send_mail("bob@example.org");
    const eventlog::collected_event& sent = mails.all().at(0);
    EXPECT_THAT(sent, event("mail_sent", field<std::string>("recipient", HasSubstr("bob")),
                            field<int>("attempts", AllOf(Gt(1), Lt(3)))));
    EXPECT_THAT(sent, Not(field("attempts", 3U)));
    EXPECT_THAT(sent, Not(field("how", urgency::low)));
    EXPECT_THAT(sent, Not(field("attempts", "2"))) << "a number is no text";
    EXPECT_THAT(sent, Not(field("absent", 2U)));
    EXPECT_THAT(sent, Not(event("mail_refused")));
}

TEST(captured_events, mismatch_explains_the_value) {
    captured_events mails("captured_mailer:*");
    send_mail("bob@example.org");
    const auto expected = field("attempts", 3U);
    testing::StringMatchResultListener explanation;
    EXPECT_FALSE(expected.MatchAndExplain(mails.all().at(0), &explanation));
    EXPECT_EQ(explanation.str(), "whose field attempts is 2");
    std::ostringstream description;
    expected.DescribeTo(&description);
    EXPECT_EQ(description.str(), "has a field attempts that is equal to 3");
    EXPECT_EQ(testing::PrintToString(mails.all().at(0)).substr(0, 25), "captured_mailer:mail_sent");
}

TEST(captured_events, rejects_what_is_no_pattern) {
    EXPECT_THROW(captured_events("captured_mailer:"), std::runtime_error);
}

TEST(captured_events, throws_if_an_event_was_lost) {
    captured_events mails("captured_mailer:*");
    send_mail(std::string(70'000, 'x'));
    try {
        static_cast<void>(mails.all());
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("1 events were lost"));
    }
    mails.clear();
    send_mail("ann@example.org");
    EXPECT_EQ(mails.size(), 1U);
}
