// SPDX-License-Identifier: GPL-2.0
/*
 * Who has events, and who wants them: sources meet recipients here, which are
 * subscriptions, and subscribers in the kernel.
 *
 * Each event has the list of its listeners, made anew whenever one comes, and read
 * under RCU.  Whoever goes is struck out of it: that takes no memory, so it
 * cannot fail.
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
 * Sources, recipients, and who wants what.  Whoever comes is compared with all
 * that were there before, so that each pair is, once.  Comparing may take long, and
 * is done without the lock: both are in use meanwhile.
 */
static DEFINE_MUTEX(lock);
static LIST_HEAD(sources); /* as they have come */
static LIST_HEAD(recipients); /* likewise */
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

/* All of these with the lock held. */
static void arrive(struct eventlog_party *party, struct list_head *all)
{
	party->arrival = ++last_arrival;
	list_add_tail(&party->node, all);
}

static bool is_there(const struct eventlog_party *party)
{
	return !list_empty(&party->node);
}

static struct eventlog_party *first_of(struct list_head *all)
{
	return list_first_entry_or_null(all, struct eventlog_party, node);
}

/* The next one, also behind one that has gone meanwhile; or NULL. */
static struct eventlog_party *next_of(struct eventlog_party *party, struct list_head *all)
{
	struct eventlog_party *other;

	if (is_there(party))
		return list_is_last(&party->node, all) ? NULL : list_next_entry(party, node);
	list_for_each_entry(other, all, node)
		if (other->arrival > party->arrival)
			return other;
	return NULL;
}

/* It may go from its list, but stays in memory, until the lock is given back after this. */
static void release(struct eventlog_party *party)
{
	if (!--party->in_use)
		wake_up_all(&released);
}

/*
 * Nobody uses it any more when this returns; the lock is given back until then, so
 * that it has to be gone from its list, and from all that lists lead to, before.
 */
static void wait_until_unused(const struct eventlog_party *party)
{
	while (party->in_use) {
		mutex_unlock(&lock);
		wait_event(released, !READ_ONCE(party->in_use));
		mutex_lock(&lock);
	}
}

static struct eventlog_listeners *listeners_of(const struct eventlog_source_event *event)
{
	return rcu_dereference_protected(event->listeners, lockdep_is_held(&lock));
}

static void tell(struct eventlog_source_event *event)
{
	const bool heard = listeners_of(event);

	if (event->heard == heard)
		return;
	event->heard = heard;
	if (event->source->tell)
		event->source->tell(event, heard);
}

static bool has_rings(struct eventlog_recipient *recipient)
{
	return !recipient->hear && !eventlog_to_subscription(recipient)->relay;
}

static int add_listener(struct eventlog_source_event *event, const struct eventlog_listener *added)
{
	struct eventlog_listeners *old = listeners_of(event);
	struct eventlog_listeners *new;
	u32 i;

	/* Not of a memory cgroup: whoever has little there would have all others wait. */
	new = kmalloc(struct_size(new, of, (old ? old->count : 0) + 1), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->count = 0;
	for (i = 0; old && i < old->count; i++)
		if (old->of[i].recipient)
			new->of[new->count++] = old->of[i];
	new->of[new->count++] = *added;
	new->is_plain = new->count == 1 && !added->in_session && has_rings(added->recipient);
	rcu_assign_pointer(event->listeners, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static void remove_listener(struct eventlog_source_event *event,
			    const struct eventlog_recipient *recipient)
{
	struct eventlog_listeners *listeners = listeners_of(event);
	bool any = false;
	u32 i;

	for (i = 0; listeners && i < listeners->count; i++) {
		const bool goes = listeners->of[i].recipient == recipient;

		/* Who finds a plain list does not look whether somebody has gone. */
		if (goes && !listeners->is_plain)
			WRITE_ONCE(listeners->of[i].recipient, NULL);
		any |= listeners->of[i].recipient && !goes;
	}
	if (listeners && !any) {
		RCU_INIT_POINTER(event->listeners, NULL);
		kfree_rcu(listeners, rcu);
	}
}

static void leave(struct eventlog_source *source, const struct eventlog_recipient *recipient)
{
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		remove_listener(&source->events[i], recipient);
		tell(&source->events[i]);
		cond_resched();
	}
}

/*
 * Whether any is wanted, and which; or -EINTR if the caller is being killed.  Ends
 * early where one of both has gone: somebody waits for that.
 */
static int judge(const struct eventlog_recipient *recipient,
		 const struct eventlog_source *source, u8 *verdicts)
{
	bool any = false;
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		const struct eventlog_source_event *event = &source->events[i];

		/* Many rules, of patterns that match in the end only, take long. */
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!is_there(&recipient->party) || !is_there(&source->party))
			return 0;
		verdicts[i] = EVENTLOG_WANTED;
		if (event->flags & EVENTLOG_OFFER_ALWAYS)
			continue;
		verdicts[i] = eventlog_judge(&recipient->filter, event);
		any |= verdicts[i] != EVENTLOG_UNWANTED;
	}
	return any;
}

/* Returns the source's index in its tables, if it has any, or an error, which is counted. */
static int enter(struct eventlog_recipient *recipient, const struct eventlog_source *source)
{
	struct eventlog_subscription *subscription;
	int index;

	if (recipient->hear)
		return 0;
	subscription = eventlog_to_subscription(recipient);
	index = eventlog_tables_enter(subscription, source);
	if (index < 0) {
		struct eventlog_region *region = subscription->memory.head;

		WRITE_ONCE(region->providers_refused, region->providers_refused + 1);
	}
	return index;
}

/* With the lock held.  Returns 0 or -ENOMEM. */
static int attach(struct eventlog_recipient *recipient, struct eventlog_source *source,
		  const u8 *verdicts)
{
	struct eventlog_listener listener = { .recipient = recipient };
	const int index = enter(recipient, source);
	int error = 0;
	u32 i;

	if (index < 0)
		return 0;
	listener.provider = index;
	for (i = 0; i < source->event_count && !error; i++) {
		listener.in_session = verdicts[i] == EVENTLOG_IN_SESSION;
		if (verdicts[i] != EVENTLOG_UNWANTED)
			error = add_listener(&source->events[i], &listener);
		tell(&source->events[i]);
		cond_resched();
	}
	if (error)
		leave(source, recipient);
	return error;
}

/*
 * Has the recipient hear what it wants of the source.  With the lock held, which
 * is given back meanwhile.  Returns 0, -ENOMEM or -EINTR.
 */
static int join(struct eventlog_recipient *recipient, struct eventlog_source *source,
		u8 *verdicts)
{
	int found;

	cond_resched();
	if (!eventlog_may_hear(&recipient->asker, source) ||
	    !eventlog_wants_process(&recipient->filter, recipient->asker.pids, source))
		return 0;
	recipient->party.in_use++;
	source->party.in_use++;
	mutex_unlock(&lock);
	found = judge(recipient, source, verdicts);
	mutex_lock(&lock);
	if (found > 0 && is_there(&recipient->party) && is_there(&source->party))
		found = attach(recipient, source, verdicts);
	release(&recipient->party);
	release(&source->party);
	return min(found, 0);
}

/* Nobody listens to its events any more, which is told or not.  With the lock held. */
static void silence(struct eventlog_source *source, bool told)
{
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		struct eventlog_source_event *event = &source->events[i];
		struct eventlog_listeners *listeners = listeners_of(event);

		RCU_INIT_POINTER(event->listeners, NULL);
		if (listeners)
			kfree_rcu(listeners, rcu);
		if (told)
			tell(event);
		else
			event->heard = false;
		cond_resched();
	}
}

static int arrive_as_source(struct eventlog_source *source)
{
	/* They rise, so that who asks for the next one misses none, for a very long time. */
	const int number = idr_alloc_cyclic(&numbers, source, 1, INT_MAX, GFP_KERNEL);

	if (number < 0)
		return number;
	source->number = number;
	arrive(&source->party, &sources);
	return 0;
}

/* Nobody listens to it when the lock is given back, and nobody finds it who stops listening. */
static void depart_as_source(struct eventlog_source *source, bool told)
{
	idr_remove(&numbers, source->number);
	list_del_init(&source->party.node);
	silence(source, told);
	wait_until_unused(&source->party);
}

int eventlog_source_publish(struct eventlog_source *source)
{
	u8 *verdicts = kmalloc(source->event_count, GFP_KERNEL);
	struct eventlog_party *party;
	int error;

	if (!verdicts)
		return -ENOMEM;
	source->schema_key = eventlog_schema_key(source);
	mutex_lock(&lock);
	error = arrive_as_source(source);
	if (error)
		goto unlock;
	for (party = first_of(&recipients);
	     party && party->arrival < source->party.arrival && !error;
	     party = next_of(party, &recipients))
		error = join(container_of(party, struct eventlog_recipient, party), source,
			     verdicts);
	if (error)
		depart_as_source(source, true);
unlock:
	mutex_unlock(&lock);
	kfree(verdicts);
	return error;
}

void eventlog_source_forget(struct eventlog_source *source)
{
	mutex_lock(&lock);
	depart_as_source(source, false);
	mutex_unlock(&lock);
}

void eventlog_source_withdraw(struct eventlog_source *source)
{
	eventlog_source_forget(source);
	synchronize_rcu();
}

/* The next above that number that the caller may hear, or NULL.  With the lock held. */
struct eventlog_source *eventlog_source_after(u32 number, const struct eventlog_asker *asker)
{
	struct eventlog_source *source;
	int next;

	lockdep_assert_held(&lock);
	if (number >= INT_MAX)
		return NULL;
	next = number + 1;
	idr_for_each_entry_continue(&numbers, source, next)
		if (eventlog_may_hear(asker, source))
			return source;
	return NULL;
}

static struct eventlog_source *source_of(struct eventlog_party *party)
{
	return container_of(party, struct eventlog_source, party);
}

/*
 * From now on the recipient gets what it wants, of all who have it or come.
 * Returns 0, -ENOMEM or -EINTR; it is to leave in any case.
 */
int eventlog_sources_join(struct eventlog_recipient *recipient)
{
	u8 *verdicts = kmalloc(EVENTLOG_EVENTS_MAX, GFP_KERNEL);
	struct eventlog_party *party;
	int error = verdicts ? 0 : -ENOMEM;

	mutex_lock(&lock);
	arrive(&recipient->party, &recipients);
	for (party = first_of(&sources);
	     party && party->arrival < recipient->party.arrival && !error;
	     party = next_of(party, &sources))
		error = join(recipient, source_of(party), verdicts);
	mutex_unlock(&lock);
	kfree(verdicts);
	return error;
}

/* Nobody writes to the recipient any more when this returns, nor has it hear anything. */
void eventlog_sources_leave(struct eventlog_recipient *recipient)
{
	struct eventlog_party *party;
	u64 last;

	mutex_lock(&lock);
	list_del_init(&recipient->party.node);
	wait_until_unused(&recipient->party);
	last = last_arrival;
	for (party = first_of(&sources); party && party->arrival <= last;
	     party = next_of(party, &sources)) {
		leave(source_of(party), recipient);
		/* Others have their turn. */
		party->in_use++;
		mutex_unlock(&lock);
		mutex_lock(&lock);
		release(party);
	}
	mutex_unlock(&lock);
	synchronize_rcu();
}

/* Returns whether it is counted as lost in the ring: where its channel cannot count it. */
static bool write_to_relay(struct eventlog_subscription *subscription,
			   struct eventlog_record *record,
			   const struct eventlog_occurrence *occurrence)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);

	eventlog_set_time(record, ring->clock, occurrence->time);
	/* Relay cannot be written to in NMIs. */
	if (!in_nmi() && eventlog_relay_write_now(subscription->relay, record, occurrence->payload,
						  ring->clock) != -ENODEV)
		return false;
	eventlog_ring_lose(ring);
	return true;
}

static void write_to(const struct eventlog_listener *listener,
		     struct eventlog_subscription *subscription,
		     const struct eventlog_occurrence *occurrence, u32 thread)
{
	if (subscription->relay) {
		struct eventlog_record record = {
			.size = sizeof(record) + occurrence->size,
			.provider = listener->provider,
			.event = occurrence->event->id,
			.thread = thread ?: current->pid,
			.cpu = smp_processor_id(),
		};

		eventlog_wake(subscription, write_to_relay(subscription, &record, occurrence));
	} else {
		eventlog_write_to(subscription, listener->provider, occurrence->event->id, thread,
				  occurrence->payload, occurrence->size, occurrence->time);
	}
}

static bool is_of_session(const struct eventlog_recipient *recipient,
			  const struct eventlog_occurrence *occurrence)
{
	u64 session;

	if (occurrence->size < sizeof(session))
		return false;
	memcpy(&session, occurrence->payload, sizeof(session));
	return eventlog_wants_session(&recipient->filter, session);
}

/* Whether it is of those that do not want to hear of themselves, and it is about them. */
static bool is_about(const struct eventlog_recipient *recipient, const struct task_struct *about)
{
	return recipient->without &&
	       (task_tgid((struct task_struct *)about) == recipient->without ||
		task_tgid(current) == recipient->without);
}

static bool wants(const struct eventlog_listener *listener,
		  const struct eventlog_recipient *recipient,
		  const struct eventlog_occurrence *occurrence)
{
	return (!listener->in_session || is_of_session(recipient, occurrence)) &&
	       !(occurrence->about && is_about(recipient, occurrence->about));
}

void eventlog_subscriptions_write(const struct eventlog_occurrence *occurrence)
{
	const struct eventlog_source_event *event = occurrence->event;
	const struct eventlog_listeners *listeners;
	u32 thread, i;

	if (WARN_ON_ONCE(occurrence->size >
			 EVENTLOG_RECORD_SIZE_MAX - sizeof(struct eventlog_record)))
		return;
	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	if (listeners) {
		thread = event->source->process ? task_pid_vnr(current) : 0;
		for (i = 0; i < listeners->count; i++) {
			const struct eventlog_listener *listener = &listeners->of[i];
			struct eventlog_recipient *to = READ_ONCE(listener->recipient);

			if (!to || !wants(listener, to, occurrence))
				continue;
			if (to->hear)
				to->hear(to, occurrence);
			else
				write_to(listener, eventlog_to_subscription(to), occurrence,
					 thread);
		}
	}
	preempt_enable_notrace();
}
