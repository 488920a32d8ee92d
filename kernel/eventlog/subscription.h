/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources: the interface between producers and the lists of listeners.
 *
 * A source is one provider, of a program or of the kernel, with its events.
 * Each event has a list of its listeners. Emitting is a load and a branch
 * without listeners, and never takes a lock.
 */
#ifndef EVENTLOG_SUBSCRIPTION_H
#define EVENTLOG_SUBSCRIPTION_H

#include <linux/capability.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct eventlog_listeners; /* see listeners.h */
struct eventlog_source;

/*
 * The owner fills in `source` to `flags`, leaves the rest zero, and changes
 * nothing while the source is published.
 */
struct eventlog_source_event {
	struct eventlog_listeners __rcu *listeners; /* NULL: no listeners */
	struct eventlog_source *source;
	const char *name;
	u64 keywords;
	u16 id; /* its position in the schema, below number_count */
	u8 level;
	u8 flags; /* EVENTLOG_EVENT_... */
	bool enabled; /* protected by eventlog_sources_lock */
};

/* A source or a consumer in the list of all. Private to source.c. */
struct eventlog_peer {
	struct list_head node;
	u64 arrival; /* of a pair, the later peer compares both */
	u32 in_use; /* number of comparisons, and of iterations that continue behind it */
};

struct eventlog_source {
	struct eventlog_peer peer;
	const char *name;
	bool exact_name_only; /* rules have to name it without * and ? */
	const void *schema; /* in the binary form of elog(5) */
	u32 schema_size;
	u64 schema_hash; /* as its publisher says */
	u64 schema_key; /* hash of its bytes, set by eventlog_source_publish() */
	u32 event_count;
	u32 number_count; /* of events in its schema, at least: each has a number in a region */
	struct eventlog_source_event *events;
	/*
	 * An event gets its first listener, or loses its last. May sleep. Called with
	 * eventlog_sources_lock held, so it must not publish, withdraw or subscribe. May
	 * be NULL.
	 */
	void (*update_enabled)(struct eventlog_source_event *event, bool enabled);
	/*
	 * Writes the current state to one listener, which was just added: events whose
	 * `only` is `listener`; or asks the program to do so. May sleep; called without
	 * eventlog_sources_lock, by several tasks at once for different listeners. Neither
	 * the source nor the consumer is freed before it returns. `state_complete` is
	 * written to that listener next. Both may be NULL.
	 */
	void (*dump)(struct eventlog_source *source, u64 listener);
	const struct eventlog_source_event *state_complete; /* has no payload */

	/* Of a program. `process` is NULL for sources of the kernel. */
	struct pid *process;
	kuid_t uid;
	kuid_t user; /* charged for it: see account.c */
	bool is_private; /* has other rights than `uid`: not visible to that user */
	kernel_cap_t capabilities; /* of the process */
	struct user_namespace *user_ns; /* in which it has these */
	u64 start_time; /* field 22 of /proc/PID/stat */
	char process_name[TASK_COMM_LEN];
	u32 number; /* set by eventlog_source_publish() */
};

/*
 * Publishes a source with at most EVENTLOG_EVENTS_MAX events: they reach the
 * consumers that want them. May sleep. Returns 0, -ENOMEM, or -EINTR if the
 * caller is being killed. After an error there are no listeners, but some may
 * have been added meanwhile: the source's events may still be written for a
 * grace period.
 */
int eventlog_source_publish(struct eventlog_source *source);

/*
 * Withdraws a source. When this returns, it has no listeners and no event is
 * being written: it waits for a grace period. `update_enabled` is not called.
 */
void eventlog_source_withdraw(struct eventlog_source *source);

/*
 * Like eventlog_source_withdraw(), for a source whose events have no writer.
 * Waits only for consumers that are matching it, not for a grace period.
 */
void eventlog_source_withdraw_nosync(struct eventlog_source *source);

/* Returns whether the event has listeners. One load, any context. */
static inline bool eventlog_source_event_enabled(const struct eventlog_source_event *event)
{
	return rcu_access_pointer(event->listeners);
}

struct eventlog_event_instance {
	const struct eventlog_source_event *event;
	const void *payload; /* as the SDK encodes it, with __rel_loc words */
	u32 size;
	/*
	 * Consumers that exclude their own process do not get the event if it is the
	 * process of this task, or the current one. NULL: the event is about no task.
	 */
	const struct task_struct *about;
	u64 time; /* on CLOCK_MONOTONIC, of an event collected earlier; 0: now */
	u64 only; /* serial of the one listener that gets it; 0: all get it */
};

/*
 * Delivers an event to all consumers that want it, or to one. Any context, NMIs too; does
 * not sleep, takes no lock. An event that finds no room in a ring is counted
 * there.
 */
void eventlog_source_event_write(const struct eventlog_event_instance *instance);

#endif /* EVENTLOG_SUBSCRIPTION_H */
