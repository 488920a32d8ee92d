// SPDX-License-Identifier: GPL-2.0
/*
 * Nested events for tests of the module: emits an event within each request of an interrupt
 * for a CPU, while the parameter `on` is set.  Relay requests one when it wakes a reader of a
 * sub-buffer.  `tried` is the number of emits, `nested` the number of those within relay.
 */
#include <linux/cpumask.h>
#include <linux/eventlog.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct asked_event {
	u64 number;
};

EVENTLOG_EVENT(asked, EVENTLOG_FIELDS(EVENTLOG_FIELD(asked, number)));

EVENTLOG_PROVIDER(nested, EVENTLOG_PROVIDES(&event_asked));

static struct tracepoint *found;
static atomic_long_t tried, nested;

static void ask(void *data, unsigned int cpu, unsigned long place, void *function)
{
	char name[64];

	snprintf(name, sizeof(name), "%ps", function);
	if (!strncmp(name, "wakeup_readers", strlen("wakeup_readers")))
		atomic_long_inc(&nested);
	EVENTLOG_EMIT(asked, .number = atomic_long_fetch_inc(&tried));
}

static void look_at(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "ipi_send_cpu"))
		found = tracepoint;
}

/* Protected by the lock of module parameters. */
static bool on;

static int turn(const char *text, const struct kernel_param *parameter)
{
	bool wanted;
	int error = kstrtobool(text, &wanted);

	if (error || wanted == on)
		return error;
	if (wanted) {
		error = tracepoint_probe_register(found, ask, NULL);
	} else {
		tracepoint_probe_unregister(found, ask, NULL);
		tracepoint_synchronize_unregister();
	}
	if (!error)
		on = wanted;
	return error;
}

static const struct kernel_param_ops on_operations = {
	.set = turn,
};
module_param_cb(on, &on_operations, NULL, 0200);
MODULE_PARM_DESC(on, "whether it emits");

static int get_long(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%ld\n", atomic_long_read((atomic_long_t *)parameter->arg));
}

static const struct kernel_param_ops long_operations = {
	.get = get_long,
};
module_param_cb(tried, &long_operations, &tried, 0444);
MODULE_PARM_DESC(tried, "the number of emits, enabled or not");
module_param_cb(nested, &long_operations, &nested, 0444);
MODULE_PARM_DESC(nested, "the number of emits within relay");

static int __init nested_init(void)
{
	for_each_kernel_tracepoint(look_at, NULL);
	return found ? eventlog_provider_register(&nested_provider) : -ENOENT;
}

static void __exit nested_exit(void)
{
	turn("0", NULL);
	eventlog_provider_unregister(&nested_provider);
}

module_init(nested_init);
module_exit(nested_exit);

MODULE_DESCRIPTION("Events within relay, for tests of eventlog");
MODULE_LICENSE("GPL");
