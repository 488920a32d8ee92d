/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Relay channels, and how their parts belong together.
 *
 *   relay_device.c    /dev/eventlog_relay: who makes channels and writes to them
 *     |   source.c    events of subscriptions that have a channel
 *     |     |
 *   relay_channel.c   channels by name, and writing a record; in-kernel API
 *     |         |
 *   relay_buffer.c  relay_files.c   `control` and `stats` beside a channel's buffers
 *     |  sub-buffers with headers, files of debugfs, on top of the kernel's relay
 *     |
 *   relay_read.c      read(2) of a buffer, beside its writer
 *
 * Each buffer is changed by its CPU alone, with interrupts off, or with the
 * channel's lock held if there is one buffer for all.  Who closes or resets a
 * channel first turns writers away, and waits until none is at it.
 */
#ifndef EVENTLOG_RELAY_H
#define EVENTLOG_RELAY_H

#include <linux/err.h>
#include <linux/eventlog_relay.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/relay.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

#include "account.h"

/* What relay does not keep of a buffer.  Counts are only ever changed by the buffer's producer. */
struct eventlog_relay_buffer {
	struct mutex reading; /* by one at a time, who gives it back */
	u64 recorded;
	u64 lost;
	u64 overwritten; /* no longer in the buffer, read or not; in overwrite mode */
	u64 sequence; /* of the next sub-buffer */
	u64 begun; /* recorded when this sub-buffer began */
	u64 lost_told; /* lost when it did */
	u32 *counts; /* records of each sub-buffer */
} ____cacheline_aligned;

enum eventlog_relay_state {
	EVENTLOG_RELAY_OPEN,
	EVENTLOG_RELAY_PAUSED, /* what is written is lost, and counted */
	EVENTLOG_RELAY_CLOSED,
};

struct eventlog_relay {
	struct list_head node; /* of all channels that are open */
	struct kref references;
	struct eventlog_user *user;
	unsigned int pages; /* that it is charged for */
	struct eventlog_relay_options options;
	struct rchan *channel;
	struct dentry *directory;
	struct mutex lock; /* of control */
	struct rw_semaphore resetting; /* read by who reads; inside `lock`, outside `reading` */
	raw_spinlock_t global_lock;
	enum eventlog_relay_state state;
	struct eventlog_relay_buffer *buffers; /* by CPU */
	u32 *counts;
	atomic64_t paused_losses;
};

static inline bool eventlog_relay_is(const struct eventlog_relay *relay, u32 flag)
{
	return relay->options.flags & flag;
}

/* relay_buffer.c: contracts stand with the functions. */
int eventlog_relay_buffers_open(struct eventlog_relay *relay);
int eventlog_relay_buffers_show(struct eventlog_relay *relay);
bool eventlog_relay_buffer_append(struct eventlog_relay *relay,
				  const struct eventlog_record *record, const void *payload);
void eventlog_relay_buffer_lose(struct eventlog_relay *relay);
void eventlog_relay_buffers_flush(struct eventlog_relay *relay);
struct eventlog_relay_buffer *eventlog_relay_kept_of(const struct rchan_buf *buffer);
void eventlog_relay_run_beside(struct rchan_buf *buffer, void (*run)(void *data), void *data);

/* relay_read.c */
ssize_t eventlog_relay_read(struct file *file, char __user *to, size_t size, loff_t *position);

/* relay_files.c */
int eventlog_relay_files_add(struct eventlog_relay *relay);
void eventlog_relay_files_init(void);
void eventlog_relay_files_exit(void);
struct dentry *eventlog_relay_files_root(void);

/* relay_channel.c */
void eventlog_relay_reset(struct eventlog_relay *relay);
int eventlog_relay_show(struct eventlog_relay *relay);

/* For subscriptions: relay_device.c and relay_channel.c. */
#ifdef CONFIG_RELAY
int eventlog_relay_init(void);
void eventlog_relay_exit(void);
struct eventlog_relay *eventlog_relay_of(int number);
int eventlog_relay_write_now(struct eventlog_relay *relay, struct eventlog_record *record,
			     const void *payload, u8 clock);

static inline void eventlog_relay_drop(struct eventlog_relay *relay)
{
	if (relay)
		eventlog_relay_put(relay);
}
#else
static inline struct eventlog_relay *eventlog_relay_of(int number)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* Nobody has one. */
static inline int eventlog_relay_write_now(struct eventlog_relay *relay,
					   struct eventlog_record *record, const void *payload,
					   u8 clock)
{
	return -ENODEV;
}

static inline void eventlog_relay_drop(struct eventlog_relay *relay)
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
