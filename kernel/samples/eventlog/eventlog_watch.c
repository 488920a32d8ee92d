// SPDX-License-Identifier: GPL-2.0
/*
 * A subscriber in a module: counts the errors of all programs and modules by what they are.
 *
 *	cat /sys/kernel/debug/eventlog_watch
 *
 * Whoever has an error counts it before going on, so none is missing, whatever else is read late.
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/eventlog_subscriber.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#define NAME_ROOM 64

enum state { IS_FREE, IS_TAKEN, IS_READY };

/* Once ready, but for the count it does not change any more. */
struct kind {
	atomic_t state;
	atomic_long_t count;
	char provider[NAME_ROOM];
	char event[NAME_ROOM];
};

static struct kind kinds[256];
static atomic_long_t others; /* for which there was no place */

/* Nobody waits: who interrupts somebody who is about to fill one in takes the next one. */
static struct kind *find(const struct eventlog_subscriber_event *what)
{
	struct kind *kind;

	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++) {
		if (atomic_cmpxchg(&kind->state, IS_FREE, IS_TAKEN) == IS_FREE) {
			strscpy(kind->provider, what->provider, sizeof(kind->provider));
			strscpy(kind->event, what->event, sizeof(kind->event));
			/* With it, the names. */
			atomic_set_release(&kind->state, IS_READY);
			return kind;
		}
		if (atomic_read_acquire(&kind->state) == IS_READY &&
		    !strcmp(kind->provider, what->provider) && !strcmp(kind->event, what->event))
			return kind;
	}
	return NULL;
}

/* In any context, and on several processors at once. */
static void on_event(struct eventlog_subscriber *subscriber,
		     const struct eventlog_subscriber_event *what)
{
	struct kind *kind = find(what);

	atomic_long_inc(kind ? &kind->count : &others);
}

EVENTLOG_SUBSCRIBER(watch, EVENTLOG_PATTERNS({ "*", "*", .level = EVENTLOG_LEVEL_ERROR }),
		    .on_event = on_event);

/* Programs choose what these names are of. */
static void show(struct seq_file *to, const struct kind *kind)
{
	seq_printf(to, "%ld ", atomic_long_read(&kind->count));
	seq_escape(to, kind->provider, "\n\\");
	seq_putc(to, ':');
	seq_escape(to, kind->event, "\n\\");
	seq_putc(to, '\n');
}

/* One that two have come with for the first time, at once, has two lines. */
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

MODULE_DESCRIPTION("Counts the errors that are told through /dev/eventlog");
MODULE_LICENSE("GPL");
