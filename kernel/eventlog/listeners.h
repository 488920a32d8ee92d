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
	u32 number; /* of the event in the subscription's region */
	bool in_session;
	u64 serial; /* of this consumer of this source; no other pair ever gets it */
};

struct eventlog_listeners {
	struct rcu_head rcu;
	u32 count;
	/* one subscription that wants all events, in rings; entry 0 is valid */
	bool is_single_ring;
	struct eventlog_listener entries[];
};

/*
 * Events that a program collected earlier keep their time, if it is of the
 * subscription's clock. `time` is 0 for all others. Returns 0 for a record that
 * gets the time of the write.
 */
static __always_inline u64 eventlog_custom_time(u8 clock, u64 time)
{
	return clock == EVENTLOG_CLOCK_MONOTONIC ? time : 0;
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
 * Writes an event to the ring of a subscription, inlined. The payload has at most
 * EVENTLOG_SHORT_SIZE_MAX bytes. The caller has disabled preemption.
 */
static __always_inline void eventlog_write_short(struct eventlog_subscription *subscription,
						 u32 number, u32 thread, const void *payload,
						 unsigned long size)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	u8 *const to = eventlog_ring_begin_short(ring, number, thread, size);

	if (likely(to))
		eventlog_copy_payload(to, payload, size);
	eventlog_wake(subscription, eventlog_ring_end_record(ring));
}

#endif /* EVENTLOG_LISTENERS_H */
