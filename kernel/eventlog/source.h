/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consumers of events: subscriptions with what is written and read, and
 * subscribers in the kernel.
 */
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

/* Position of read(2) in a ring; see "Rules for readers" in uapi/linux/eventlog.h. */
struct eventlog_read_cursor {
	struct eventlog_subscription *subscription;
	struct eventlog_ring *ring;
	u32 index; /* of the ring */
	u64 generation;
	u64 offset; /* in the buffer */
	u64 records; /* read of the buffer */
	u64 context; /* word 1 of the last CONTEXT record read of the buffer; 0: none */
	u64 records_reported; /* read, or reported as overwritten */
	u64 lost_reported;
	u64 last_time;
	/* Rings with these words have nothing new. Also read without reading_lock. */
	u64 seen_control; /* control */
	u64 seen_lost;
};

/* A consumer: what it asks for and what it may receive. */
struct eventlog_consumer {
	struct eventlog_peer peer;
	struct eventlog_filter filter;
	struct eventlog_consumer_cred cred;
	/* events about this process are not delivered; NULL: all are */
	struct pid *excluded_process;
	/*
	 * Called with each event, with preemption disabled. NULL: the consumer is a
	 * subscription.
	 */
	void (*deliver)(struct eventlog_consumer *consumer,
			const struct eventlog_event_instance *instance);
};

struct eventlog_subscription {
	struct eventlog_consumer consumer;
	struct eventlog_ring_writer __percpu *writers;
	struct hlist_node cpus; /* instance of the CPU hotplug state */
	struct eventlog_memory memory;
	struct eventlog_relay *relay; /* channel that records go to; NULL: they go to the rings */
	struct list_head schemas, shares; /* private to provider_table.c */
	/* set while the rings of online CPUs are allocated; only compared */
	struct task_struct *creator;
	int error; /* why a CPU has no memory; checked by the creator */
	bool has_ended; /* set once, with release, when there are no writers any more */

	/* Waiting for records. */
	bool wake_at_switch;
	u32 timeout; /* milliseconds, 0: none */
	bool waiting; /* set by waiting readers, cleared by the writer that wakes them */
	wait_queue_head_t readers;
	struct irq_work wake;
	struct timer_list recheck;
	raw_spinlock_t arm_lock; /* protects the next two */
	bool is_armed; /* `recheck` is pending */
	/* state_of_rings() when the first reader began to wait, or at the last wakeup */
	u64 state_reported;

	/* Protected by `reading_lock`. */
	struct mutex reading_lock;
	struct eventlog_read_cursor *cursor; /* by index of the ring */
	u32 next_ring;
	u64 read;
	u64 overwritten;
	u8 *copy; /* of a record, in overwrite mode */
};

/* The consumer is a subscription. */
static inline struct eventlog_subscription *
eventlog_to_subscription(struct eventlog_consumer *consumer)
{
	return container_of(consumer, struct eventlog_subscription, consumer);
}

/* source.c */
extern struct mutex eventlog_sources_lock;
struct eventlog_source *eventlog_source_next(u32 number, const struct eventlog_consumer_cred *cred);
int eventlog_consumer_register(struct eventlog_consumer *consumer);
void eventlog_consumer_unregister(struct eventlog_consumer *consumer);

/* listeners.c */
int eventlog_listeners_add(struct eventlog_consumer *consumer, struct eventlog_source *source,
			   const u8 *results, u64 serial);
void eventlog_listeners_remove(struct eventlog_source *source,
			       const struct eventlog_consumer *consumer);
void eventlog_listeners_remove_all(struct eventlog_source *source, bool notify);

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

/* reading.c and read_wait.c */
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
