/* SPDX-License-Identifier: GPL-2.0 */
/* Relay channels for producers in the kernel: see eventlog_relay(4). */
#ifndef _LINUX_EVENTLOG_RELAY_H
#define _LINUX_EVENTLOG_RELAY_H

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

#endif /* _LINUX_EVENTLOG_RELAY_H */
