/* SPDX-License-Identifier: GPL-2.0 */
/* Relay channels for producers in the kernel: see eventlog_relay(4). */
#ifndef _LINUX_EVENTLOG_RELAY_H
#define _LINUX_EVENTLOG_RELAY_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/kconfig.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>
#include <uapi/linux/eventlog_relay.h>

struct eventlog_relay;

/* What a channel stores as a record: see linux/eventlog.h. */
struct eventlog_relay_record {
	u32 event; /* 1 to EVENTLOG_EVENT_NUMBER_MAX */
	u32 thread;
	u64 time;
	u32 flags; /* EVENTLOG_RECORD_... */
	u32 size; /* of the payload */
	const void *payload;
};

/*
 * Room for one record, from eventlog_relay_reserve() to eventlog_relay_commit()
 * or eventlog_relay_discard().
 */
struct eventlog_relay_reservation {
	void *payload; /* the caller fills in as many bytes as the record's size */
	/* private: */
	struct eventlog_relay *relay;
	unsigned long irq_flags;
	size_t size; /* with header and padding */
	u64 context; /* of the buffer in front of the record */
};

/*
 * All functions but eventlog_relay_open() and eventlog_relay_find() accept NULL and
 * an ERR_PTR for a channel, and fail with -ENODEV or do nothing: a client whose
 * channel could not be created need not check it at each record.
 *
 * Without the module, eventlog_relay_open() fails with -EOPNOTSUPP. A module that is
 * built outside of the kernel's tree defines CONFIG_EVENTLOG_MODULE.
 */
#if IS_ENABLED(CONFIG_EVENTLOG) && IS_ENABLED(CONFIG_RELAY)

/*
 * eventlog_relay_open() creates a channel or returns an ERR_PTR;
 * eventlog_relay_close() removes it. eventlog_relay_find() returns an existing
 * channel or NULL; eventlog_relay_put() releases it. All of them may sleep.
 */
struct eventlog_relay *eventlog_relay_open(const struct eventlog_relay_options *options);
void eventlog_relay_close(struct eventlog_relay *relay);
struct eventlog_relay *eventlog_relay_find(const char *name);
void eventlog_relay_put(struct eventlog_relay *relay);

/*
 * Writes a record. Any context but NMIs; takes no lock, except in a channel with
 * one buffer. -ENOSPC and -E2BIG were counted as lost; -ENODEV if the channel has
 * been closed.
 */
int eventlog_relay_write(struct eventlog_relay *relay,
			 const struct eventlog_relay_record *record);

/*
 * Writes a record in place: reserves room for `record`, whose payload is ignored,
 * and fails as eventlog_relay_write() does. After success interrupts are disabled,
 * and in a channel with one buffer its lock is held, until the same function calls
 * eventlog_relay_commit() or eventlog_relay_discard(). In between the caller fills
 * in the payload: it does not sleep, and does not write to this channel, which
 * would count as lost. A discarded record has neither been written nor lost.
 */
int eventlog_relay_reserve(struct eventlog_relay *relay,
			   const struct eventlog_relay_record *record,
			   struct eventlog_relay_reservation *reservation);
void eventlog_relay_commit(struct eventlog_relay_reservation *reservation);
void eventlog_relay_discard(struct eventlog_relay_reservation *reservation);

/*
 * These do what the commands of the channel's file `control` do, and may sleep.
 * eventlog_relay_create_files() creates the files of a channel that was opened with
 * EVENTLOG_RELAY_DEFER_FILES, with everything written so far. They return 0, -ENODEV
 * if the channel has been closed, or -EINTR if the caller is being killed;
 * eventlog_relay_consumed() -EINVAL for another CPU or too many sub-buffers;
 * eventlog_relay_create_files() -EEXIST if the channel has files.
 */
int eventlog_relay_flush(struct eventlog_relay *relay);
int eventlog_relay_reset(struct eventlog_relay *relay);
int eventlog_relay_consumed(struct eventlog_relay *relay, unsigned int cpu, unsigned int count);
int eventlog_relay_create_files(struct eventlog_relay *relay);

#else

static inline struct eventlog_relay *
eventlog_relay_open(const struct eventlog_relay_options *options)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void eventlog_relay_close(struct eventlog_relay *relay)
{
}

static inline struct eventlog_relay *eventlog_relay_find(const char *name)
{
	return NULL;
}

static inline void eventlog_relay_put(struct eventlog_relay *relay)
{
}

static inline int eventlog_relay_write(struct eventlog_relay *relay,
				       const struct eventlog_relay_record *record)
{
	return -ENODEV;
}

static inline int eventlog_relay_reserve(struct eventlog_relay *relay,
					 const struct eventlog_relay_record *record,
					 struct eventlog_relay_reservation *reservation)
{
	return -ENODEV;
}

static inline void eventlog_relay_commit(struct eventlog_relay_reservation *reservation)
{
}

static inline void eventlog_relay_discard(struct eventlog_relay_reservation *reservation)
{
}

static inline int eventlog_relay_flush(struct eventlog_relay *relay)
{
	return -ENODEV;
}

static inline int eventlog_relay_reset(struct eventlog_relay *relay)
{
	return -ENODEV;
}

static inline int eventlog_relay_consumed(struct eventlog_relay *relay, unsigned int cpu,
					  unsigned int count)
{
	return -ENODEV;
}

static inline int eventlog_relay_create_files(struct eventlog_relay *relay)
{
	return -ENODEV;
}

#endif

#endif /* _LINUX_EVENTLOG_RELAY_H */
