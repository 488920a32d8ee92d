// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of event.c: the type number of a removed event is not assigned again.
 * Only numbers are checked; tracing does not know these events.
 */
#include <linux/slab.h>

#include "../eventlog.h"

#include "kunit.h"

#define KEPT 1024

static struct trace_event_functions functions;

/* Registers another trace event and returns its number. */
static int next_number(struct kunit *test)
{
	struct trace_event other = { .funcs = &functions };
	const int number = register_trace_event(&other);

	KUNIT_ASSERT_NE(test, number, 0);
	unregister_trace_event(&other);
	return number;
}

/* Adds a dead event with a free number, as that of an event that tracing has just removed. */
static struct eventlog_event *add_dead(struct kunit *test, int number)
{
	struct eventlog_event *event = kzalloc(sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->call.event.type = number;
	mutex_lock(&eventlog_registry_lock);
	eventlog_dead_event_add(event);
	mutex_unlock(&eventlog_registry_lock);
	return event;
}

static void trim(void)
{
	mutex_lock(&eventlog_registry_lock);
	eventlog_dead_events_trim();
	mutex_unlock(&eventlog_registry_lock);
}

static void free_all(struct kunit *test)
{
	mutex_lock(&eventlog_registry_lock);
	eventlog_dead_events_exit();
	mutex_unlock(&eventlog_registry_lock);
}

static void reserves_the_number(struct kunit *test)
{
	const int number = next_number(test);
	const struct eventlog_event *event = add_dead(test, number);

	KUNIT_EXPECT_EQ(test, event->placeholder.type, number);
	KUNIT_EXPECT_NE(test, next_number(test), number);
	trim();
	KUNIT_EXPECT_NE(test, next_number(test), number);
}

static void reserves_a_number_above_free_ones(struct kunit *test)
{
	struct trace_event others[4] = {};
	const struct eventlog_event *event;
	int i, lowest, number;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		others[i].funcs = &functions;
		KUNIT_ASSERT_NE(test, register_trace_event(&others[i]), 0);
	}
	lowest = others[0].type;
	number = others[ARRAY_SIZE(others) - 1].type;
	for (i = 0; i < ARRAY_SIZE(others); i++)
		unregister_trace_event(&others[i]);
	event = add_dead(test, number);
	KUNIT_EXPECT_EQ(test, event->placeholder.type, number);
	/* The numbers that were taken in between are free again. */
	KUNIT_EXPECT_EQ(test, next_number(test), lowest);
}

static void frees_only_the_oldest(struct kunit *test)
{
	const int oldest = next_number(test);
	int second = 0;
	int i;

	add_dead(test, oldest);
	for (i = 1; i < KEPT; i++) {
		const int number = next_number(test);

		add_dead(test, number);
		if (i == 1)
			second = number;
	}
	trim();
	KUNIT_EXPECT_GT(test, next_number(test), second);
	add_dead(test, next_number(test));
	trim();
	KUNIT_EXPECT_EQ(test, next_number(test), oldest);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(reserves_the_number),
	KUNIT_CASE(reserves_a_number_above_free_ones),
	KUNIT_CASE(frees_only_the_oldest),
	{}
};

static struct kunit_suite suite = {
	.name = "eventlog_event",
	.test_cases = cases,
	.exit = free_all,
};

kunit_test_suite(suite);
