// SPDX-License-Identifier: GPL-2.0
/*
 * Delivers an event to the listeners of its list: rings and channels of
 * subscriptions, and subscribers in the kernel.
 *
 * Any context, NMIs too; takes no lock. Preemption is disabled while the list is
 * read under RCU.
 */
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "listeners.h"
#include "source.h"

/* Returns whether the loss is counted in the ring, because the channel cannot count it. */
static bool write_to_relay(struct eventlog_subscription *subscription,
			   const struct eventlog_listener *listener,
			   const struct eventlog_event_instance *instance, u32 thread)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	const u64 time = eventlog_custom_time(ring->clock, instance->time);
	struct eventlog_relay_record record = {
		.event = listener->number,
		.thread = thread,
		.time = time,
		.flags = time ? EVENTLOG_RECORD_CUSTOM_TIME : 0,
		.size = instance->size,
		.payload = instance->payload,
	};

	/* Relay buffers cannot be changed in NMIs. */
	if (!in_nmi() &&
	    eventlog_relay_write_stamped(subscription->relay, &record, ring->clock) != -ENODEV)
		return false;
	eventlog_ring_count_loss(ring);
	return true;
}

static void write_extended(struct eventlog_subscription *subscription, u32 number, u32 thread,
			   const struct eventlog_event_instance *instance, u64 time)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	u8 *const to = eventlog_ring_begin_extended(ring, number, thread, smp_processor_id(),
						    instance->size, time);

	if (likely(to))
		eventlog_copy_payload(to, instance->payload, instance->size);
	eventlog_wake(subscription, eventlog_ring_end_record(ring));
}

static void write_to(const struct eventlog_listener *listener,
		     struct eventlog_subscription *subscription,
		     const struct eventlog_event_instance *instance, u32 thread)
{
	const u64 time = eventlog_custom_time(this_cpu_ptr(subscription->writers)->clock,
					      instance->time);

	if (subscription->relay)
		eventlog_wake(subscription,
			      write_to_relay(subscription, listener, instance, thread));
	else if (!time && instance->size <= EVENTLOG_SHORT_SIZE_MAX)
		eventlog_write_short(subscription, listener->number, thread, instance->payload,
				     instance->size);
	else
		write_extended(subscription, listener->number, thread, instance, time);
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
	return (!instance->only || instance->only == listener->serial) &&
	       (!listener->in_session || is_of_session(consumer, instance)) &&
	       !(instance->about && is_excluded(consumer, instance->about));
}

void eventlog_source_event_write(const struct eventlog_event_instance *instance)
{
	const struct eventlog_source_event *event = instance->event;
	const struct eventlog_listeners *listeners;
	u32 thread, i;

	if (WARN_ON_ONCE(instance->size >
			 EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE))
		return;
	preempt_disable_notrace();
	listeners = rcu_dereference_sched(event->listeners);
	if (listeners) {
		thread = event->source->process ? task_pid_vnr(current) : current->pid;
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
