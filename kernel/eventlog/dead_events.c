// SPDX-License-Identifier: GPL-2.0
/*
 * Keeps the type number and the memory of events that were removed from
 * tracing.
 *
 * The number: ftrace's buffers may still have entries with it. Linux 6.12
 * reuses a free number at once, and would print these entries as those of the
 * next event. So a placeholder takes the number, even if the event was never
 * recorded: otherwise free numbers below that of a recorded event would
 * accumulate.
 *
 * The memory: in Linux 6.1 a file `format` that was opened before the event was
 * removed reads from it afterwards.
 *
 * The oldest dead events are freed when there are more than DEAD_EVENTS_MAX.
 */
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "eventlog.h"

#define DEAD_EVENTS_MAX 1024
/* Upper bound for free numbers below the wanted one, of other removed events. */
#define NUMBERS_MAX 64

static LIST_HEAD(dead_events); /* protected by eventlog_registry_lock, the newest last */
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

/*
 * Tracing assigns the lowest free number. So the free ones below are taken
 * first and given back afterwards.
 */
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
	/* Linux 6.1 assigns numbers that were never used, as long as there are any. */
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
		/*
		 * The numbers below are still taken, and event_mutex prevents that others
		 * are assigned.
		 */
		register_trace_event(&event->placeholder);
	}
	while (count)
		unregister_trace_event(&below[--count]);
	kfree(below);
}

/* The caller holds event_mutex, and tracing has just removed the event. */
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

/* Called without event_mutex. */
void eventlog_dead_events_trim(void)
{
	free_oldest(DEAD_EVENTS_MAX);
}

void eventlog_dead_events_exit(void)
{
	tracepoint_synchronize_unregister();
	free_oldest(0);
}
