// SPDX-License-Identifier: GPL-2.0
/*
 * Events that tracing does not know any more, of which something stays for a
 * while.
 *
 * Their number: buffers of ftrace may still have entries with it, which would
 * be printed as those of the next event that gets the number, as Linux 6.12
 * gives free ones away at once.  So it is taken by a placeholder; also that of
 * one that was never recorded, else there would be too many free ones below
 * that of one that was.
 *
 * Their memory: in Linux 6.1 a file `format` that was opened before an event
 * was removed reads from it afterwards.
 *
 * Those that have been dead for longest are forgotten when there are many.
 */
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "eventlog.h"

#define DEAD_EVENTS_MAX 1024
/* Free numbers below the wanted one, of other events that are gone. */
#define NUMBERS_MAX 64

static LIST_HEAD(dead_events); /* by eventlog_registry_lock, the newest last */
static unsigned int dead_count;

static enum print_line_t print_placeholder(struct trace_iterator *iter, int flags,
					   struct trace_event *event)
{
	trace_seq_puts(&iter->seq, "an event of a program that has ended\n");
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions placeholder_functions = {
	.trace = print_placeholder,
};

/* Numbers are given away from below: what comes in front is taken, then given back. */
static void reserve_type(struct eventlog_event *event, int number)
{
	struct trace_event *below;
	int count = 0;
	int got;

	event->placeholder.funcs = &placeholder_functions;
	got = register_trace_event(&event->placeholder);
	if (!got || got == number)
		return;
	unregister_trace_event(&event->placeholder);
	event->placeholder.type = 0;
	/* Linux 6.1 gives away new numbers, as long as there are any. */
	if (got > number)
		return;
	below = kcalloc(NUMBERS_MAX, sizeof(*below), GFP_KERNEL);
	if (!below)
		return;
	while (count < NUMBERS_MAX) {
		below[count].funcs = &placeholder_functions;
		got = register_trace_event(&below[count]);
		if (got)
			count++;
		if (!got || got >= number)
			break;
	}
	if (count && below[count - 1].type == number) {
		unregister_trace_event(&below[--count]);
		/* The others still are taken, and event_mutex keeps new ones away. */
		register_trace_event(&event->placeholder);
	}
	while (count)
		unregister_trace_event(&below[--count]);
	kfree(below);
}

/* With event_mutex held, when tracing has just removed the event. */
void eventlog_dead_event_add(struct eventlog_event *event)
{
	lockdep_assert_held(&eventlog_registry_lock);
	reserve_type(event, event->call.event.type);
	list_add_tail(&event->dead, &dead_events);
	dead_count++;
}

static void free_oldest(unsigned int keep)
{
	struct eventlog_event *event, *next;

	lockdep_assert_held(&eventlog_registry_lock);
	list_for_each_entry_safe(event, next, &dead_events, dead) {
		if (dead_count <= keep)
			break;
		list_del(&event->dead);
		dead_count--;
		if (event->placeholder.type)
			unregister_trace_event(&event->placeholder);
		eventlog_event_free(event);
	}
}

/* Without event_mutex. */
void eventlog_dead_events_trim(void)
{
	free_oldest(DEAD_EVENTS_MAX);
}

void eventlog_dead_events_exit(void)
{
	tracepoint_synchronize_unregister();
	free_oldest(0);
}
