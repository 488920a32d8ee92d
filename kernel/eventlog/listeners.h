/* SPDX-License-Identifier: GPL-2.0 */
/* Who listens to an event, for those that write it: source.c makes these lists. */
#ifndef EVENTLOG_LISTENERS_H
#define EVENTLOG_LISTENERS_H

#include <linux/irq_work.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "ring_write.h"
#include "source.h"

struct eventlog_listener {
	struct eventlog_consumer *consumer; /* NULL: gone */
	u16 provider; /* in the region of a subscription */
	bool in_session;
};

struct eventlog_listeners {
	struct rcu_head rcu;
	u32 count;
	bool is_single_ring; /* a single one, who has not gone, wants all of them, in its rings */
	struct eventlog_listener entries[];
};

/* What a program has collected has the time that it had; 0: none. */
static __always_inline void eventlog_set_time(struct eventlog_record *record, u8 clock, u64 time)
{
	if (time && clock == EVENTLOG_CLOCK_MONOTONIC) {
		record->time = time;
		record->flags |= EVENTLOG_RECORD_CUSTOM_TIME;
	}
}

/* The single one of a plain list. */
static __always_inline struct eventlog_subscription *
eventlog_single_subscription(const struct eventlog_listeners *listeners)
{
	return eventlog_to_subscription(listeners->entries[0].consumer);
}

/* Who waits for what has been written is woken. */
static __always_inline void eventlog_wake(struct eventlog_subscription *subscription, bool switched)
{
	if (unlikely(READ_ONCE(subscription->waiting)) &&
	    (switched || !subscription->wake_at_switch)) {
		WRITE_ONCE(subscription->waiting, false);
		irq_work_queue(&subscription->wake);
	}
}

/*
 * Writes an event to a subscription, with preemption off; in the place of a call.
 * `provider` is the number that it has there; `thread` is 0 for the kernel's own, whose
 * number is looked at when room has been taken: until then there are too few registers.
 * `time` is 0 for what happens now.
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
