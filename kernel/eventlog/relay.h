/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relay channels: parts and their dependencies.
 *
 *   relay_device.c    /dev/eventlog_relay: creating channels and writing to them
 *     |   deliver.c   events of subscriptions that have a channel
 *     |     |
 *   relay_channel.c   channels by name, and writing a record; in-kernel API
 *     |         |     relay_control.c: flush, reset, consumed, late files
 *   relay_buffer.c  relay_files.c   `control` and `stats` beside a channel's buffers
 *     |  sub-buffers with headers, files of debugfs, on top of the kernel's relay
 *     |
 *   relay_read.c      read(2) of a buffer, beside its writer
 *
 * A buffer is changed only by its CPU with interrupts disabled, or with the
 * channel's lock held if all CPUs share one buffer. That may fire tracepoints,
 * of locks or of calls to other CPUs, whose probes emit events into the same
 * channel: eventlog_relay_enter() rejects these, and they are lost. Closing and
 * resetting a channel first reject writers, then wait for those that are
 * writing.
 */
#ifndef EVENTLOG_RELAY_H
#define EVENTLOG_RELAY_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/eventlog_relay.h>
#include <linux/irqflags.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/relay.h>
#include <linux/rwsem.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "account.h"

/* State of a buffer that relay lacks. Counts are changed by the buffer's producer only. */
struct eventlog_relay_buffer {
	struct mutex read_mutex; /* serializes readers that consume */
	u64 recorded;
	u64 lost;
	/* losses of rejected writers, which become `lost` with the next sub-buffer */
	atomic64_t lost_pending;
	u64 overwritten; /* records no longer in the buffer, read or not; in overwrite mode */
	u64 sequence; /* of the next sub-buffer */
	u64 recorded_at_start; /* value of `recorded` when this sub-buffer began */
	u64 lost_reported; /* value of `lost` then */
	u64 context; /* word 1 of the last CONTEXT record in this sub-buffer; 0: none */
	u32 *counts; /* number of records in each sub-buffer */
	atomic_t mappings; /* areas of processes that map it */
	bool is_busy; /* the CPU with this index is changing the channel, in any of its buffers */
} ____cacheline_aligned;

enum eventlog_relay_state {
	EVENTLOG_RELAY_OPEN,
	EVENTLOG_RELAY_PAUSED, /* writes are lost and counted */
	EVENTLOG_RELAY_CLOSED,
};

struct eventlog_relay {
	struct list_head node; /* in the list of all channels with a name */
	bool is_open; /* can be found; protected by the lock of that list */
	struct kref references;
	struct eventlog_user *user;
	unsigned int pages; /* charged to the user */
	struct eventlog_relay_options options;
	struct rchan *channel;
	struct dentry *directory;
	struct mutex lock; /* serializes commands of `control` */
	/* held for reading by readers; taken within `lock` and outside `read_mutex` */
	struct rw_semaphore reset_lock;
	raw_spinlock_t global_lock;
	enum eventlog_relay_state state;
	struct eventlog_relay_buffer *buffers; /* by CPU */
	u32 *counts;
};

/* This CPU holds the lock of a channel. It takes one such lock at a time. */
DECLARE_PER_CPU(bool, eventlog_relay_locked);

static inline bool eventlog_relay_has_flag(const struct eventlog_relay *relay, u32 flag)
{
	return relay->options.flags & flag;
}

/* Index into `buffers` of a CPU's buffer. */
static inline unsigned int eventlog_relay_index(const struct eventlog_relay *relay,
						unsigned int cpu)
{
	return eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL) ? 0 : cpu;
}

/*
 * Begins exclusive access of this CPU, with interrupts disabled, until
 * eventlog_relay_leave(). `locked` also takes the channel's lock, which a
 * shared buffer and buffers of offline CPUs need. Returns false if this CPU is
 * in the channel already, or if it would take the locks of two channels:
 * another CPU may take them in the opposite order.
 */
static inline bool eventlog_relay_enter(struct eventlog_relay *relay, bool locked,
					unsigned long *flags)
{
	bool *is_busy;

	local_irq_save(*flags);
	is_busy = &relay->buffers[smp_processor_id()].is_busy;
	if (READ_ONCE(*is_busy) || (locked && this_cpu_read(eventlog_relay_locked))) {
		local_irq_restore(*flags);
		return false;
	}
	WRITE_ONCE(*is_busy, true);
	if (locked)
		this_cpu_write(eventlog_relay_locked, true);
	barrier(); /* Events of tracepoints within the lock are rejected, too. */
	if (locked)
		raw_spin_lock(&relay->global_lock);
	return true;
}

static inline void eventlog_relay_leave(struct eventlog_relay *relay, bool locked,
					unsigned long flags)
{
	if (locked) {
		raw_spin_unlock(&relay->global_lock);
		barrier();
		this_cpu_write(eventlog_relay_locked, false);
	}
	barrier();
	WRITE_ONCE(relay->buffers[smp_processor_id()].is_busy, false);
	local_irq_restore(flags);
}

/* relay_buffer.c: contracts are at the functions. */
int eventlog_relay_buffers_open(struct eventlog_relay *relay);
int eventlog_relay_buffers_show(struct eventlog_relay *relay);
bool eventlog_relay_buffer_reserve(struct eventlog_relay *relay,
				   const struct eventlog_relay_record *record,
				   struct eventlog_relay_reservation *room);
void eventlog_relay_buffer_commit(struct eventlog_relay *relay,
				  const struct eventlog_relay_reservation *room);
void eventlog_relay_buffer_discard(struct eventlog_relay *relay,
				   const struct eventlog_relay_reservation *room);
void eventlog_relay_buffer_count_loss(struct eventlog_relay *relay);
void eventlog_relay_buffers_flush(struct eventlog_relay *relay);
void eventlog_relay_buffers_end(struct eventlog_relay *relay);
struct eventlog_relay_buffer *eventlog_relay_buffer_of(const struct rchan_buf *buffer);
void eventlog_relay_run_on_cpu(struct rchan_buf *buffer, void (*run)(void *data), void *data);

/* relay_read.c */
ssize_t eventlog_relay_read(struct file *file, char __user *to, size_t size, loff_t *position);

/* relay_control.c */
int eventlog_relay_consume(struct eventlog_relay *relay, unsigned int cpu, unsigned int count);

/* relay_files.c */
int eventlog_relay_files_add(struct eventlog_relay *relay);
extern struct dentry *eventlog_relay_root;

/* relay_channel.c */
int eventlog_relay_reset_locked(struct eventlog_relay *relay);

/* For subscriptions: relay_device.c and relay_channel.c. */
#ifdef CONFIG_RELAY
int eventlog_relay_init(void);
void eventlog_relay_exit(void);
struct eventlog_relay *eventlog_relay_from_fd(int number);
int eventlog_relay_write_stamped(struct eventlog_relay *relay,
				 struct eventlog_relay_record *record, u8 clock);

static inline void eventlog_relay_put_optional(struct eventlog_relay *relay)
{
	if (relay)
		eventlog_relay_put(relay);
}
#else
static inline struct eventlog_relay *eventlog_relay_from_fd(int number)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* Without CONFIG_RELAY there are no channels. */
static inline int eventlog_relay_write_stamped(struct eventlog_relay *relay,
					       struct eventlog_relay_record *record, u8 clock)
{
	return -ENODEV;
}

static inline void eventlog_relay_put_optional(struct eventlog_relay *relay)
{
}

static inline int eventlog_relay_init(void)
{
	return 0;
}

static inline void eventlog_relay_exit(void)
{
}
#endif

#endif /* EVENTLOG_RELAY_H */
