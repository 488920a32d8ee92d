// SPDX-License-Identifier: GPL-2.0
/*
 * A subscriber in a module: counts the errors of all programs and modules by
 * provider and event.
 *
 *	cat /sys/kernel/debug/eventlog_watch
 *
 * The emitter counts its error itself, in the call, so no error is missing.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/eventlog_subscriber.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#define NAME_ROOM 64

enum state { IS_FREE, IS_TAKEN, IS_READY };

/* Constant once ready, except for the count. */
struct kind {
	atomic_t state;
	atomic_long_t count;
	char provider[NAME_ROOM];
	char event[NAME_ROOM];
};

static struct kind kinds[256];
static atomic_long_t others; /* without a free entry */

/* Lock-free: a context that interrupts one that fills in an entry takes the next entry. */
static struct kind *find(const struct eventlog_subscriber_event *what)
{
	struct kind *kind;

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		if (atomic_cmpxchg(&kind->state, IS_FREE, IS_TAKEN) == IS_FREE) {
			strscpy(kind->provider, what->provider, sizeof(kind->provider));
			strscpy(kind->event, what->event, sizeof(kind->event));
			/* Pairs with the acquires of `state`: the names are visible, too. */
			atomic_set_release(&kind->state, IS_READY);
			return kind;
		}
		if (atomic_read_acquire(&kind->state) == IS_READY &&
		    !strcmp(kind->provider, what->provider) && !strcmp(kind->event, what->event))
			return kind;
	}
	return NULL;
}

/* Any context, several CPUs at once. */
static void on_event(struct eventlog_subscriber *subscriber,
		     const struct eventlog_subscriber_event *what)
{
	struct kind *kind = find(what);

	atomic_long_inc(kind ? &kind->count : &others);
}

EVENTLOG_SUBSCRIBER(watch, EVENTLOG_PATTERNS({ "*", "*", .level = EVENTLOG_LEVEL_ERROR }),
		    .on_event = on_event);

/* Programs choose these names: escape them. */
static void show(struct seq_file *to, const struct kind *kind)
{
	seq_printf(to, "%ld ", atomic_long_read(&kind->count));
	seq_escape(to, kind->provider, "\n\\");
	seq_putc(to, ':');
	seq_escape(to, kind->event, "\n\\");
	seq_putc(to, '\n');
}

/* An event that occurs on two CPUs for the first time at once may have two lines. */
static int errors_show(struct seq_file *to, void *unused)
{
	const struct kind *kind;

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++)
		if (atomic_read_acquire(&kind->state) == IS_READY)
			show(to, kind);
	seq_printf(to, "%ld others\n", atomic_long_read(&others));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(errors);

static struct dentry *file;

static int __init watch_init(void)
{
	const int error = eventlog_subscriber_register(&watch_subscriber);

	if (!error)
		file = debugfs_create_file("eventlog_watch", 0400, NULL, NULL, &errors_fops);
	return error;
}

static void __exit watch_exit(void)
{
	debugfs_remove(file);
	eventlog_subscriber_unregister(&watch_subscriber);
}

module_init(watch_init);
module_exit(watch_exit);

MODULE_DESCRIPTION("Counts the errors of programs and modules");
MODULE_LICENSE("GPL");
