// SPDX-License-Identifier: GPL-2.0
/*
 * A subscriber for tests of the module.  Parameters set its pattern and show what it received.
 * With `echo` it emits an event for each received one.
 */
#include <linux/eventlog_subscriber.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/spinlock.h>

struct echo_event {
	u64 number;
};

EVENTLOG_EVENT(echo, EVENTLOG_FIELDS(EVENTLOG_FIELD(echo, number)));

EVENTLOG_PROVIDER(echoes, EVENTLOG_PROVIDES(&event_echo));

static char *provider = "*";
module_param(provider, charp, 0444);
MODULE_PARM_DESC(provider, "the pattern for providers");

static char *event = "*";
module_param(event, charp, 0444);
MODULE_PARM_DESC(event, "the pattern for events");

static unsigned long long keywords;
module_param(keywords, ullong, 0444);
MODULE_PARM_DESC(keywords, "keywords, of which an event has at least one");

static unsigned int level;
module_param(level, uint, 0444);
MODULE_PARM_DESC(level, "the maximum level of an event");

static bool echo;
module_param(echo, bool, 0444);
MODULE_PARM_DESC(echo, "whether it emits an event for each received one");

static atomic_long_t count;

/* The last event, as text. */
static DEFINE_RAW_SPINLOCK(lock);
static char last[512];

static void describe(const struct eventlog_subscriber_event *what)
{
	unsigned long flags;

	/* An interrupt or NMI must not wait for the context that it interrupted. */
	if (!raw_spin_trylock_irqsave(&lock, flags))
		return;
	scnprintf(last, sizeof(last),
		  "%s:%s number=%u level=%u keywords=%llx schema=%u hash=%llx owner=%s process=%d thread=%d user=%u payload=%*phN\n",
		  what->provider, what->event, what->number, what->level, what->keywords,
		  what->schema_size, what->schema_hash, what->owner, what->process, what->thread,
		  from_kuid_munged(&init_user_ns, what->user), (int)min(what->size, 64U),
		  what->payload);
	raw_spin_unlock_irqrestore(&lock, flags);
}

static void receive(struct eventlog_subscriber *subscriber, const struct eventlog_subscriber_event *what)
{
	const long number = atomic_long_inc_return(&count);

	describe(what);
	if (echo)
		EVENTLOG_EMIT(echo, .number = number);
}

static struct eventlog_event_pattern pattern;

static struct eventlog_subscriber test_subscriber = {
	.name = "test",
	.patterns = &pattern,
	.pattern_count = 1,
	.on_event = receive,
};

static int get_long(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%ld\n", atomic_long_read((atomic_long_t *)parameter->arg));
}

static const struct kernel_param_ops long_operations = {
	.get = get_long,
};
module_param_cb(received, &long_operations, &count, 0444);
MODULE_PARM_DESC(received, "the number of received events");
module_param_cb(left_out, &long_operations, &test_subscriber.suppressed, 0444);
MODULE_PARM_DESC(left_out, "the number of skipped events that it caused itself");

static int get_last(char *text, const struct kernel_param *parameter)
{
	unsigned long flags;
	int size;

	raw_spin_lock_irqsave(&lock, flags);
	size = sysfs_emit(text, "%s", last);
	raw_spin_unlock_irqrestore(&lock, flags);
	return size;
}

static const struct kernel_param_ops last_operations = {
	.get = get_last,
};
module_param_cb(last, &last_operations, NULL, 0444);
MODULE_PARM_DESC(last, "the last event");

static int __init subscriber_init(void)
{
	int error;

	pattern = (struct eventlog_event_pattern){ provider, event, level, keywords };
	error = eventlog_provider_register(&echoes_provider);
	if (error)
		return error;
	error = eventlog_subscriber_register(&test_subscriber);
	if (error)
		eventlog_provider_unregister(&echoes_provider);
	return error;
}

static void __exit subscriber_exit(void)
{
	eventlog_subscriber_unregister(&test_subscriber);
	eventlog_provider_unregister(&echoes_provider);
}

module_init(subscriber_init);
module_exit(subscriber_exit);

MODULE_DESCRIPTION("A subscriber, for tests of eventlog");
MODULE_LICENSE("GPL");
