// SPDX-License-Identifier: GPL-2.0
/* Tests of subscriber.c: validation, delivery, and that a call does not lead to itself. */
#include <linux/eventlog_subscriber.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include "../provider.h"

#include "kunit.h"

struct sold_event {
	u64 number;
};

struct failed_event {
	u64 number;
};

EVENTLOG_EVENT(sold, EVENTLOG_FIELDS(EVENTLOG_FIELD(sold, number)), .keywords = BIT_ULL(0));
EVENTLOG_EVENT(failed, EVENTLOG_FIELDS(EVENTLOG_FIELD(failed, number)),
	       .level = EVENTLOG_LEVEL_ERROR);

EVENTLOG_PROVIDER(trial, EVENTLOG_PROVIDES(&event_sold, &event_failed),
		  EVENTLOG_KEYWORDS({ "sales", 0 }));

static unsigned int calls;
static u64 numbers; /* sum of the payloads of delivered events */
static struct eventlog_subscriber_event last;

static void count_it(const struct eventlog_subscriber_event *what)
{
	u64 number;

	memcpy(&number, what->payload, sizeof(number));
	numbers += number;
	calls++;
	last = *what;
}

static void on_event(struct eventlog_subscriber *subscriber,
		     const struct eventlog_subscriber_event *what)
{
	count_it(what);
}

EVENTLOG_SUBSCRIBER(all, EVENTLOG_PATTERNS({ "trial", "*" }), .on_event = on_event);
EVENTLOG_SUBSCRIBER(failures,
		    EVENTLOG_PATTERNS({ "no one", "*" },
				      { "t?ial", "*", .level = EVENTLOG_LEVEL_ERROR }),
		    .on_event = on_event);

/* Simulates an NMI, which cannot be requested. */
static void emit_in_nmi(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(NMI_OFFSET);
	EVENTLOG_EMIT(sold, .number = 100);
	__preempt_count_sub(NMI_OFFSET);
	local_irq_restore(flags);
}

static void emit_more(struct eventlog_subscriber *subscriber,
		      const struct eventlog_subscriber_event *what)
{
	count_it(what);
	EVENTLOG_EMIT(failed, .number = 1000);
	if (!in_nmi())
		emit_in_nmi();
}

EVENTLOG_SUBSCRIBER(emitting, EVENTLOG_PATTERNS({ "trial", "*" }), .on_event = emit_more);

/* Unregistered with the test, whether it was registered by then or not. */
KUNIT_DEFINE_ACTION_WRAPPER(unregister, eventlog_subscriber_unregister,
			    struct eventlog_subscriber *);

static void begin(struct kunit *test, struct eventlog_subscriber *subscriber)
{
	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(subscriber));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unregister, subscriber));
}

static int prepare(struct kunit *test)
{
	calls = 0;
	numbers = 0;
	return eventlog_provider_register(&trial_provider);
}

static void clean_up(struct kunit *test)
{
	eventlog_provider_unregister(&trial_provider);
}

static void rejects(struct kunit *test, const char *name,
		    const struct eventlog_event_pattern *patterns, u16 count)
{
	struct eventlog_subscriber subscriber = {
		.name = name, .patterns = patterns, .pattern_count = count, .on_event = on_event,
	};

	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_subscriber_register(&subscriber));
	KUNIT_EXPECT_NULL(test, subscriber.registered);
	/* Has no effect. */
	eventlog_subscriber_unregister(&subscriber);
}

static void rejects_invalid_declarations(struct kunit *test)
{
	static const struct eventlog_event_pattern right[65] = { { "trial", "*" } };
	char endless[65] = "";
	const struct eventlog_event_pattern wrong[] = {
		{ NULL, "*" }, { "trial", NULL }, { "", "*" }, { "trial", "" }, { endless, "*" },
		{ "trial", endless }, { "trial", "*", .level = EVENTLOG_LEVEL_TRACE + 1 },
	};
	struct eventlog_subscriber silent = {
		.name = "silent", .patterns = right, .pattern_count = 1,
	};
	size_t i;

	memset(endless, '*', sizeof(endless) - 1);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		rejects(test, "wrong", &wrong[i], 1);
	rejects(test, NULL, right, 1);
	rejects(test, "", right, 1);
	rejects(test, "nothing", NULL, 1);
	rejects(test, "nothing", right, 0);
	rejects(test, "too much", right, ARRAY_SIZE(right));
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_subscriber_register(&silent));
}

static void rejects_a_second_registration(struct kunit *test)
{
	begin(test, &all_subscriber);
	KUNIT_EXPECT_EQ(test, -EBUSY, eventlog_subscriber_register(&all_subscriber));
}

static void delivers_only_while_registered(struct kunit *test)
{
	EVENTLOG_EMIT(sold, .number = 1);
	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(&all_subscriber));
	EVENTLOG_EMIT(sold, .number = 10);
	eventlog_subscriber_unregister(&all_subscriber);
	KUNIT_EXPECT_FALSE(test, eventlog_event_enabled(&event_sold));
	EVENTLOG_EMIT(sold, .number = 100);
	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(&all_subscriber));
	EVENTLOG_EMIT(sold, .number = 1000);
	eventlog_subscriber_unregister(&all_subscriber);
	KUNIT_EXPECT_EQ(test, numbers, 1010);
}

static void describes_the_event_and_its_owner(struct kunit *test)
{
	begin(test, &all_subscriber);
	EVENTLOG_EMIT(failed, .number = 7);
	KUNIT_ASSERT_EQ(test, calls, 1);
	KUNIT_EXPECT_STREQ(test, last.provider, "trial");
	KUNIT_EXPECT_STREQ(test, last.event, "failed");
	KUNIT_EXPECT_STREQ(test, last.owner, KBUILD_MODNAME);
	KUNIT_EXPECT_EQ(test, last.number, 1);
	KUNIT_EXPECT_EQ(test, last.size, sizeof(u64));
	KUNIT_EXPECT_EQ(test, last.level, EVENTLOG_LEVEL_ERROR);
	KUNIT_EXPECT_EQ(test, last.keywords, 0);
	KUNIT_EXPECT_EQ(test, last.process, 0);
	KUNIT_EXPECT_EQ(test, last.thread, current->pid);
	KUNIT_EXPECT_TRUE(test, uid_eq(last.user, GLOBAL_ROOT_UID));
	KUNIT_EXPECT_NOT_NULL(test, last.schema);
	KUNIT_EXPECT_GT(test, last.schema_size, 0);
}

static void delivers_events_that_match_a_pattern(struct kunit *test)
{
	begin(test, &failures_subscriber);
	KUNIT_EXPECT_FALSE(test, eventlog_event_enabled(&event_sold));
	EVENTLOG_EMIT(sold, .number = 1);
	EVENTLOG_EMIT(failed, .number = 10);
	KUNIT_EXPECT_EQ(test, numbers, 10);
}

static void delivers_to_every_subscriber(struct kunit *test)
{
	begin(test, &all_subscriber);
	begin(test, &failures_subscriber);
	EVENTLOG_EMIT(sold, .number = 1);
	EVENTLOG_EMIT(failed, .number = 10);
	KUNIT_EXPECT_EQ(test, numbers, 21);
}

/* One event is delivered in the task and one in the NMI; those that they emit are suppressed. */
static void suppresses_events_of_its_own_calls(struct kunit *test)
{
	begin(test, &emitting_subscriber);
	EVENTLOG_EMIT(sold, .number = 1);
	KUNIT_EXPECT_EQ(test, numbers, 101);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&emitting_subscriber.suppressed), 2);
	EVENTLOG_EMIT(sold, .number = 1);
	KUNIT_EXPECT_EQ(test, numbers, 202);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&emitting_subscriber.suppressed), 4);
}

/* Other subscribers get them. */
static void delivers_events_of_calls_to_other_subscribers(struct kunit *test)
{
	begin(test, &emitting_subscriber);
	begin(test, &failures_subscriber);
	EVENTLOG_EMIT(sold, .number = 1);
	KUNIT_EXPECT_EQ(test, numbers, 2101);
	KUNIT_EXPECT_EQ(test, atomic_long_read(&failures_subscriber.suppressed), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(rejects_invalid_declarations),
	KUNIT_CASE(rejects_a_second_registration),
	KUNIT_CASE(delivers_only_while_registered),
	KUNIT_CASE(describes_the_event_and_its_owner),
	KUNIT_CASE(delivers_events_that_match_a_pattern),
	KUNIT_CASE(delivers_to_every_subscriber),
	KUNIT_CASE(suppresses_events_of_its_own_calls),
	KUNIT_CASE(delivers_events_of_calls_to_other_subscribers),
	{}
};

static struct kunit_suite suite = {
	.name = "eventlog_subscriber", .init = prepare, .exit = clean_up, .test_cases = cases,
};

kunit_test_suite(suite);
