/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Resources charged to users: limits for each user, over all of its processes,
 * and for all users together.
 *
 * Functions may sleep and take the lock of account.c, the innermost lock of the
 * module.
 */
#ifndef EVENTLOG_ACCOUNT_H
#define EVENTLOG_ACCOUNT_H

#include <linux/types.h>
#include <linux/uidgid.h>

/* One part in this many of what all users share is reserved for root. */
#define EVENTLOG_ROOT_RESERVE_DIVISOR 8

enum eventlog_resource {
	EVENTLOG_FILES, /* open files of the device */
	EVENTLOG_EVENTS, /* events that the user was the first to register */
	EVENTLOG_WORDS,
	EVENTLOG_PAGES, /* pinned for enable words; a large page counts as all of its base pages */
	EVENTLOG_SUBSCRIPTIONS,
	EVENTLOG_RING_PAGES, /* memory of subscriptions */
	EVENTLOG_SCHEMA_PAGES, /* schemas and event tables that programs have published */
	EVENTLOG_RELAY_PAGES, /* of the buffers of relay channels */
	EVENTLOG_RESOURCES
};

struct eventlog_user;

void eventlog_account_init(void);
struct eventlog_user *eventlog_user_get(void);
struct eventlog_user *eventlog_user_hold(struct eventlog_user *user);
void eventlog_user_put(struct eventlog_user *user);
struct eventlog_user *eventlog_user_get_for_file(void);
void eventlog_user_put_for_file(struct eventlog_user *user);
kuid_t eventlog_user_id(const struct eventlog_user *user);
bool eventlog_charge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count);
void eventlog_uncharge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count);

#endif /* EVENTLOG_ACCOUNT_H */
