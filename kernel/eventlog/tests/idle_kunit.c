// SPDX-License-Identifier: GPL-2.0
/* Tests of idle.c: periods in which a CPU slept, and what woke it. */
#include "../idle.h"

#include "kunit.h"

static const struct idle_event nothing;

static void interrupted_in_its_sleep(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	KUNIT_EXPECT_FALSE(test, eventlog_idle_enter(&idle, 10, 2, &finished));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 15, EVENTLOG_INTERRUPT_DEVICE, 7,
							   &finished));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 16, &finished));
	KUNIT_EXPECT_EQ(test, finished.slept, 10);
	KUNIT_EXPECT_EQ(test, finished.woke, 15);
	KUNIT_EXPECT_EQ(test, finished.source, EVENTLOG_INTERRUPT_DEVICE);
	KUNIT_EXPECT_EQ(test, finished.interrupt, 7);
	KUNIT_EXPECT_EQ(test, finished.state, 2);
}

static void interrupted_when_it_lets_interrupts_on(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	eventlog_idle_enter(&idle, 10, 1, &finished);
	KUNIT_EXPECT_FALSE(test, eventlog_idle_exit(&idle, 14, &finished));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_interrupted(&idle, 15, EVENTLOG_INTERRUPT_TIMER, 236,
							  &finished));
	KUNIT_EXPECT_EQ(test, finished.woke, 14);
	KUNIT_EXPECT_EQ(test, finished.source, EVENTLOG_INTERRUPT_TIMER);
}

static void first_interrupt_woke_it(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	eventlog_idle_enter(&idle, 10, 1, &finished);
	eventlog_idle_interrupted(&idle, 12, EVENTLOG_INTERRUPT_TIMER, 1, &finished);
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 13, EVENTLOG_INTERRUPT_DEVICE, 2,
							   &finished));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 14, &finished));
	KUNIT_EXPECT_EQ(test, finished.woke, 12);
	KUNIT_EXPECT_EQ(test, finished.source, EVENTLOG_INTERRUPT_TIMER);
}

static void woken_without_interrupt(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	eventlog_idle_enter(&idle, 10, 1, &finished);
	eventlog_idle_exit(&idle, 14, &finished);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_switched(&idle, &finished));
	KUNIT_EXPECT_EQ(test, finished.woke, 14);
	KUNIT_EXPECT_EQ(test, finished.source, EVENTLOG_INTERRUPT_NONE);
	/* Only once. */
	KUNIT_EXPECT_FALSE(test, eventlog_idle_switched(&idle, &finished));
}

static void sleeps_again_at_once(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	eventlog_idle_enter(&idle, 10, 1, &finished);
	eventlog_idle_exit(&idle, 14, &finished);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_enter(&idle, 20, 3, &finished));
	KUNIT_EXPECT_EQ(test, finished.slept, 10);
	KUNIT_EXPECT_EQ(test, finished.state, 1);
	eventlog_idle_interrupted(&idle, 25, EVENTLOG_INTERRUPT_DEVICE, 9, &finished);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 26, &finished));
	KUNIT_EXPECT_EQ(test, finished.slept, 20);
	KUNIT_EXPECT_EQ(test, finished.state, 3);
}

/* Events may be enabled in the middle of a period. */
static void end_without_a_beginning(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event finished = nothing;

	KUNIT_EXPECT_FALSE(test, eventlog_idle_exit(&idle, 5, &finished));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 6, EVENTLOG_INTERRUPT_TIMER, 1,
							   &finished));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_switched(&idle, &finished));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(interrupted_in_its_sleep),
	KUNIT_CASE(interrupted_when_it_lets_interrupts_on),
	KUNIT_CASE(first_interrupt_woke_it),
	KUNIT_CASE(woken_without_interrupt),
	KUNIT_CASE(sleeps_again_at_once),
	KUNIT_CASE(end_without_a_beginning),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_idle", .test_cases = cases };

kunit_test_suite(suite);
