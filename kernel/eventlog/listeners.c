// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of listeners: each event of a source has one, which writers read under
 * RCU.
 *
 * Adding a listener makes a new list. Removing one sets its entry to NULL, which
 * needs no memory and cannot fail. A list without listeners is freed, and the
 * event is disabled.
 *
 * The caller holds eventlog_sources_lock. May sleep.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "listeners.h"
#include "source.h"

static struct eventlog_listeners *listeners_of(const struct eventlog_source_event *event)
{
	return rcu_dereference_protected(event->listeners, lockdep_is_held(&eventlog_sources_lock));
}

static void update_enabled(struct eventlog_source_event *event)
{
	const bool enabled = listeners_of(event);

	if (event->enabled == enabled)
		return;
	event->enabled = enabled;
	if (event->source->update_enabled)
		event->source->update_enabled(event, enabled);
}

static bool has_rings(struct eventlog_consumer *consumer)
{
	return !consumer->deliver && !eventlog_to_subscription(consumer)->relay;
}

static int add_listener(struct eventlog_source_event *event, const struct eventlog_listener *added)
{
	struct eventlog_listeners *old = listeners_of(event);
	struct eventlog_listeners *new;
	u32 i;

	/*
	 * Not charged to a memory cgroup: a process with little memory would make all
	 * others wait.
	 */
	new = kmalloc(struct_size(new, entries, (old ? old->count : 0) + 1), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->count = 0;
	for (i = 0; old && i < old->count; i++)
		if (old->entries[i].consumer)
			new->entries[new->count++] = old->entries[i];
	new->entries[new->count++] = *added;
	new->is_single_ring = new->count == 1 && !added->in_session && has_rings(added->consumer);
	rcu_assign_pointer(event->listeners, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static void remove_listener(struct eventlog_source_event *event,
			    const struct eventlog_consumer *consumer)
{
	struct eventlog_listeners *listeners = listeners_of(event);
	bool any = false;
	u32 i;

	for (i = 0; listeners && i < listeners->count; i++) {
		const bool goes = listeners->entries[i].consumer == consumer;

		/* Writers do not check the entry of an is_single_ring list for NULL. */
		if (goes && !listeners->is_single_ring)
			WRITE_ONCE(listeners->entries[i].consumer, NULL);
		any |= listeners->entries[i].consumer && !goes;
	}
	if (listeners && !any) {
		RCU_INIT_POINTER(event->listeners, NULL);
		kfree_rcu(listeners, rcu);
	}
}

/* Removes the consumer from the lists of the source. */
void eventlog_listeners_remove(struct eventlog_source *source,
			       const struct eventlog_consumer *consumer)
{
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		remove_listener(&source->events[i], consumer);
		update_enabled(&source->events[i]);
		cond_resched();
	}
}

/*
 * Returns the number of the source's first event in the tables of a subscription,
 * or an error, which is counted.
 */
static int add_to_tables(struct eventlog_consumer *consumer, const struct eventlog_source *source)
{
	struct eventlog_subscription *subscription;
	int base;

	if (consumer->deliver)
		return 0;
	subscription = eventlog_to_subscription(consumer);
	base = eventlog_tables_add_provider(subscription, source);
	if (base < 0) {
		struct eventlog_region *region = subscription->memory.head;

		WRITE_ONCE(region->providers_refused, region->providers_refused + 1);
	}
	return base;
}

/*
 * Adds the consumer to the lists of the events that it wants. Returns 1, 0 if its
 * tables have no room for the source, or -ENOMEM.
 */
int eventlog_listeners_add(struct eventlog_consumer *consumer, struct eventlog_source *source,
			   const u8 *results, u64 serial)
{
	struct eventlog_listener listener = { .consumer = consumer, .serial = serial };
	const int base = add_to_tables(consumer, source);
	int error = 0;
	u32 i;

	if (base < 0)
		return 0;
	for (i = 0; i < source->event_count && !error; i++) {
		listener.number = base + source->events[i].id;
		listener.in_session = results[i] == EVENTLOG_IN_SESSION;
		if (results[i] != EVENTLOG_UNWANTED)
			error = add_listener(&source->events[i], &listener);
		update_enabled(&source->events[i]);
		cond_resched();
	}
	if (error)
		eventlog_listeners_remove(source, consumer);
	return error ?: 1;
}

/* Removes all listeners of the source; with `notify`, disables its events. */
void eventlog_listeners_remove_all(struct eventlog_source *source, bool notify)
{
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		struct eventlog_source_event *event = &source->events[i];
		struct eventlog_listeners *listeners = listeners_of(event);

		RCU_INIT_POINTER(event->listeners, NULL);
		if (listeners)
			kfree_rcu(listeners, rcu);
		if (notify)
			update_enabled(event);
		else
			event->enabled = false;
		cond_resched();
	}
}
