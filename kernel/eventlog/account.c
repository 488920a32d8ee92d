// SPDX-License-Identifier: GPL-2.0
/* Counts what each user has, and what all have. */
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "account.h"

struct eventlog_user {
	struct list_head node;
	kuid_t uid;
	unsigned int references;
	unsigned int used[EVENTLOG_RESOURCES];
};

static DEFINE_MUTEX(lock);
static LIST_HEAD(users);
static unsigned int used_events;

static unsigned int limits[EVENTLOG_RESOURCES] = {
	[EVENTLOG_FILES] = 4096,
	[EVENTLOG_EVENTS] = 4096,
	[EVENTLOG_WORDS] = 65536,
	[EVENTLOG_PAGES] = 4096,
};

/* There are 65535 numbers for trace events, of which the kernel's own take some 2000. */
static unsigned int events_max = 16384;

module_param_named(files_per_user, limits[EVENTLOG_FILES], uint, 0644);
MODULE_PARM_DESC(files_per_user, "Open files of the device that a user may have");
module_param_named(events_per_user, limits[EVENTLOG_EVENTS], uint, 0644);
MODULE_PARM_DESC(events_per_user, "Events that a user may have registered first");
module_param_named(words_per_user, limits[EVENTLOG_WORDS], uint, 0644);
MODULE_PARM_DESC(words_per_user, "Words in which a user may be told who listens");
module_param_named(pages_per_user, limits[EVENTLOG_PAGES], uint, 0644);
MODULE_PARM_DESC(pages_per_user, "Pages of memory that may be pinned for a user's words");
module_param(events_max, uint, 0644);
MODULE_PARM_DESC(events_max, "Events that all users together may have");

/* Returns a user with one more reference, or NULL if there is no memory. */
struct eventlog_user *eventlog_user_get(kuid_t uid)
{
	struct eventlog_user *user;

	mutex_lock(&lock);
	list_for_each_entry(user, &users, node) {
		if (uid_eq(user->uid, uid)) {
			user->references++;
			goto unlock;
		}
	}
	user = kzalloc(sizeof(*user), GFP_KERNEL);
	if (user) {
		user->uid = uid;
		user->references = 1;
		list_add(&user->node, &users);
	}
unlock:
	mutex_unlock(&lock);
	return user;
}

struct eventlog_user *eventlog_user_hold(struct eventlog_user *user)
{
	mutex_lock(&lock);
	user->references++;
	mutex_unlock(&lock);
	return user;
}

/* Whoever has charged anything gives that back first. */
void eventlog_user_put(struct eventlog_user *user)
{
	mutex_lock(&lock);
	if (!--user->references) {
		list_del(&user->node);
		kfree(user);
	}
	mutex_unlock(&lock);
}

/* The limit may have been set below what is used. */
static bool has_room(unsigned int used, unsigned int limit, unsigned int count)
{
	return used <= limit && count <= limit - used;
}

/* Returns false, and changes nothing, if that is more than the user is allowed. */
bool eventlog_charge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count)
{
	bool allowed;

	mutex_lock(&lock);
	allowed = has_room(user->used[what], READ_ONCE(limits[what]), count) &&
		  (what != EVENTLOG_EVENTS || has_room(used_events, READ_ONCE(events_max), count));
	if (allowed) {
		user->used[what] += count;
		if (what == EVENTLOG_EVENTS)
			used_events += count;
	}
	mutex_unlock(&lock);
	return allowed;
}

void eventlog_uncharge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count)
{
	mutex_lock(&lock);
	user->used[what] -= count;
	if (what == EVENTLOG_EVENTS)
		used_events -= count;
	mutex_unlock(&lock);
}
