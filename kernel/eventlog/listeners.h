/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of an event's listeners, as code that writes events reads them.
 * listeners.c makes them.
 *
 * Read under RCU (sched) by writers in any context; changed with
 * eventlog_sources_lock held.
 */
#ifndef EVENTLOG_LISTENERS_H
#define EVENTLOG_LISTENERS_H

#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "ring_write.h"
#include "source.h"

struct eventlog_listener {
	struct eventlog_consumer *consumer; /* NULL: removed */
	u16 provider; /* index in the subscription's region */
	bool in_session;
};

struct eventlog_listeners {
	struct rcu_head rcu;
	u32 count;
	/* one subscription that wants all events, in rings; entry 0 is valid */
	bool is_single_ring;
	struct eventlog_listener entries[];
};

/* Events that a program collected earlier keep their time. `time` is 0 for all others. */
static __always_inline void eventlog_set_time(struct eventlog_record *record, u8 clock, u64 time)
{
	if (time && clock == EVENTLOG_CLOCK_MONOTONIC) {
		record->time = time;
		record->flags |= EVENTLOG_RECORD_CUSTOM_TIME;
	}
}

/* For a list with is_single_ring. */
static __always_inline struct eventlog_subscription *
eventlog_single_subscription(const struct eventlog_listeners *listeners)
{
	return eventlog_to_subscription(listeners->entries[0].consumer);
}

/* Wakes readers that wait for a record, or for a switched buffer. */
static __always_inline void eventlog_wake(struct eventlog_subscription *subscription, bool switched)
{
	if (unlikely(READ_ONCE(subscription->waiting)) &&
	    (switched || !subscription->wake_at_switch)) {
		WRITE_ONCE(subscription->waiting, false);
		irq_work_queue(&subscription->wake);
	}
}

/*
 * Writes an event to the rings of a subscription, inlined. The caller has
 * disabled preemption. `provider` is the index in the region. `thread` is 0 for
 * kernel events, whose thread number is read behind the reservation: before it,
 * too few registers are free. `time` is 0 for events that happen now.
 */
static __always_inline void eventlog_write_to(struct eventlog_subscription *subscription,
					      u16 provider, u16 event, u32 thread,
					      const void *payload, unsigned long size, u64 time)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	struct eventlog_record *to;

	if (likely(eventlog_ring_begin_record(ring, size, &to))) {
		to->provider = provider;
		to->event = event;
		to->thread = thread ?: current->pid;
		to->cpu = smp_processor_id();
		to->flags = 0;
		eventlog_set_time(to, ring->clock, time);
		eventlog_copy_payload((u8 *)(to + 1), payload, size);
	}
	eventlog_wake(subscription, eventlog_ring_end_record(ring));
}

#endif /* EVENTLOG_LISTENERS_H */
