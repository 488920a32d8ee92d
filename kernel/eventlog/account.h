/* SPDX-License-Identifier: GPL-2.0 */
/* What a user may have at most, over all processes, and all users together. */
#ifndef EVENTLOG_ACCOUNT_H
#define EVENTLOG_ACCOUNT_H

#include <linux/types.h>
#include <linux/uidgid.h>

enum eventlog_resource {
	EVENTLOG_FILES, /* open files of the device */
	EVENTLOG_EVENTS, /* events that were there for none before */
	EVENTLOG_WORDS,
	EVENTLOG_PAGES, /* pinned, for words; large ones count as what they are made of */
	EVENTLOG_SUBSCRIPTIONS,
	EVENTLOG_RING_PAGES, /* memory of subscriptions */
	EVENTLOG_SCHEMA_PAGES, /* what providers of programs have published */
	EVENTLOG_RELAY_PAGES, /* of the buffers of relay channels */
	EVENTLOG_RESOURCES
};

struct eventlog_user;

void eventlog_account_init(void);
struct eventlog_user *eventlog_user_get(void);
struct eventlog_user *eventlog_user_hold(struct eventlog_user *user);
void eventlog_user_put(struct eventlog_user *user);
kuid_t eventlog_user_id(const struct eventlog_user *user);
bool eventlog_charge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count);
void eventlog_uncharge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count);

#endif /* EVENTLOG_ACCOUNT_H */
