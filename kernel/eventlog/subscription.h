/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who subscribes to what, for those that have events to hand over.
 *
 * A source is one provider, of a program or of the kernel, with its events.  Each
 * event keeps the list of who wants it: writing one is a load and a branch while
 * that is nobody, and takes no lock in any case.
 */
#ifndef EVENTLOG_SUBSCRIPTION_H
#define EVENTLOG_SUBSCRIPTION_H

#include <linux/capability.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct eventlog_listeners; /* private to source.c */
struct eventlog_source;

/*
 * Filled in by whoever owns it, from `source` to `flags`, the rest zero, before anybody
 * can find it; does not change while it is published.
 */
struct eventlog_source_event {
	struct eventlog_listeners __rcu *listeners; /* NULL: nobody */
	struct eventlog_source *source;
	const char *name;
	u64 keywords;
	u16 id; /* its position in the schema */
	u8 level;
	u8 flags; /* EVENTLOG_OFFER_... */
	bool enabled; /* by the lock of source.c */
};

/* Private to source.c, and by its lock: a source or a recipient, among all of them. */
struct eventlog_peer {
	struct list_head node;
	u64 arrival; /* the later one of a pair compares both */
	u32 in_use; /* by so many who compare it, or are about to go on behind it */
};

struct eventlog_source {
	struct eventlog_peer peer;
	const char *name;
	bool exact_name_only; /* by those who want it: no pattern with * or ? is meant for it */
	const void *schema; /* in the SDK's binary form */
	u32 schema_size;
	u64 schema_hash; /* as who publishes it says */
	u64 schema_key; /* of its bytes, set by eventlog_source_publish() */
	u32 event_count;
	struct eventlog_source_event *events;
	/*
	 * Somebody listens to an event, or nobody does any more.  May sleep; called
	 * with the lock of source.c, so that it must not publish, withdraw or subscribe.
	 * May be NULL.
	 */
	void (*update_enabled)(struct eventlog_source_event *event, bool enabled);

	/* Of a program; for the kernel's own `process` is NULL. */
	struct pid *process;
	kuid_t uid;
	kuid_t user; /* for whom it counts, see account.c */
	bool is_private; /* has other rights than those of `uid`: not for that user to hear */
	kernel_cap_t capabilities; /* its capabilities */
	struct user_namespace *user_ns; /* in which it has them */
	u64 start_time; /* field 22 of /proc/PID/stat */
	char process_name[TASK_COMM_LEN];
	u32 number; /* set by eventlog_source_publish() */
};

/*
 * From now on the source's events reach those that want them; there are no more than
 * EVENTLOG_EVENTS_MAX.  May sleep.  Returns 0, or -ENOMEM, or -EINTR if the caller is
 * being killed: then nobody listens to it, but some may have heard of it, and whoever
 * may have been writing an event meanwhile still is, for a grace period.
 */
int eventlog_source_publish(struct eventlog_source *source);

/*
 * Nobody hears the source's events any more when this returns, and nobody is still
 * writing one to a subscription: it waits for a grace period.  `tell` is not called.
 */
void eventlog_source_withdraw(struct eventlog_source *source);

/*
 * The same where nobody can be writing any of its events: it waits for no grace
 * period, only for those who are just comparing an event of it with rules.
 */
void eventlog_source_withdraw_nosync(struct eventlog_source *source);

/* A load: whether it is worth making the payload.  Any context. */
static inline bool eventlog_source_event_enabled(const struct eventlog_source_event *event)
{
	return rcu_access_pointer(event->listeners);
}

struct eventlog_event_instance {
	const struct eventlog_source_event *event;
	const void *payload; /* in the SDK's form, with __rel_loc words */
	u32 size;
	/*
	 * Those of this task's process, or of the current one, get it only if they want
	 * themselves; or NULL.
	 */
	const struct task_struct *about;
	u64 time; /* when it was, on CLOCK_MONOTONIC; 0: now */
};

/*
 * Hands an event to all recipients that want it.  Any context, NMIs too; does not
 * sleep, takes no lock.  What finds no room in a ring is counted there.
 */
void eventlog_source_event_write(const struct eventlog_event_instance *instance);

#endif /* EVENTLOG_SUBSCRIPTION_H */
