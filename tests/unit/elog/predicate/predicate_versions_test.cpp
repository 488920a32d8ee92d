// SPDX-License-Identifier: MIT
//
// Predicates on several versions of a provider: each version is compared by the types of its
// fields.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "predicate/predicate.hpp"
#include "predicate/record_filter.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

/// Adds versions of a provider to a filter, and ignores their errors.
void add_versions(elog::record_filter& filter, const std::vector<const record_builder*>& versions) {
    for (const record_builder* version : versions) {
        try {
            filter.add(version->provider());
        } catch (const elog::user_error&) {  // check_types decides whether it is an error
        }
    }
}

TEST(predicate_versions, are_compared_by_their_own_types) {
    const record_builder one("provider shop { event order info { number: u32 } }", "one", 1, 0);
    const record_builder other("provider shop { event order info { number: text } }", "other", 2,
                               1);
    elog::record_filter filter(elog::predicate("--where", "number == 7"), 0);
    add_versions(filter, {&one, &other});
    EXPECT_NO_THROW(filter.check_types());
    EXPECT_TRUE(filter.mismatches().sentences().empty());
    test_record wanted = one.record("order");
    wanted.set("number", std::uint64_t{7});
    test_record mismatches = other.record("order");
    mismatches.set_text("number", "7");
    EXPECT_TRUE(filter.matches(wanted.view(), record_builder::clock()));
    EXPECT_FALSE(filter.matches(mismatches.view(), record_builder::clock()));
    EXPECT_FALSE(filter.matches(mismatches.view(), record_builder::clock()));
    EXPECT_EQ(filter.mismatches().counted(), 2U);
    ASSERT_EQ(filter.mismatches().sentences().size(), 1U);
    EXPECT_TRUE(filter.mismatches().sentences()[0].starts_with(
        "2 events of shop:order by another version of its provider were left out: --where, column "
        "11: 'number' of shop:order is a text"))
        << filter.mismatches().sentences()[0];
    // A later provider with matching types may get the same number.
    const record_builder later("provider shop { event order info { number: u32 } }", "one", 3, 1);
    filter.add(later.provider());
    test_record late = later.record("order");
    EXPECT_FALSE(filter.matches(late.view(), record_builder::clock()));
    EXPECT_EQ(filter.mismatches().counted(), 2U);
}

TEST(predicate_versions, are_rejected_if_no_version_matches) {
    const record_builder lacking("provider shop { event order info { number: u32 } }", "one", 1, 0);
    const record_builder other("provider shop { event order info { price: text } }", "other", 2, 1);
    // A version without the field does not make the comparison valid.
    elog::record_filter filter(elog::predicate("--where", "price > 7"), 0);
    add_versions(filter, {&lacking, &other});
    EXPECT_THROW(filter.check_types(), elog::user_error);
    // Nor does another event of the provider.
    const record_builder events("provider shop { event order info { price: text } "
                                "event refund info { price: u32 } }",
                                "events", 3, 0);
    elog::record_filter both(elog::predicate("--where", "price > 7"), 0);
    add_versions(both, {&events});
    EXPECT_THROW(both.check_types(), elog::user_error);
}

}  // namespace
