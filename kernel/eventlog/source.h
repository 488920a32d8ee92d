/* SPDX-License-Identifier: GPL-2.0 */
/* Who gets events: a subscription, as it is written to and read, or a subscriber in the kernel. */
#ifndef EVENTLOG_SOURCE_H
#define EVENTLOG_SOURCE_H

#include <linux/container_of.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/wait.h>

#include "filter.h"
#include "region.h"
#include "relay.h"
#include "ring.h"
#include "subscription.h"

/* How far read(2) has come in a ring; see READING in uapi/linux/eventlog.h. */
struct eventlog_reading {
	u64 generation;
	u64 offset; /* in its buffer */
	u64 records; /* of its buffer */
	u64 records_told; /* of all ever recorded: handed over, or told to be missing */
	u64 lost_told;
	u64 last_time;
	/* By these two all that there was has been read; looked at without the lock. */
	u64 settled; /* control */
	u64 settled_lost;
};

/* Who wants events, which, and whose. */
struct eventlog_recipient {
	struct eventlog_party party;
	struct eventlog_filter filter;
	struct eventlog_asker asker;
	struct pid *without; /* of what is about this process nothing is wanted; NULL: all */
	/* Called with each event, with preemption off; NULL: it is a subscription. */
	void (*hear)(struct eventlog_recipient *recipient,
		     const struct eventlog_occurrence *occurrence);
};

struct eventlog_subscription {
	struct eventlog_recipient recipient;
	struct eventlog_ring_writer __percpu *writers;
	struct hlist_node cpus; /* of those that new CPUs are told to */
	struct eventlog_memory memory;
	struct eventlog_relay *relay; /* that records go to; NULL: to the rings */
	struct list_head schemas, shares; /* private to tables.c */
	struct task_struct *maker; /* while the CPUs that live get memory; only compared */
	int error; /* why a CPU has no memory; looked at when it is made */
	bool is_over; /* set once, with release: nobody writes any more */

	/* Waiting for something to read. */
	bool at_switch;
	u32 timeout; /* milliseconds, 0: none */
	bool waiting; /* written by who waits, and by who wakes */
	wait_queue_head_t readers;
	struct irq_work wake;
	struct timer_list recheck;
	raw_spinlock_t arming; /* of the next two */
	bool is_armed; /* `recheck` will look */
	u64 state_told; /* of all rings, when the first one began to wait, or all were woken */

	/* By `reading_lock`. */
	struct mutex reading_lock;
	struct eventlog_reading *reading; /* by ring */
	u32 next_ring;
	u64 read;
	u64 overwritten;
	u8 *copy; /* of a record, in overwrite mode */
};

/* Of one that is a subscription. */
static inline struct eventlog_subscription *
eventlog_to_subscription(struct eventlog_recipient *recipient)
{
	return container_of(recipient, struct eventlog_subscription, recipient);
}

/* source.c */
struct eventlog_source *eventlog_source_after(u32 number, const struct eventlog_asker *asker);
void eventlog_sources_lock(void);
void eventlog_sources_unlock(void);
int eventlog_sources_join(struct eventlog_recipient *recipient);
void eventlog_sources_leave(struct eventlog_recipient *recipient);

/* tables.c */
u64 eventlog_schema_key(const struct eventlog_source *source);
int eventlog_tables_enter(struct eventlog_subscription *subscription,
			  const struct eventlog_source *source);
void eventlog_tables_exit(struct eventlog_subscription *subscription);

/* subscription.c */
int eventlog_subscriptions_init(void);
void eventlog_subscriptions_exit(void);
struct eventlog_subscription *
eventlog_subscription_make(struct eventlog_subscription_request *wanted,
			   struct eventlog_user *user);
void eventlog_subscription_end(struct eventlog_subscription *subscription);
void eventlog_subscription_free(struct eventlog_subscription *subscription);

/* reading.c */
struct file;
struct iov_iter;
struct poll_table_struct;
int eventlog_reading_init(struct eventlog_subscription *subscription);
void eventlog_reading_end(struct eventlog_subscription *subscription);
void eventlog_reading_exit(struct eventlog_subscription *subscription);
ssize_t eventlog_read(struct eventlog_subscription *subscription, struct iov_iter *to,
		      bool may_wait);
__poll_t eventlog_poll(struct eventlog_subscription *subscription, struct file *file,
		       struct poll_table_struct *table);
int eventlog_hand_back(struct eventlog_subscription *subscription,
		       const struct eventlog_hand_back *given);
int eventlog_count(struct eventlog_subscription *subscription, struct eventlog_statistics *counts);

#endif /* EVENTLOG_SOURCE_H */
