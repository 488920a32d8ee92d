// SPDX-License-Identifier: GPL-2.0
/*
 * Connects sources, which have events, with consumers: subscriptions, and
 * subscribers in the kernel.
 *
 * Each event has a list of its listeners, which writers read under RCU. Adding
 * a listener makes a new list. Removing one sets its entry to NULL, which needs
 * no memory and cannot fail.
 *
 * Lock: `lock` protects the lists of sources, consumers and listeners.
 */
#include <linux/idr.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "listeners.h"
#include "source.h"

/*
 * A peer that is added is compared with all peers of the other kind that were
 * added before, so that each pair is compared once. Comparing may take long and
 * runs without the lock; `in_use` keeps both peers in memory.
 */
static DEFINE_MUTEX(lock);
static LIST_HEAD(sources); /* in the order of arrival */
static LIST_HEAD(consumers); /* likewise */
static u64 last_arrival;
static DEFINE_IDR(numbers); /* of sources */
static DECLARE_WAIT_QUEUE_HEAD(released);

void eventlog_sources_lock(void)
{
	mutex_lock(&lock);
}

void eventlog_sources_unlock(void)
{
	mutex_unlock(&lock);
}

/* The functions below are called with the lock held. */
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
		mutex_unlock(&lock);
		wait_event(released, !READ_ONCE(peer->in_use));
		mutex_lock(&lock);
	}
}

static struct eventlog_listeners *listeners_of(const struct eventlog_source_event *event)
{
	return rcu_dereference_protected(event->listeners, lockdep_is_held(&lock));
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

static void remove_listeners(struct eventlog_source *source,
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

/* Returns the source's index in the tables of a subscription, or an error, which is counted. */
static int add_to_tables(struct eventlog_consumer *consumer, const struct eventlog_source *source)
{
	struct eventlog_subscription *subscription;
	int index;

	if (consumer->deliver)
		return 0;
	subscription = eventlog_to_subscription(consumer);
	index = eventlog_tables_add_provider(subscription, source);
	if (index < 0) {
		struct eventlog_region *region = subscription->memory.head;

		WRITE_ONCE(region->providers_refused, region->providers_refused + 1);
	}
	return index;
}

/* The caller holds the lock. Returns 0 or -ENOMEM. */
static int add_listeners(struct eventlog_consumer *consumer, struct eventlog_source *source,
			 const u8 *results)
{
	struct eventlog_listener listener = { .consumer = consumer };
	const int index = add_to_tables(consumer, source);
	int error = 0;
	u32 i;

	if (index < 0)
		return 0;
	listener.provider = index;
	for (i = 0; i < source->event_count && !error; i++) {
		listener.in_session = results[i] == EVENTLOG_IN_SESSION;
		if (results[i] != EVENTLOG_UNWANTED)
			error = add_listener(&source->events[i], &listener);
		update_enabled(&source->events[i]);
		cond_resched();
	}
	if (error)
		remove_listeners(source, consumer);
	return error;
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
	mutex_unlock(&lock);
	found = match_events(consumer, source, results);
	mutex_lock(&lock);
	if (found > 0 && is_listed(&consumer->peer) && is_listed(&source->peer))
		found = add_listeners(consumer, source, results);
	release(&consumer->peer);
	release(&source->peer);
	return min(found, 0);
}

/* Removes all listeners of the source. The caller holds the lock. */
static void remove_all_listeners(struct eventlog_source *source, bool notify)
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
	remove_all_listeners(source, notify);
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
	mutex_lock(&lock);
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
	mutex_unlock(&lock);
	kfree(results);
	return error;
}

void eventlog_source_withdraw_nosync(struct eventlog_source *source)
{
	mutex_lock(&lock);
	remove_source(source, false);
	mutex_unlock(&lock);
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

	lockdep_assert_held(&lock);
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

	mutex_lock(&lock);
	add_peer(&consumer->peer, &consumers);
	for (peer = first_of(&sources);
	     peer && peer->arrival < consumer->peer.arrival && !error;
	     peer = next_of(peer, &sources))
		error = connect_peers(consumer, source_of(peer), results);
	mutex_unlock(&lock);
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

	mutex_lock(&lock);
	list_del_init(&consumer->peer.node);
	wait_until_unused(&consumer->peer);
	last = last_arrival;
	for (peer = first_of(&sources); peer && peer->arrival <= last;
	     peer = next_of(peer, &sources)) {
		remove_listeners(source_of(peer), consumer);
		/* Other tasks get the lock. */
		peer->in_use++;
		mutex_unlock(&lock);
		mutex_lock(&lock);
		release(peer);
	}
	mutex_unlock(&lock);
	synchronize_rcu();
}

/* Returns whether the loss is counted in the ring, because the channel cannot count it. */
static bool write_to_relay(struct eventlog_subscription *subscription,
			   struct eventlog_record *record,
			   const struct eventlog_event_instance *instance)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);

	eventlog_set_time(record, ring->clock, instance->time);
	/* Relay buffers cannot be changed in NMIs. */
	if (!in_nmi() && eventlog_relay_write_stamped(subscription->relay, record,
						      instance->payload, ring->clock) != -ENODEV)
		return false;
	eventlog_ring_count_loss(ring);
	return true;
}

static void write_to(const struct eventlog_listener *listener,
		     struct eventlog_subscription *subscription,
		     const struct eventlog_event_instance *instance, u32 thread)
{
	if (subscription->relay) {
		struct eventlog_record record = {
			.size = sizeof(record) + instance->size,
			.provider = listener->provider,
			.event = instance->event->id,
			.thread = thread ?: current->pid,
			.cpu = smp_processor_id(),
		};

		eventlog_wake(subscription, write_to_relay(subscription, &record, instance));
	} else {
		eventlog_write_to(subscription, listener->provider, instance->event->id, thread,
				  instance->payload, instance->size, instance->time);
	}
}

static bool is_of_session(const struct eventlog_consumer *consumer,
			  const struct eventlog_event_instance *instance)
{
	u64 session;

	if (instance->size < sizeof(session))
		return false;
	memcpy(&session, instance->payload, sizeof(session));
	return eventlog_filter_wants_session(&consumer->filter, session);
}

/* Returns whether the event is about the process that the consumer excludes. */
static bool is_excluded(const struct eventlog_consumer *consumer, const struct task_struct *about)
{
	return consumer->excluded_process &&
	       (task_tgid((struct task_struct *)about) == consumer->excluded_process ||
		task_tgid(current) == consumer->excluded_process);
}

static bool wants(const struct eventlog_listener *listener,
		  const struct eventlog_consumer *consumer,
		  const struct eventlog_event_instance *instance)
{
	return (!listener->in_session || is_of_session(consumer, instance)) &&
	       !(instance->about && is_excluded(consumer, instance->about));
}

void eventlog_source_event_write(const struct eventlog_event_instance *instance)
{
	const struct eventlog_source_event *event = instance->event;
	const struct eventlog_listeners *listeners;
	u32 thread, i;

	if (WARN_ON_ONCE(instance->size >
			 EVENTLOG_RECORD_SIZE_MAX - sizeof(struct eventlog_record)))
		return;
	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	if (listeners) {
		thread = event->source->process ? task_pid_vnr(current) : 0;
		for (i = 0; i < listeners->count; i++) {
			const struct eventlog_listener *listener = &listeners->entries[i];
			struct eventlog_consumer *to = READ_ONCE(listener->consumer);

			if (!to || !wants(listener, to, instance))
				continue;
			if (to->deliver)
				to->deliver(to, instance);
			else
				write_to(listener, eventlog_to_subscription(to), instance,
					 thread);
		}
	}
	preempt_enable_notrace();
}
