// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of dumps of state: to one listener, once, ended by an event; and that
 * removing a provider or a listener waits for a dump.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/eventlog_subscriber.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

#include "../provider.h"

#include "kunit.h"

#define DUMPED 2 /* events of a dump */
#define STEPS 16 /* that a listener remembers */

struct item_event {
	u64 number;
};

struct other_event {
	u64 number;
};

EVENTLOG_EVENT(item, EVENTLOG_FIELDS(EVENTLOG_FIELD(item, number)));
EVENTLOG_EVENT(other, EVENTLOG_FIELDS(EVENTLOG_FIELD(other, number)),
	       .level = EVENTLOG_LEVEL_VERBOSE);
EVENTLOG_STATE_COMPLETE;

/* What a listener has received: numbers of items, 0 for the end of a dump. */
struct received {
	u64 numbers[STEPS];
	unsigned int count;
};

static struct received early_received, late_received;
static DEFINE_SPINLOCK(received_lock);
static atomic_t dumps;
static bool dump_waits;
static DECLARE_COMPLETION(has_begun);
static DECLARE_COMPLETION(may_end);

static void dump(struct eventlog_provider *provider, const struct eventlog_dump *dump)
{
	u64 i;

	might_sleep();
	atomic_inc(&dumps);
	complete(&has_begun);
	if (dump_waits)
		wait_for_completion(&may_end);
	for (i = 1; i <= DUMPED; i++)
		EVENTLOG_EMIT_STATE(dump, item, .number = i);
	EVENTLOG_EMIT_STATE(dump, other, .number = 100);
}

EVENTLOG_PROVIDER(shelf, EVENTLOG_PROVIDES(&event_item, &event_other, &event_state_complete),
		  .dump = dump);

static void remember(struct received *to, const struct eventlog_subscriber_event *what)
{
	unsigned long flags;
	u64 number = 0;

	if (what->size)
		memcpy(&number, what->payload, sizeof(number));
	spin_lock_irqsave(&received_lock, flags);
	if (to->count < STEPS)
		to->numbers[to->count++] = number;
	spin_unlock_irqrestore(&received_lock, flags);
}

static void on_early(struct eventlog_subscriber *subscriber,
		     const struct eventlog_subscriber_event *what)
{
	remember(&early_received, what);
}

static void on_late(struct eventlog_subscriber *subscriber,
		    const struct eventlog_subscriber_event *what)
{
	remember(&late_received, what);
}

EVENTLOG_SUBSCRIBER(early, EVENTLOG_PATTERNS({ "shelf", "item" }), .on_event = on_early);
EVENTLOG_SUBSCRIBER(late, EVENTLOG_PATTERNS({ "shelf", "item" }), .on_event = on_late);
EVENTLOG_SUBSCRIBER(unrelated, EVENTLOG_PATTERNS({ "no_shelf", "*" }), .on_event = on_late);

KUNIT_DEFINE_ACTION_WRAPPER(unregister, eventlog_subscriber_unregister,
			    struct eventlog_subscriber *);
KUNIT_DEFINE_ACTION_WRAPPER(unregister_provider, eventlog_provider_unregister,
			    struct eventlog_provider *);

static void begin(struct kunit *test, struct eventlog_subscriber *subscriber)
{
	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(subscriber));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unregister, subscriber));
}

static void provide(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, eventlog_provider_register(&shelf_provider));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unregister_provider,
							   &shelf_provider));
}

static int prepare(struct kunit *test)
{
	memset(&early_received, 0, sizeof(early_received));
	memset(&late_received, 0, sizeof(late_received));
	atomic_set(&dumps, 0);
	dump_waits = false;
	reinit_completion(&has_begun);
	reinit_completion(&may_end);
	return 0;
}

static void expect_received(struct kunit *test, const struct received *received,
			    const u64 *numbers, unsigned int count)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, received->count, count);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ(test, received->numbers[i], numbers[i]);
}

#define EXPECT_RECEIVED(test, received, ...)						\
	expect_received(test, received, (const u64[]){ __VA_ARGS__ },			\
			ARRAY_SIZE(((const u64[]){ __VA_ARGS__ })))

static void dumps_to_a_new_listener_only(struct kunit *test)
{
	provide(test);
	begin(test, &early_subscriber);
	begin(test, &late_subscriber);
	EVENTLOG_EMIT(item, .number = 7);
	EXPECT_RECEIVED(test, &early_received, 1, 2, 0, 7);
	EXPECT_RECEIVED(test, &late_received, 1, 2, 0, 7);
	KUNIT_EXPECT_EQ(test, atomic_read(&dumps), 2);
}

static void dumps_to_listeners_of_before(struct kunit *test)
{
	begin(test, &early_subscriber);
	provide(test);
	EXPECT_RECEIVED(test, &early_received, 1, 2, 0);
}

static void does_not_dump_to_listeners_of_others(struct kunit *test)
{
	provide(test);
	begin(test, &unrelated_subscriber);
	KUNIT_EXPECT_EQ(test, atomic_read(&dumps), 0);
	KUNIT_EXPECT_EQ(test, late_received.count, 0);
}

static void dumps_again_to_a_later_registration(struct kunit *test)
{
	provide(test);
	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(&early_subscriber));
	eventlog_subscriber_unregister(&early_subscriber);
	begin(test, &early_subscriber);
	EXPECT_RECEIVED(test, &early_received, 1, 2, 0, 1, 2, 0);
}

/* A call in another thread. */
struct call {
	int (*function)(struct call *call);
	int result;
	struct completion done;
};

static int run_call(void *data)
{
	struct call *call = data;

	call->result = call->function(call);
	complete(&call->done);
	return 0;
}

static void start(struct kunit *test, struct call *call)
{
	init_completion(&call->done);
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(run_call, call, "eventlog_dump")));
}

static bool is_done_soon(struct call *call)
{
	msleep(50);
	return completion_done(&call->done);
}

static int subscribe(struct call *call)
{
	return eventlog_subscriber_register(&late_subscriber);
}

static int withdraw(struct call *call)
{
	eventlog_provider_unregister(&shelf_provider);
	return atomic_read(&dumps);
}

static int publish(struct call *call)
{
	return eventlog_provider_register(&shelf_provider);
}

static int unsubscribe(struct call *call)
{
	eventlog_subscriber_unregister(&early_subscriber);
	return 0;
}

/* Another listener gets the change only; the new one gets it in front of its dump. */
static void emits_changes_to_all_during_a_dump(struct kunit *test)
{
	struct call subscribing = { .function = subscribe };

	provide(test);
	begin(test, &early_subscriber);
	dump_waits = true;
	reinit_completion(&has_begun);
	start(test, &subscribing);
	wait_for_completion(&has_begun);
	EVENTLOG_EMIT(item, .number = 7);
	complete(&may_end);
	wait_for_completion(&subscribing.done);
	EXPECT_RECEIVED(test, &early_received, 1, 2, 0, 7);
	EXPECT_RECEIVED(test, &late_received, 7, 1, 2, 0);
	eventlog_subscriber_unregister(&late_subscriber);
}

/* The dump of a provider that is being removed has no end: it may lack events. */
static void unregistering_a_provider_waits_for_a_dump(struct kunit *test)
{
	struct call subscribing = { .function = subscribe };
	struct call removing = { .function = withdraw };

	KUNIT_ASSERT_EQ(test, 0, eventlog_provider_register(&shelf_provider));
	dump_waits = true;
	start(test, &subscribing);
	wait_for_completion(&has_begun);
	start(test, &removing);
	KUNIT_EXPECT_FALSE(test, is_done_soon(&removing));
	complete(&may_end);
	wait_for_completion(&subscribing.done);
	wait_for_completion(&removing.done);
	KUNIT_EXPECT_EQ(test, subscribing.result, 0);
	KUNIT_EXPECT_EQ(test, late_received.count, 0);
	eventlog_subscriber_unregister(&late_subscriber);
}

/* It gets all of the dump. */
static void removing_a_listener_waits_for_its_dump(struct kunit *test)
{
	struct call publishing = { .function = publish };
	struct call removing = { .function = unsubscribe };

	KUNIT_ASSERT_EQ(test, 0, eventlog_subscriber_register(&early_subscriber));
	dump_waits = true;
	start(test, &publishing);
	wait_for_completion(&has_begun);
	start(test, &removing);
	KUNIT_EXPECT_FALSE(test, is_done_soon(&removing));
	complete(&may_end);
	wait_for_completion(&removing.done);
	wait_for_completion(&publishing.done);
	KUNIT_EXPECT_EQ(test, publishing.result, 0);
	EXPECT_RECEIVED(test, &early_received, 1, 2, 0);
	KUNIT_EXPECT_FALSE(test, eventlog_event_enabled(&event_item));
	eventlog_provider_unregister(&shelf_provider);
}

static void rejects_a_dump_without_an_end(struct kunit *test)
{
	struct eventlog_provider_event two[] = { event_state_complete, event_state_complete };
	struct eventlog_provider_event full = event_item;
	struct eventlog_provider_event *const without[] = { &event_item };
	struct eventlog_provider_event *const twice[] = { &two[0], &two[1] };
	struct eventlog_provider_event *const not_empty[] = { &full };
	struct eventlog_provider wrong = {
		.name = "wrong", .owner = KBUILD_MODNAME, .events = without, .event_count = 1,
		.dump = dump,
	};

	full.kind = EVENTLOG_EVENT_STATE_COMPLETE;
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_provider_register(&wrong));
	wrong.events = not_empty;
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_provider_register(&wrong));
	wrong.events = twice;
	wrong.event_count = 2;
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_provider_register(&wrong));
	KUNIT_EXPECT_EQ(test, atomic_read(&dumps), 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(dumps_to_a_new_listener_only),
	KUNIT_CASE(dumps_to_listeners_of_before),
	KUNIT_CASE(does_not_dump_to_listeners_of_others),
	KUNIT_CASE(dumps_again_to_a_later_registration),
	KUNIT_CASE(emits_changes_to_all_during_a_dump),
	KUNIT_CASE(unregistering_a_provider_waits_for_a_dump),
	KUNIT_CASE(removing_a_listener_waits_for_its_dump),
	KUNIT_CASE(rejects_a_dump_without_an_end),
	{}
};

static struct kunit_suite suite = {
	.name = "eventlog_dump", .init = prepare, .test_cases = cases,
};

kunit_test_suite(suite);
