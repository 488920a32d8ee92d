/* SPDX-License-Identifier: GPL-2.0 */
/* Relay channels for producers in the kernel: see eventlog_relay(4). */
#ifndef _LINUX_EVENTLOG_RELAY_H
#define _LINUX_EVENTLOG_RELAY_H

#include <uapi/linux/eventlog.h>
#include <uapi/linux/eventlog_relay.h>

struct eventlog_relay;

/*
 * eventlog_relay_open() makes a channel, or says why not with an ERR_PTR, and
 * eventlog_relay_close() removes it; eventlog_relay_find() uses one that is
 * there, or returns NULL, until eventlog_relay_put().  All of them may sleep.
 */
struct eventlog_relay *eventlog_relay_open(const struct eventlog_relay_options *options);
void eventlog_relay_close(struct eventlog_relay *relay);
struct eventlog_relay *eventlog_relay_find(const char *name);
void eventlog_relay_put(struct eventlog_relay *relay);

/*
 * Writes a record, of record->size bytes, its payload behind its header.  From
 * anywhere but an NMI; takes no lock, but for a channel of one buffer.  ENOSPC
 * and E2BIG have been counted as lost; ENODEV if the channel has been closed.
 */
int eventlog_relay_write(struct eventlog_relay *relay, const struct eventlog_record *record);

#endif /* _LINUX_EVENTLOG_RELAY_H */
