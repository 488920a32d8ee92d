// SPDX-License-Identifier: GPL-2.0
/*
 * Connects sources, which have events, with consumers: subscriptions, and
 * subscribers in the kernel.
 *
 * A peer that is added is compared with all peers of the other kind that were
 * added before, so that each pair is compared once, and a source dumps its state
 * to a consumer at most once. Both may take long and run without the lock;
 * `in_use` keeps both peers in memory, and removing one waits for them.
 *
 * Lock: eventlog_sources_lock protects the lists of sources and consumers, and
 * the lists of listeners.
 */
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "source.h"

/* Sources, consumers, and lists of listeners. */
DEFINE_MUTEX(eventlog_sources_lock);
static LIST_HEAD(sources); /* in the order of arrival */
static LIST_HEAD(consumers); /* likewise */
static u64 last_arrival;
static u64 last_serial; /* of a listener */
static DEFINE_IDR(numbers); /* of sources */
static DECLARE_WAIT_QUEUE_HEAD(released);

/* The functions up to remove_source() are called with the lock held. */
static void add_peer(struct eventlog_peer *peer, struct list_head *all)
{
	peer->arrival = ++last_arrival;
	list_add_tail(&peer->node, all);
}

static bool is_listed(const struct eventlog_peer *peer)
{
	return !list_empty(&peer->node);
}

static struct eventlog_peer *first_of(struct list_head *all)
{
	return list_first_entry_or_null(all, struct eventlog_peer, node);
}

/* The next peer, also behind one that was removed meanwhile; or NULL. */
static struct eventlog_peer *next_of(struct eventlog_peer *peer, struct list_head *all)
{
	struct eventlog_peer *other;

	if (is_listed(peer))
		return list_is_last(&peer->node, all) ? NULL : list_next_entry(peer, node);
	list_for_each_entry(other, all, node)
		if (other->arrival > peer->arrival)
			return other;
	return NULL;
}

/* The peer may be freed as soon as the lock is released after this. */
static void release(struct eventlog_peer *peer)
{
	if (!--peer->in_use)
		wake_up_all(&released);
}

/*
 * Waits until the peer is not in use. Releases the lock meanwhile, so the peer
 * has to be removed from its list, and from everything that the lists lead to,
 * before.
 */
static void wait_until_unused(const struct eventlog_peer *peer)
{
	while (peer->in_use) {
		mutex_unlock(&eventlog_sources_lock);
		wait_event(released, !READ_ONCE(peer->in_use));
		mutex_lock(&eventlog_sources_lock);
	}
}

/*
 * Matches all events of the source. Returns whether any is wanted, or -EINTR if
 * the caller is being killed. Stops early if a peer was removed, because its
 * removal waits for this.
 */
static int match_events(const struct eventlog_consumer *consumer,
			const struct eventlog_source *source, u8 *results)
{
	bool any = false;
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		const struct eventlog_source_event *event = &source->events[i];

		/* Many rules with patterns that fail only at their end take long. */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!is_listed(&consumer->peer) || !is_listed(&source->peer))
			return 0;
		results[i] = EVENTLOG_WANTED;
		if (event->flags & EVENTLOG_EVENT_ALWAYS_DELIVERED)
			continue;
		results[i] = eventlog_filter_match(&consumer->filter, event);
		any |= results[i] != EVENTLOG_UNWANTED;
	}
	return any;
}

/*
 * Has the source write its current state to a listener that was just added. The
 * caller holds the lock, which is released meanwhile; both peers are in use.
 */
static void dump_state(struct eventlog_source *source, u64 listener)
{
	const struct eventlog_event_instance complete = {
		.event = source->state_complete,
		.payload = "",
		.only = listener,
	};

	mutex_unlock(&eventlog_sources_lock);
	source->dump(source, listener);
	mutex_lock(&eventlog_sources_lock);
	/* A source that is being removed may have lost listeners during the dump. */
	if (complete.event && is_listed(&source->peer))
		eventlog_source_event_write(&complete);
}

/*
 * Adds the consumer to the lists of the source's events that it wants. The
 * caller holds the lock, which is released meanwhile. Returns 0, -ENOMEM or
 * -EINTR.
 */
static int connect_peers(struct eventlog_consumer *consumer, struct eventlog_source *source,
			 u8 *results)
{
	int found;

	cond_resched();
	if (!eventlog_may_receive(&consumer->cred, source) ||
	    !eventlog_filter_wants_process(&consumer->filter, consumer->cred.pid_ns, source))
		return 0;
	consumer->peer.in_use++;
	source->peer.in_use++;
	mutex_unlock(&eventlog_sources_lock);
	found = match_events(consumer, source, results);
	mutex_lock(&eventlog_sources_lock);
	if (found > 0 && is_listed(&consumer->peer) && is_listed(&source->peer)) {
		const u64 serial = ++last_serial;

		found = eventlog_listeners_add(consumer, source, results, serial);
		if (found > 0 && source->dump)
			dump_state(source, serial);
	}
	release(&consumer->peer);
	release(&source->peer);
	return min(found, 0);
}

static int add_source(struct eventlog_source *source)
{
	/* Numbers increase, so that iterating by number skips none until they wrap around. */
	const int number = idr_alloc_cyclic(&numbers, source, 1, INT_MAX, GFP_KERNEL);

	if (number < 0)
		return number;
	source->number = number;
	add_peer(&source->peer, &sources);
	return 0;
}

/* Removes the source, its listeners, and waits for consumers that are matching it. */
static void remove_source(struct eventlog_source *source, bool notify)
{
	idr_remove(&numbers, source->number);
	list_del_init(&source->peer.node);
	eventlog_listeners_remove_all(source, notify);
	wait_until_unused(&source->peer);
}

int eventlog_source_publish(struct eventlog_source *source)
{
	u8 *results = kmalloc(source->event_count, GFP_KERNEL);
	struct eventlog_peer *peer;
	int error;

	if (!results)
		return -ENOMEM;
	source->schema_key = eventlog_schema_key(source);
	mutex_lock(&eventlog_sources_lock);
	error = add_source(source);
	if (error)
		goto unlock;
	for (peer = first_of(&consumers); peer && peer->arrival < source->peer.arrival && !error;
	     peer = next_of(peer, &consumers))
		error = connect_peers(container_of(peer, struct eventlog_consumer, peer), source,
				      results);
	if (error)
		remove_source(source, true);
unlock:
	mutex_unlock(&eventlog_sources_lock);
	kfree(results);
	return error;
}

void eventlog_source_withdraw_nosync(struct eventlog_source *source)
{
	mutex_lock(&eventlog_sources_lock);
	remove_source(source, false);
	mutex_unlock(&eventlog_sources_lock);
}

void eventlog_source_withdraw(struct eventlog_source *source)
{
	eventlog_source_withdraw_nosync(source);
	synchronize_rcu();
}

/* The next source above this number that the caller may receive, or NULL. With the lock held. */
struct eventlog_source *eventlog_source_next(u32 number, const struct eventlog_consumer_cred *cred)
{
	struct eventlog_source *source;
	int next;

	lockdep_assert_held(&eventlog_sources_lock);
	if (number >= INT_MAX)
		return NULL;
	next = number + 1;
	idr_for_each_entry_continue(&numbers, source, next)
		if (eventlog_may_receive(cred, source))
			return source;
	return NULL;
}

static struct eventlog_source *source_of(struct eventlog_peer *peer)
{
	return container_of(peer, struct eventlog_source, peer);
}

/*
 * Connects the consumer with all sources that exist and that will be published.
 * Returns 0, -ENOMEM or -EINTR; the caller unregisters the consumer in any
 * case.
 */
int eventlog_consumer_register(struct eventlog_consumer *consumer)
{
	u8 *results = kmalloc(EVENTLOG_EVENTS_MAX, GFP_KERNEL);
	struct eventlog_peer *peer;
	int error = results ? 0 : -ENOMEM;

	mutex_lock(&eventlog_sources_lock);
	add_peer(&consumer->peer, &consumers);
	for (peer = first_of(&sources);
	     peer && peer->arrival < consumer->peer.arrival && !error;
	     peer = next_of(peer, &sources))
		error = connect_peers(consumer, source_of(peer), results);
	mutex_unlock(&eventlog_sources_lock);
	kfree(results);
	return error;
}

/*
 * When this returns, nothing is written to the consumer any more, and no event
 * is enabled for it.
 */
void eventlog_consumer_unregister(struct eventlog_consumer *consumer)
{
	struct eventlog_peer *peer;
	u64 last;

	mutex_lock(&eventlog_sources_lock);
	list_del_init(&consumer->peer.node);
	wait_until_unused(&consumer->peer);
	last = last_arrival;
	for (peer = first_of(&sources); peer && peer->arrival <= last;
	     peer = next_of(peer, &sources)) {
		eventlog_listeners_remove(source_of(peer), consumer);
		/* Other tasks get the lock. */
		peer->in_use++;
		mutex_unlock(&eventlog_sources_lock);
		mutex_lock(&eventlog_sources_lock);
		release(peer);
	}
	mutex_unlock(&eventlog_sources_lock);
	synchronize_rcu();
}
