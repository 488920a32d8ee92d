// SPDX-License-Identifier: GPL-2.0
/*
 * Subscribers in the kernel: each is a recipient, as a subscription is, that is called in the
 * place of writing to its rings.
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

/* Tasks, softirqs, interrupts, NMIs: one may come while another one's call is under way. */
#define CONTEXTS 4

struct inside {
	bool by_context[CONTEXTS];
};

struct eventlog_hearing {
	struct eventlog_recipient recipient;
	struct eventlog_subscriber *subscriber;
	struct inside __percpu *inside;
};

static void call(struct eventlog_subscriber *subscriber,
		 const struct eventlog_occurrence *occurrence)
{
	const struct eventlog_source_event *event = occurrence->event;
	const struct eventlog_source *source = event->source;
	const struct eventlog_heard what = {
		.provider = source->name,
		.event = event->name,
		.payload = occurrence->payload,
		.size = occurrence->size,
		.time = occurrence->time,
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

	subscriber->heard(subscriber, &what);
}

/* With preemption off.  Who is called does not hear what it does itself: that would not end. */
static void hear(struct eventlog_recipient *recipient,
		 const struct eventlog_occurrence *occurrence)
{
	struct eventlog_hearing *hearing =
		container_of(recipient, struct eventlog_hearing, recipient);
	struct inside *here = this_cpu_ptr(hearing->inside);
	bool *inside = &here->by_context[interrupt_context_level()];

	if (READ_ONCE(*inside)) {
		atomic_long_inc(&hearing->subscriber->left_out);
		return;
	}
	WRITE_ONCE(*inside, true);
	barrier();
	call(hearing->subscriber, occurrence);
	barrier();
	WRITE_ONCE(*inside, false);
}

static bool is_pattern(const char *text)
{
	return text && text[0] && strnlen(text, EVENTLOG_NAME_ROOM) < EVENTLOG_NAME_ROOM;
}

static int check_wish(const struct eventlog_subscriber *subscriber,
		      const struct eventlog_wish *wish)
{
	if (!is_pattern(wish->provider) || !is_pattern(wish->event)) {
		pr_err("subscriber %s: a wish needs patterns for the provider and the event, of 1 to %d characters\n",
		       subscriber->name, EVENTLOG_NAME_ROOM - 1);
		return -EINVAL;
	}
	if ((unsigned int)wish->level > EVENTLOG_LEVEL_TRACE) {
		pr_err("subscriber %s: the wish for %s:%s has a level that is none\n",
		       subscriber->name, wish->provider, wish->event);
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
	if (!subscriber->heard) {
		pr_err("subscriber %s: it needs a function that is called, `heard`\n",
		       subscriber->name);
		return -EINVAL;
	}
	if (!subscriber->wishes || !subscriber->wish_count ||
	    subscriber->wish_count > EVENTLOG_RULES_MAX) {
		pr_err("subscriber %s: it needs 1 to %d wishes\n", subscriber->name,
		       EVENTLOG_RULES_MAX);
		return -EINVAL;
	}
	for (i = 0; i < subscriber->wish_count && !error; i++)
		error = check_wish(subscriber, &subscriber->wishes[i]);
	return error;
}

static int make_rules(struct eventlog_filter *filter, const struct eventlog_subscriber *subscriber)
{
	u16 i;

	filter->rules = kcalloc(subscriber->wish_count, sizeof(*filter->rules), GFP_KERNEL);
	if (!filter->rules)
		return -ENOMEM;
	filter->rule_count = subscriber->wish_count;
	for (i = 0; i < subscriber->wish_count; i++) {
		const struct eventlog_wish *wish = &subscriber->wishes[i];
		struct eventlog_rule *rule = &filter->rules[i];

		strscpy(rule->provider, wish->provider, sizeof(rule->provider));
		strscpy(rule->event, wish->event, sizeof(rule->event));
		rule->level = wish->level;
		rule->keywords = wish->keywords;
	}
	return 0;
}

static void free_hearing(struct eventlog_hearing *hearing)
{
	free_percpu(hearing->inside);
	eventlog_filter_free(&hearing->recipient.filter);
	kfree(hearing);
}

static struct eventlog_hearing *prepare(struct eventlog_subscriber *subscriber)
{
	struct eventlog_hearing *hearing = kzalloc(sizeof(*hearing), GFP_KERNEL);
	struct eventlog_recipient *recipient;

	if (!hearing)
		return NULL;
	hearing->subscriber = subscriber;
	recipient = &hearing->recipient;
	recipient->hear = hear;
	/* The kernel hears everybody, whoever loads the module. */
	recipient->asker.uid = GLOBAL_ROOT_UID;
	recipient->asker.may_hear_all = true;
	recipient->asker.pids = &init_pid_ns;
	recipient->asker.users = &init_user_ns;
	hearing->inside = alloc_percpu(struct inside);
	if (hearing->inside && !make_rules(&recipient->filter, subscriber))
		return hearing;
	free_hearing(hearing);
	return NULL;
}

int eventlog_subscriber_register(struct eventlog_subscriber *subscriber)
{
	struct eventlog_hearing *hearing;
	int error;

	if (subscriber->registered)
		return -EBUSY;
	error = check(subscriber);
	if (error)
		return error;
	hearing = prepare(subscriber);
	if (!hearing)
		return -ENOMEM;
	atomic_long_set(&subscriber->left_out, 0);
	error = eventlog_sources_join(&hearing->recipient);
	if (error) {
		eventlog_sources_leave(&hearing->recipient);
		free_hearing(hearing);
		return error;
	}
	subscriber->registered = hearing;
	return 0;
}
EXPORT_SYMBOL_GPL(eventlog_subscriber_register);

void eventlog_subscriber_unregister(struct eventlog_subscriber *subscriber)
{
	struct eventlog_hearing *hearing = subscriber->registered;

	if (!hearing)
		return;
	eventlog_sources_leave(&hearing->recipient);
	subscriber->registered = NULL;
	free_hearing(hearing);
}
EXPORT_SYMBOL_GPL(eventlog_subscriber_unregister);
