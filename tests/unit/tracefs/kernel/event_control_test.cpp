// SPDX-License-Identifier: MIT
//
// Parsing the kernel's text about the triggers and filters of an event.
#include "kernel/event_control.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

TEST(event_control, parses_kernel_event_state) {
    const auto idle = eventlog::tracefs::parse_state(
        "0\n", "none\n", "# Available triggers:\n# traceon traceoff snapshot stacktrace hist\n");
    EXPECT_FALSE(idle.is_enabled);
    EXPECT_EQ(idle.filter, "");
    EXPECT_TRUE(idle.triggers.empty());

    const auto busy = eventlog::tracefs::parse_state(
        "1*\n", "amount == 5\n", "stacktrace:unlimited if amount == 5\nsnapshot:count=1\n");
    EXPECT_TRUE(busy.is_enabled);
    EXPECT_EQ(busy.filter, "amount == 5");
    EXPECT_EQ(busy.triggers, (std::vector<std::string>{"stacktrace:unlimited if amount == 5",
                                                       "snapshot:count=1"}));
    EXPECT_FALSE(eventlog::tracefs::parse_state("0*\n", "none", "").is_enabled);
}

}  // namespace
