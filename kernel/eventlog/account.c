// SPDX-License-Identifier: GPL-2.0
/*
 * Charges resources to users and enforces the limits per user and for all users
 * together.
 *
 * A user exists while it has references, which open files, events and channels
 * hold. The module parameters may lower a limit below what is in use: then
 * nothing more is granted. `lock` protects all counts and the list of users; it
 * is taken last.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "account.h"

struct eventlog_user {
	struct list_head node;
	kuid_t uid;
	unsigned int references;
	unsigned int used[EVENTLOG_RESOURCES];
};

struct eventlog_limit {
	unsigned int user; /* limit of each user */
	unsigned int all; /* limit of all users together */
	unsigned int used; /* charged to all users; protected by `lock` */
};

static DEFINE_MUTEX(lock);
static LIST_HEAD(users);

static struct eventlog_limit limits[EVENTLOG_RESOURCES] = {
	[EVENTLOG_FILES] = { .user = 4096, .all = 16384 },
	/* Trace events have 65535 type numbers, of which the kernel's own take some 2000. */
	[EVENTLOG_EVENTS] = { .user = 4096, .all = 16384 },
	[EVENTLOG_WORDS] = { .user = 65536, .all = 262144 },
	[EVENTLOG_PAGES] = { .user = 4096, .all = 16384 },
	[EVENTLOG_SUBSCRIPTIONS] = { .user = 16, .all = 64 },
	/* 0: computed from the number of CPUs by eventlog_account_init(). */
	[EVENTLOG_RING_PAGES] = { .user = 0, .all = 0 },
	[EVENTLOG_SCHEMA_PAGES] = { .user = 4096, .all = 16384 },
	/* 256 MiB and 1 GiB: only root creates channels. */
	[EVENTLOG_RELAY_PAGES] = { .user = 65536, .all = 262144 },
};

/* Parameters NAME_per_user and NAME_max. */
#define LIMIT_PARAMETERS(name, resource, what)						\
	module_param_named(name##_per_user, limits[EVENTLOG_##resource].user, uint, 0644); \
	MODULE_PARM_DESC(name##_per_user, what " that a user may have");		\
	module_param_named(name##_max, limits[EVENTLOG_##resource].all, uint, 0644);	\
	MODULE_PARM_DESC(name##_max, "As " #name "_per_user, of all users together")

LIMIT_PARAMETERS(files, FILES, "Open files of the device");
LIMIT_PARAMETERS(events, EVENTS, "Events, charged to the first to register them,");
LIMIT_PARAMETERS(words, WORDS, "Enable words of registered events");
LIMIT_PARAMETERS(pages, PAGES, "Pages of memory, pinned for enable words,");
LIMIT_PARAMETERS(subscriptions, SUBSCRIPTIONS, "Subscriptions");
LIMIT_PARAMETERS(ring_pages, RING_PAGES, "Pages of memory of subscriptions");
LIMIT_PARAMETERS(schema_pages, SCHEMA_PAGES, "Pages of memory of published providers");
LIMIT_PARAMETERS(relay_pages, RELAY_PAGES, "Pages of memory of relay channels");

/* Room for several subscriptions of the usual size, on machines with many CPUs, too. */
#define RING_BYTES_FOR_ANY (64U << 20)
#define RING_BYTES_FOR_EACH_CPU (4U << 20)

/* Called before the first user exists. Computes the limits that no parameter sets. */
void eventlog_account_init(void)
{
	struct eventlog_limit *pages = &limits[EVENTLOG_RING_PAGES];

	if (!pages->user)
		pages->user = RING_BYTES_FOR_ANY / PAGE_SIZE +
			      num_possible_cpus() * (RING_BYTES_FOR_EACH_CPU / PAGE_SIZE);
	if (!pages->all)
		pages->all = 4 * pages->user;
}

/*
 * Resources of users within user namespaces are charged to the owner of the
 * outermost one. Otherwise a user could multiply its limits with the IDs that
 * it may map.
 */
static kuid_t charged_user(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_euid();

	for (ns = current_user_ns(); ns->parent; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

/*
 * Returns the user that the caller's resources are charged to, with one more
 * reference, or NULL without memory.
 */
struct eventlog_user *eventlog_user_get(void)
{
	struct eventlog_user *user, *fresh;
	const kuid_t uid = charged_user();

	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	mutex_lock(&lock);
	list_for_each_entry(user, &users, node) {
		if (uid_eq(user->uid, uid)) {
			user->references++;
			goto unlock;
		}
	}
	user = fresh;
	fresh = NULL;
	if (user) {
		user->uid = uid;
		user->references = 1;
		list_add(&user->node, &users);
	}
unlock:
	mutex_unlock(&lock);
	kfree(fresh);
	return user;
}

struct eventlog_user *eventlog_user_hold(struct eventlog_user *user)
{
	mutex_lock(&lock);
	user->references++;
	mutex_unlock(&lock);
	return user;
}

/* The caller has uncharged everything that it charged through this reference. */
void eventlog_user_put(struct eventlog_user *user)
{
	mutex_lock(&lock);
	if (!--user->references) {
		list_del(&user->node);
		kfree(user);
	}
	mutex_unlock(&lock);
}

/* Constant while the caller holds a reference. */
kuid_t eventlog_user_id(const struct eventlog_user *user)
{
	return user->uid;
}

/* A parameter may have set the limit below what is in use. */
static bool is_within_limit(unsigned int used, unsigned int limit, unsigned int count)
{
	return used <= limit && count <= limit - used;
}

static bool is_within_total_limit(const struct eventlog_limit *limit, unsigned int count)
{
	const unsigned int all = READ_ONCE(limit->all);

	return is_within_limit(limit->used, all - all / EVENTLOG_ROOT_RESERVE_DIVISOR, count) ||
	       (is_within_limit(limit->used, all, count) &&
		ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN));
}

/* Returns false and changes nothing if the charge exceeds a limit. */
bool eventlog_charge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count)
{
	struct eventlog_limit *limit = &limits[what];
	bool allowed;

	mutex_lock(&lock);
	allowed = is_within_limit(user->used[what], READ_ONCE(limit->user), count) &&
		  is_within_total_limit(limit, count);
	if (allowed) {
		user->used[what] += count;
		limit->used += count;
	}
	mutex_unlock(&lock);
	return allowed;
}

/* Returns the caller's user, charged for an open file; -ENOMEM, or -EMFILE at its limit. */
struct eventlog_user *eventlog_user_get_for_file(void)
{
	struct eventlog_user *user = eventlog_user_get();

	if (!user)
		return ERR_PTR(-ENOMEM);
	if (eventlog_charge(user, EVENTLOG_FILES, 1))
		return user;
	eventlog_user_put(user);
	return ERR_PTR(-EMFILE);
}

void eventlog_user_put_for_file(struct eventlog_user *user)
{
	eventlog_uncharge(user, EVENTLOG_FILES, 1);
	eventlog_user_put(user);
}

void eventlog_uncharge(struct eventlog_user *user, enum eventlog_resource what, unsigned int count)
{
	mutex_lock(&lock);
	user->used[what] -= count;
	limits[what].used -= count;
	mutex_unlock(&lock);
}
