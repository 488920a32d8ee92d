// SPDX-License-Identifier: MIT
//
// The clock of a subscription, on this machine and on machines with other properties.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ring/clock.hpp"
#include "scoped_environment.hpp"

namespace {

using eventlog::core::select_clock;
using eventlog::core::tsc_choice;
using eventlog::core::tsc_properties;
using eventlog::test::scoped_environment_variable;

constexpr bool is_counter_known =
#if defined(__x86_64__) || defined(__aarch64__)
    true;
#else
    false;
#endif

constexpr tsc_properties good{true, true, true};
constexpr tsc_properties distrusted{true, true, false};  // the kernel offers only kvm-clock
constexpr tsc_properties unsteady{true, false, true};
constexpr tsc_properties neither{true, false, false};
constexpr tsc_properties absent{};

TEST(clock_choice, auto_uses_tsc_only_if_reliable) {
    for (const tsc_choice choice : {tsc_choice::automatic, tsc_choice::invalid}) {
        EXPECT_EQ(select_clock(choice, good), EVENTLOG_CLOCK_TSC);
        for (const tsc_properties& facts : {distrusted, unsteady, neither, absent}) {
            EXPECT_EQ(select_clock(choice, facts), EVENTLOG_CLOCK_MONOTONIC);
        }
    }
}

TEST(clock_choice, on_uses_any_available_tsc) {
    for (const tsc_properties& facts : {good, distrusted, unsteady, neither}) {
        EXPECT_EQ(select_clock(tsc_choice::on, facts), EVENTLOG_CLOCK_TSC);
    }
    EXPECT_EQ(select_clock(tsc_choice::on, absent), EVENTLOG_CLOCK_MONOTONIC);
}

TEST(clock_choice, off_never_uses_tsc) {
    for (const tsc_properties& facts : {good, distrusted, unsteady, neither, absent}) {
        EXPECT_EQ(select_clock(tsc_choice::off, facts), EVENTLOG_CLOCK_MONOTONIC);
    }
}

TEST(clock_choice, accepts_three_values) {
    using eventlog::core::parse_tsc_choice;
    EXPECT_EQ(parse_tsc_choice(""), tsc_choice::automatic);
    EXPECT_EQ(parse_tsc_choice("auto"), tsc_choice::automatic);
    EXPECT_EQ(parse_tsc_choice("on"), tsc_choice::on);
    EXPECT_EQ(parse_tsc_choice("off"), tsc_choice::off);
    for (const std::string_view other : {"ON", "1", "of", "offf", "on ", "automatic"}) {
        EXPECT_EQ(parse_tsc_choice(other), tsc_choice::invalid) << other;
    }
}

TEST(clock_choice, finds_tsc_in_available_clocksources) {
#if defined(__x86_64__)
    const std::string counter = "tsc";
#elif defined(__aarch64__)
    const std::string counter = "arch_sys_counter";
#else
    GTEST_SKIP() << "the library knows no counter of this processor";
    const std::string counter;
#endif
    using eventlog::core::lists_tsc;
    EXPECT_TRUE(lists_tsc(counter));
    EXPECT_TRUE(lists_tsc(counter + " kvm-clock acpi_pm \n"));
    EXPECT_TRUE(lists_tsc("kvm-clock " + counter + "\n"));
    EXPECT_FALSE(lists_tsc(""));
    EXPECT_FALSE(lists_tsc("\n"));
    EXPECT_FALSE(lists_tsc("kvm-clock acpi_pm \n"));
    // The clock source of x86 before the frequency of the counter is known.
    EXPECT_FALSE(lists_tsc(counter + "-early hpet \n"));
    EXPECT_FALSE(lists_tsc("not-" + counter + " \n"));
}

TEST(clock_choice, is_read_from_the_environment) {
    const scoped_environment_variable tsc("EVENTLOG_TSC", "off");
    EXPECT_EQ(eventlog::core::best_clock(), EVENTLOG_CLOCK_MONOTONIC);
    tsc.set(nullptr);
    EXPECT_EQ(eventlog::core::configured_tsc_choice(), tsc_choice::automatic);
    const eventlog_clock usual = eventlog::core::best_clock();
    tsc.set("perhaps");
    EXPECT_EQ(eventlog::core::configured_tsc_choice(), tsc_choice::invalid);
    EXPECT_EQ(eventlog::core::best_clock(), usual);
    tsc.set("on");
    EXPECT_EQ(eventlog::core::best_clock(),
              is_counter_known ? EVENTLOG_CLOCK_TSC : EVENTLOG_CLOCK_MONOTONIC);
}

}  // namespace
