// SPDX-License-Identifier: GPL-2.0
/*
 * Subscribers in the kernel: consumers that are called with each event instead
 * of having rings.
 *
 * on_event() is called by the emitter with preemption disabled, in any context.
 * Registering and unregistering may sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/eventlog_subscriber.h>
#include <linux/export.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/user_namespace.h>
#include <uapi/linux/eventlog_device.h>

#include "source.h"

/* Tasks, softirqs, interrupts, NMIs: each may interrupt a call of the ones before. */
#define CONTEXTS 4

struct running {
	bool in_context[CONTEXTS];
};

struct eventlog_subscriber_state {
	struct eventlog_consumer consumer;
	struct eventlog_subscriber *subscriber;
	struct running __percpu *running;
};

static void call(struct eventlog_subscriber *subscriber,
		 const struct eventlog_event_instance *instance)
{
	const struct eventlog_source_event *event = instance->event;
	const struct eventlog_source *source = event->source;
	const struct eventlog_subscriber_event what = {
		.provider = source->name,
		.event = event->name,
		.payload = instance->payload,
		.size = instance->size,
		.time = instance->time,
		.number = event->id,
		.level = event->level,
		.keywords = event->keywords,
		.schema = source->schema,
		.schema_size = source->schema_size,
		.schema_hash = source->schema_hash,
		.owner = source->process_name,
		.process = pid_nr(source->process),
		.thread = task_pid_nr(current),
		.user = source->uid,
	};

	subscriber->on_event(subscriber, &what);
}

/*
 * Preemption is disabled. An event that on_event() emits itself is not
 * delivered to the same subscriber, because that would not end.
 */
static void deliver(struct eventlog_consumer *consumer,
		    const struct eventlog_event_instance *instance)
{
	struct eventlog_subscriber_state *state =
		container_of(consumer, struct eventlog_subscriber_state, consumer);
	struct running *here = this_cpu_ptr(state->running);
	bool *running = &here->in_context[interrupt_context_level()];

	if (READ_ONCE(*running)) {
		atomic_long_inc(&state->subscriber->suppressed);
		return;
	}
	WRITE_ONCE(*running, true);
	barrier();
	call(state->subscriber, instance);
	barrier();
	WRITE_ONCE(*running, false);
}

static bool is_pattern(const char *text)
{
	return text && text[0] &&
	       strnlen(text, EVENTLOG_IDENTIFIER_SIZE) < EVENTLOG_IDENTIFIER_SIZE;
}

static int check_pattern(const struct eventlog_subscriber *subscriber,
			 const struct eventlog_event_pattern *pattern)
{
	if (!is_pattern(pattern->provider) || !is_pattern(pattern->event)) {
		pr_err("subscriber %s: a pattern needs a provider and an event of 1 to %d characters\n",
		       subscriber->name, EVENTLOG_IDENTIFIER_SIZE - 1);
		return -EINVAL;
	}
	if ((unsigned int)pattern->level > EVENTLOG_LEVEL_TRACE) {
		pr_err("subscriber %s: the pattern for %s:%s has an invalid level\n",
		       subscriber->name, pattern->provider, pattern->event);
		return -EINVAL;
	}
	return 0;
}

static int check(const struct eventlog_subscriber *subscriber)
{
	int error = 0;
	u16 i;

	if (!subscriber->name || !subscriber->name[0]) {
		pr_err("a subscriber needs a name\n");
		return -EINVAL;
	}
	if (!subscriber->on_event) {
		pr_err("subscriber %s: it needs a function on_event()\n",
		       subscriber->name);
		return -EINVAL;
	}
	if (!subscriber->patterns || !subscriber->pattern_count ||
	    subscriber->pattern_count > EVENTLOG_RULES_MAX) {
		pr_err("subscriber %s: it needs 1 to %d patterns\n", subscriber->name,
		       EVENTLOG_RULES_MAX);
		return -EINVAL;
	}
	for (i = 0; i < subscriber->pattern_count && !error; i++)
		error = check_pattern(subscriber, &subscriber->patterns[i]);
	return error;
}

static int make_rules(struct eventlog_filter *filter, const struct eventlog_subscriber *subscriber)
{
	u16 i;

	filter->rules = kcalloc(subscriber->pattern_count, sizeof(*filter->rules), GFP_KERNEL);
	if (!filter->rules)
		return -ENOMEM;
	filter->rule_count = subscriber->pattern_count;
	for (i = 0; i < subscriber->pattern_count; i++) {
		const struct eventlog_event_pattern *pattern = &subscriber->patterns[i];
		struct eventlog_filter_rule *rule = &filter->rules[i];

		strscpy(rule->provider, pattern->provider, sizeof(rule->provider));
		strscpy(rule->event, pattern->event, sizeof(rule->event));
		rule->level = pattern->level;
		rule->keywords = pattern->keywords;
	}
	return 0;
}

static void free_state(struct eventlog_subscriber_state *state)
{
	free_percpu(state->running);
	eventlog_filter_free(&state->consumer.filter);
	kfree(state);
}

static struct eventlog_subscriber_state *prepare(struct eventlog_subscriber *subscriber)
{
	struct eventlog_subscriber_state *state = kzalloc(sizeof(*state), GFP_KERNEL);
	struct eventlog_consumer *consumer;

	if (!state)
		return NULL;
	state->subscriber = subscriber;
	consumer = &state->consumer;
	consumer->deliver = deliver;
	/* Modules may receive the events of all users. */
	consumer->cred.uid = GLOBAL_ROOT_UID;
	consumer->cred.may_receive_all = true;
	consumer->cred.pid_ns = &init_pid_ns;
	consumer->cred.user_ns = &init_user_ns;
	state->running = alloc_percpu(struct running);
	if (state->running && !make_rules(&consumer->filter, subscriber))
		return state;
	free_state(state);
	return NULL;
}

int eventlog_subscriber_register(struct eventlog_subscriber *subscriber)
{
	struct eventlog_subscriber_state *state;
	int error;

	if (subscriber->registered)
		return -EBUSY;
	error = check(subscriber);
	if (error)
		return error;
	state = prepare(subscriber);
	if (!state)
		return -ENOMEM;
	atomic_long_set(&subscriber->suppressed, 0);
	error = eventlog_consumer_register(&state->consumer);
	if (error) {
		eventlog_consumer_unregister(&state->consumer);
		free_state(state);
		return error;
	}
	subscriber->registered = state;
	return 0;
}
EXPORT_SYMBOL_GPL(eventlog_subscriber_register);

void eventlog_subscriber_unregister(struct eventlog_subscriber *subscriber)
{
	struct eventlog_subscriber_state *state = subscriber->registered;

	if (!state)
		return;
	eventlog_consumer_unregister(&state->consumer);
	subscriber->registered = NULL;
	free_state(state);
}
EXPORT_SYMBOL_GPL(eventlog_subscriber_unregister);
