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
struct eventlog_read_cursor {
	u64 generation;
	u64 offset; /* in its buffer */
	u64 records; /* of its buffer */
	u64 records_reported; /* of all ever recorded: handed over, or told to be missing */
	u64 lost_reported;
	u64 last_time;
	/* By these two all that there was has been read; looked at without the lock. */
	u64 seen_control; /* control */
	u64 seen_lost;
};

/* Who wants events, which, and whose. */
struct eventlog_consumer {
	struct eventlog_peer peer;
	struct eventlog_filter filter;
	struct eventlog_consumer_cred cred;
	struct pid *excluded_process; /* of what is about this process nothing is wanted; NULL: all */
	/* Called with each event, with preemption off; NULL: it is a subscription. */
	void (*deliver)(struct eventlog_consumer *consumer,
			const struct eventlog_event_instance *instance);
};

struct eventlog_subscription {
	struct eventlog_consumer consumer;
	struct eventlog_ring_writer __percpu *writers;
	struct hlist_node cpus; /* of those that new CPUs are told to */
	struct eventlog_memory memory;
	struct eventlog_relay *relay; /* that records go to; NULL: to the rings */
	struct list_head schemas, shares; /* private to provider_table.c */
	struct task_struct *creator; /* while the CPUs that live get memory; only compared */
	int error; /* why a CPU has no memory; looked at when it is made */
	bool has_ended; /* set once, with release: nobody writes any more */

	/* Waiting for something to read. */
	bool wake_at_switch;
	u32 timeout; /* milliseconds, 0: none */
	bool waiting; /* written by who waits, and by who wakes */
	wait_queue_head_t readers;
	struct irq_work wake;
	struct timer_list recheck;
	raw_spinlock_t arm_lock; /* of the next two */
	bool is_armed; /* `recheck` will look */
	u64 state_reported; /* of all rings, when the first one began to wait, or all were woken */

	/* By `reading_lock`. */
	struct mutex reading_lock;
	struct eventlog_read_cursor *cursor; /* by ring */
	u32 next_ring;
	u64 read;
	u64 overwritten;
	u8 *copy; /* of a record, in overwrite mode */
};

/* Of one that is a subscription. */
static inline struct eventlog_subscription *
eventlog_to_subscription(struct eventlog_consumer *consumer)
{
	return container_of(consumer, struct eventlog_subscription, consumer);
}

/* source.c */
struct eventlog_source *eventlog_source_next(u32 number, const struct eventlog_consumer_cred *cred);
void eventlog_sources_lock(void);
void eventlog_sources_unlock(void);
int eventlog_consumer_register(struct eventlog_consumer *consumer);
void eventlog_consumer_unregister(struct eventlog_consumer *consumer);

/* provider_table.c */
u64 eventlog_schema_key(const struct eventlog_source *source);
int eventlog_tables_add_provider(struct eventlog_subscription *subscription,
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
int eventlog_release_buffers(struct eventlog_subscription *subscription,
			     const struct eventlog_buffer_release *given);
int eventlog_count(struct eventlog_subscription *subscription, struct eventlog_statistics *counts);

#endif /* EVENTLOG_SOURCE_H */
