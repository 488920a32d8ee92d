// SPDX-License-Identifier: GPL-2.0
/*
 * Who has events, and who wants them: sources meet subscriptions here.
 *
 * Each event has the list of its listeners, made anew whenever one comes, and read
 * under RCU.  Whoever goes is struck out of it: that takes no memory, so it
 * cannot fail.
 */
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "source.h"

struct listener {
	struct eventlog_subscription *subscription; /* NULL: gone */
	u16 provider; /* in its region */
	bool in_session;
};

struct eventlog_listeners {
	struct rcu_head rcu;
	u32 count;
	struct listener of[];
};

/* Sources, subscriptions, and who wants what.  No other lock is held around it. */
static DEFINE_MUTEX(lock);
static LIST_HEAD(sources);
static LIST_HEAD(subscriptions);
static u32 last_number;

void eventlog_sources_lock(void)
{
	mutex_lock(&lock);
}

void eventlog_sources_unlock(void)
{
	mutex_unlock(&lock);
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

static int add_listener(struct eventlog_source_event *event, const struct listener *added)
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
		if (old->of[i].subscription)
			new->of[new->count++] = old->of[i];
	new->of[new->count++] = *added;
	rcu_assign_pointer(event->listeners, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static void remove_listener(struct eventlog_source_event *event,
			    const struct eventlog_subscription *subscription)
{
	struct eventlog_listeners *listeners = listeners_of(event);
	bool any = false;
	u32 i;

	for (i = 0; listeners && i < listeners->count; i++) {
		if (listeners->of[i].subscription == subscription)
			WRITE_ONCE(listeners->of[i].subscription, NULL);
		any |= !!listeners->of[i].subscription;
	}
	if (listeners && !any) {
		RCU_INIT_POINTER(event->listeners, NULL);
		kfree_rcu(listeners, rcu);
	}
}

static void leave(struct eventlog_source *source, const struct eventlog_subscription *subscription)
{
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		remove_listener(&source->events[i], subscription);
		tell(&source->events[i]);
		cond_resched();
	}
}

static bool wants_any(const struct eventlog_subscription *subscription,
		      const struct eventlog_source *source)
{
	u32 i;

	if (!eventlog_may_hear(&subscription->asker, source) ||
	    !eventlog_wants_process(&subscription->filter, subscription->asker.pids, source))
		return false;
	for (i = 0; i < source->event_count; i++) {
		if (!(source->events[i].flags & EVENTLOG_OFFER_ALWAYS) &&
		    eventlog_judge(&subscription->filter, &source->events[i]))
			return true;
		/* Many rules, of patterns that match in the end only, take long. */
		cond_resched();
	}
	return false;
}

/* Has the subscription hear what it wants of the source.  Returns 0 or -ENOMEM. */
static int join(struct eventlog_subscription *subscription, struct eventlog_source *source)
{
	struct listener listener = { .subscription = subscription };
	int error = 0;
	int index;
	u32 i;

	if (!wants_any(subscription, source))
		return 0;
	index = eventlog_tables_enter(subscription, source);
	if (index < 0) {
		struct eventlog_region *region = subscription->memory.head;

		WRITE_ONCE(region->providers_refused, region->providers_refused + 1);
		return 0;
	}
	listener.provider = index;
	for (i = 0; i < source->event_count && !error; i++) {
		struct eventlog_source_event *event = &source->events[i];
		enum eventlog_verdict verdict = eventlog_judge(&subscription->filter, event);

		if (event->flags & EVENTLOG_OFFER_ALWAYS)
			verdict = EVENTLOG_WANTED;
		listener.in_session = verdict == EVENTLOG_IN_SESSION;
		if (verdict != EVENTLOG_UNWANTED)
			error = add_listener(event, &listener);
		tell(event);
		cond_resched();
	}
	if (error)
		leave(source, subscription);
	return error;
}

int eventlog_source_publish(struct eventlog_source *source)
{
	struct eventlog_subscription *subscription, *undone;
	int error = 0;
	u32 i;

	for (i = 0; i < source->event_count; i++)
		source->events[i].source = source;
	mutex_lock(&lock);
	source->number = ++last_number;
	list_add_tail(&source->node, &sources);
	list_for_each_entry(subscription, &subscriptions, node) {
		error = join(subscription, source);
		if (error)
			break;
	}
	if (error) {
		list_for_each_entry(undone, &subscriptions, node) {
			if (undone == subscription)
				break;
			leave(source, undone);
		}
		list_del(&source->node);
	}
	mutex_unlock(&lock);
	if (error)
		synchronize_rcu();
	return error;
}

void eventlog_source_withdraw(struct eventlog_source *source)
{
	u32 i;

	mutex_lock(&lock);
	list_del(&source->node);
	for (i = 0; i < source->event_count; i++) {
		struct eventlog_source_event *event = &source->events[i];
		struct eventlog_listeners *listeners = listeners_of(event);

		event->heard = false;
		RCU_INIT_POINTER(event->listeners, NULL);
		if (listeners)
			kfree_rcu(listeners, rcu);
	}
	mutex_unlock(&lock);
	synchronize_rcu();
}

/* The next above that number that the caller may hear, or NULL.  With the lock held. */
struct eventlog_source *eventlog_source_after(u32 number, const struct eventlog_asker *asker)
{
	struct eventlog_source *source, *found = NULL;

	lockdep_assert_held(&lock);
	list_for_each_entry(source, &sources, node)
		if (source->number > number && (!found || source->number < found->number) &&
		    eventlog_may_hear(asker, source))
			found = source;
	return found;
}

/* From now on the subscription gets what it wants, of all who have it or come.  0 or -ENOMEM. */
int eventlog_sources_join(struct eventlog_subscription *subscription)
{
	struct eventlog_source *source;
	int error = 0;

	mutex_lock(&lock);
	list_add_tail(&subscription->node, &subscriptions);
	list_for_each_entry(source, &sources, node) {
		error = join(subscription, source);
		if (error)
			break;
	}
	mutex_unlock(&lock);
	return error;
}

/* Nobody writes to the subscription any more when this returns. */
void eventlog_sources_leave(struct eventlog_subscription *subscription)
{
	struct eventlog_source *source;

	mutex_lock(&lock);
	list_del(&subscription->node);
	list_for_each_entry(source, &sources, node)
		leave(source, subscription);
	mutex_unlock(&lock);
	synchronize_rcu();
}

static void write_to(struct eventlog_subscription *subscription, struct eventlog_record *record,
		     const void *payload, u32 size)
{
	const bool switched = eventlog_ring_write(this_cpu_ptr(subscription->writers), record,
						  payload, size);

	if (unlikely(READ_ONCE(subscription->waiting)) &&
	    (switched || !subscription->at_switch)) {
		WRITE_ONCE(subscription->waiting, false);
		irq_work_queue(&subscription->wake);
	}
}

static bool is_of_session(const struct eventlog_subscription *subscription, const void *payload,
			  u32 size)
{
	u64 session;

	if (size < sizeof(session))
		return false;
	memcpy(&session, payload, sizeof(session));
	return eventlog_wants_session(&subscription->filter, session);
}

void eventlog_subscriptions_write(const struct eventlog_source_event *event, const void *payload,
				  u32 size)
{
	const struct eventlog_listeners *listeners;
	struct eventlog_record record = { .event = event->id };
	u32 i;

	if (WARN_ON_ONCE(size > EVENTLOG_RECORD_SIZE_MAX - sizeof(record)))
		return;
	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	if (listeners) {
		record.thread = event->source->process ? task_pid_vnr(current) : current->pid;
		record.cpu = smp_processor_id();
		for (i = 0; i < listeners->count; i++) {
			const struct listener *listener = &listeners->of[i];
			struct eventlog_subscription *to = READ_ONCE(listener->subscription);

			if (!to || (listener->in_session && !is_of_session(to, payload, size)))
				continue;
			record.provider = listener->provider;
			write_to(to, &record, payload, size);
		}
	}
	preempt_enable_notrace();
}
