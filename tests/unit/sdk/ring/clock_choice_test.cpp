// SPDX-License-Identifier: MIT
//
// Which clock a subscription takes: on this machine, and on machines that this one is not.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "environment_variable.hpp"
#include "ring/clock.hpp"

namespace {

using eventlog::core::clock_for;
using eventlog::core::counter_choice;
using eventlog::core::counter_facts;
using eventlog::test::environment_variable;

constexpr bool is_counter_known =
#if defined(__x86_64__) || defined(__aarch64__)
    true;
#else
    false;
#endif

constexpr counter_facts good{true, true, true};
constexpr counter_facts distrusted{true, true, false};  // the kernel offers kvm-clock only
constexpr counter_facts unsteady{true, false, true};
constexpr counter_facts neither{true, false, false};
constexpr counter_facts absent{};

TEST(clock_choice, takes_the_counter_by_itself_only_where_all_promise_that_it_is_right) {
    for (const counter_choice choice : {counter_choice::automatic, counter_choice::invalid}) {
        EXPECT_EQ(clock_for(choice, good), EVENTLOG_CLOCK_TSC);
        for (const counter_facts& facts : {distrusted, unsteady, neither, absent}) {
            EXPECT_EQ(clock_for(choice, facts), EVENTLOG_CLOCK_MONOTONIC);
        }
    }
}

TEST(clock_choice, on_takes_every_counter_that_exists) {
    for (const counter_facts& facts : {good, distrusted, unsteady, neither}) {
        EXPECT_EQ(clock_for(counter_choice::on, facts), EVENTLOG_CLOCK_TSC);
    }
    EXPECT_EQ(clock_for(counter_choice::on, absent), EVENTLOG_CLOCK_MONOTONIC);
}

TEST(clock_choice, off_takes_none) {
    for (const counter_facts& facts : {good, distrusted, unsteady, neither, absent}) {
        EXPECT_EQ(clock_for(counter_choice::off, facts), EVENTLOG_CLOCK_MONOTONIC);
    }
}

TEST(clock_choice, is_one_of_three_words) {
    using eventlog::core::counter_choice_of;
    EXPECT_EQ(counter_choice_of(""), counter_choice::automatic);
    EXPECT_EQ(counter_choice_of("auto"), counter_choice::automatic);
    EXPECT_EQ(counter_choice_of("on"), counter_choice::on);
    EXPECT_EQ(counter_choice_of("off"), counter_choice::off);
    for (const std::string_view other : {"ON", "1", "of", "offf", "on ", "automatic"}) {
        EXPECT_EQ(counter_choice_of(other), counter_choice::invalid) << other;
    }
}

TEST(clock_choice, finds_the_counter_among_the_kernels_clock_sources) {
#if defined(__x86_64__)
    const std::string counter = "tsc";
#elif defined(__aarch64__)
    const std::string counter = "arch_sys_counter";
#else
    GTEST_SKIP() << "the library knows no counter of this processor";
    const std::string counter;
#endif
    using eventlog::core::offers_counter;
    EXPECT_TRUE(offers_counter(counter));
    EXPECT_TRUE(offers_counter(counter + " kvm-clock acpi_pm \n"));
    EXPECT_TRUE(offers_counter("kvm-clock " + counter + "\n"));
    EXPECT_FALSE(offers_counter(""));
    EXPECT_FALSE(offers_counter("\n"));
    EXPECT_FALSE(offers_counter("kvm-clock acpi_pm \n"));
    // The source that x86 processors have until it is known how fast the counter is.
    EXPECT_FALSE(offers_counter(counter + "-early hpet \n"));
    EXPECT_FALSE(offers_counter("not-" + counter + " \n"));
}

TEST(clock_choice, is_read_from_the_environment) {
    const environment_variable tsc("EVENTLOG_TSC", "off");
    EXPECT_EQ(eventlog::core::best_clock(), EVENTLOG_CLOCK_MONOTONIC);
    tsc.set(nullptr);
    EXPECT_EQ(eventlog::core::chosen_counter(), counter_choice::automatic);
    const eventlog_clock usual = eventlog::core::best_clock();
    tsc.set("perhaps");
    EXPECT_EQ(eventlog::core::chosen_counter(), counter_choice::invalid);
    EXPECT_EQ(eventlog::core::best_clock(), usual);
    tsc.set("on");
    EXPECT_EQ(eventlog::core::best_clock(),
              is_counter_known ? EVENTLOG_CLOCK_TSC : EVENTLOG_CLOCK_MONOTONIC);
}

}  // namespace
