// SPDX-License-Identifier: GPL-2.0
/* Tests of idle.c: from when until when a CPU slept, and what woke it. */
#include "../idle.h"

#include "kunit.h"

static const struct idle_event nothing;

static void interrupted_in_its_sleep(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	KUNIT_EXPECT_FALSE(test, eventlog_idle_enter(&idle, 10, 2, &over));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 15, EVENTLOG_INTERRUPT_DEVICE, 7,
							   &over));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 16, &over));
	KUNIT_EXPECT_EQ(test, over.slept, 10);
	KUNIT_EXPECT_EQ(test, over.woke, 15);
	KUNIT_EXPECT_EQ(test, over.source, EVENTLOG_INTERRUPT_DEVICE);
	KUNIT_EXPECT_EQ(test, over.interrupt, 7);
	KUNIT_EXPECT_EQ(test, over.state, 2);
}

static void interrupted_when_it_lets_interrupts_on(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	eventlog_idle_enter(&idle, 10, 1, &over);
	KUNIT_EXPECT_FALSE(test, eventlog_idle_exit(&idle, 14, &over));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_interrupted(&idle, 15, EVENTLOG_INTERRUPT_TIMER, 236,
							  &over));
	KUNIT_EXPECT_EQ(test, over.woke, 14);
	KUNIT_EXPECT_EQ(test, over.source, EVENTLOG_INTERRUPT_TIMER);
}

static void first_interrupt_woke_it(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	eventlog_idle_enter(&idle, 10, 1, &over);
	eventlog_idle_interrupted(&idle, 12, EVENTLOG_INTERRUPT_TIMER, 1, &over);
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 13, EVENTLOG_INTERRUPT_DEVICE, 2,
							   &over));
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 14, &over));
	KUNIT_EXPECT_EQ(test, over.woke, 12);
	KUNIT_EXPECT_EQ(test, over.source, EVENTLOG_INTERRUPT_TIMER);
}

static void woken_by_nobody(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	eventlog_idle_enter(&idle, 10, 1, &over);
	eventlog_idle_exit(&idle, 14, &over);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_switched(&idle, &over));
	KUNIT_EXPECT_EQ(test, over.woke, 14);
	KUNIT_EXPECT_EQ(test, over.source, EVENTLOG_INTERRUPT_NONE);
	/* Once. */
	KUNIT_EXPECT_FALSE(test, eventlog_idle_switched(&idle, &over));
}

static void sleeps_again_at_once(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	eventlog_idle_enter(&idle, 10, 1, &over);
	eventlog_idle_exit(&idle, 14, &over);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_enter(&idle, 20, 3, &over));
	KUNIT_EXPECT_EQ(test, over.slept, 10);
	KUNIT_EXPECT_EQ(test, over.state, 1);
	eventlog_idle_interrupted(&idle, 25, EVENTLOG_INTERRUPT_DEVICE, 9, &over);
	KUNIT_EXPECT_TRUE(test, eventlog_idle_exit(&idle, 26, &over));
	KUNIT_EXPECT_EQ(test, over.slept, 20);
	KUNIT_EXPECT_EQ(test, over.state, 3);
}

/* Who begins to listen may come in the midst of a period. */
static void end_without_a_beginning(struct kunit *test)
{
	struct eventlog_idle idle = { };
	struct idle_event over = nothing;

	KUNIT_EXPECT_FALSE(test, eventlog_idle_exit(&idle, 5, &over));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_interrupted(&idle, 6, EVENTLOG_INTERRUPT_TIMER, 1,
							   &over));
	KUNIT_EXPECT_FALSE(test, eventlog_idle_switched(&idle, &over));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(interrupted_in_its_sleep),
	KUNIT_CASE(interrupted_when_it_lets_interrupts_on),
	KUNIT_CASE(first_interrupt_woke_it),
	KUNIT_CASE(woken_by_nobody),
	KUNIT_CASE(sleeps_again_at_once),
	KUNIT_CASE(end_without_a_beginning),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_idle", .test_cases = cases };

kunit_test_suite(suite);
