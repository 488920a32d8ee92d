// SPDX-License-Identifier: MIT
//
// The definitions that elog kernel enable writes into the kernel, and how it recognizes them among
// other definitions.
#include "tracing/persistent_events.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace {

using elog::event_trigger;
using elog::persistent_state;
using elog::persistent_state_of;

TEST(persistent_events, are_recognized_by_their_filter) {
    for (const std::string condition : {"", "amount == 5", "(amount >= 2 || tiny == 1)"}) {
        const persistent_state found =
            persistent_state_of({true, elog::persistent_filter(condition), {}});
        EXPECT_TRUE(found.is_ours);
        EXPECT_FALSE(found.is_used_by_others);
        EXPECT_EQ(found.filter, condition);
    }
}

TEST(persistent_events, set_by_other_tools_are_not_recognized) {
    EXPECT_FALSE(persistent_state_of({}).is_used_by_others);
    for (const std::string filter : {"", "amount == 5", "common_type != 1",
                                     "common_type != 0 || amount == 5", "(common_type != 0)"}) {
        const persistent_state found = persistent_state_of({true, filter, {}});
        EXPECT_FALSE(found.is_ours) << filter;
        EXPECT_TRUE(found.is_used_by_others) << filter;
    }
    EXPECT_TRUE(persistent_state_of({false, "amount == 5", {}}).is_used_by_others);
}

TEST(persistent_events, disabled_with_our_filter_are_recognized) {
    EXPECT_TRUE(persistent_state_of({false, elog::persistent_filter("amount == 5"), {}}).is_ours);
}

TEST(persistent_events, triggers_are_recognized_among_foreign_ones) {
    const persistent_state found = persistent_state_of(
        {false,
         "",
         {"stacktrace:unlimited if common_type != 0 && amount == 5",
          "traceoff:unlimited if common_type != 0", "snapshot:unlimited if amount == 5",
          "snapshot:unlimited", "hist:keys=a if common_type != 0", "stacktrace:count=3"}});
    EXPECT_FALSE(found.is_ours);
    EXPECT_FALSE(found.is_used_by_others);
    ASSERT_EQ(found.triggers.size(), 2U);
    EXPECT_EQ(found.triggers[0].first, event_trigger::stacktrace);
    EXPECT_EQ(found.triggers[0].second, "amount == 5");
    EXPECT_EQ(found.triggers[1].first, event_trigger::traceoff);
    EXPECT_EQ(found.triggers[1].second, "");
}

TEST(persistent_events, triggers_use_kernel_names) {
    EXPECT_EQ(elog::persistent_trigger(event_trigger::stacktrace, "amount == 5"),
              "stacktrace if common_type != 0 && amount == 5");
    EXPECT_EQ(elog::persistent_trigger(event_trigger::traceoff, ""),
              "traceoff if common_type != 0");
    EXPECT_EQ(elog::find_trigger("snapshot"), std::optional(event_trigger::snapshot));
    EXPECT_EQ(elog::find_trigger("hist"), std::nullopt);
}

}  // namespace
