/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modules that hear events of others, of programs and of the kernel: eventlog(9) has it all
 * in an example.
 *
 *	static void heard(struct eventlog_subscriber *subscriber, const struct eventlog_subscriber_event *what)
 *	{
 *		atomic_long_inc(&errors);
 *	}
 *
 *	EVENTLOG_SUBSCRIBER(errors, EVENTLOG_PATTERNS({ "*", "*", .level = EVENTLOG_LEVEL_ERROR }),
 *			    .heard = heard);
 *
 *	error = eventlog_subscriber_register(&errors_subscriber);
 *	...
 *	eventlog_subscriber_unregister(&errors_subscriber);
 *
 * That is done by whoever emits, before going on: nothing lies in between that could be full.
 */
#ifndef _LINUX_EVENTLOG_SUBSCRIBER_H
#define _LINUX_EVENTLOG_SUBSCRIBER_H

#include <linux/atomic.h>
#include <linux/eventlog.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct eventlog_subscriber_state; /* private to subscriber.c */

/*
 * An event.  All that it points to is there during the call only.  Of a program it is what
 * that program says: its schema may be no schema, and its payload another one's.
 */
struct eventlog_subscriber_event {
	const char *provider;
	const char *event;
	const void *payload; /* as it is in rings; __rel_loc words that are 0 point to nothing */
	u32 size;
	u64 time; /* when it was, on CLOCK_MONOTONIC, if its program has collected it; 0: now */
	u16 number; /* of the event, in its provider's schema */
	enum eventlog_level level;
	u64 keywords;
	const void *schema; /* the provider's, see elog(5) */
	u32 schema_size;
	u64 schema_hash;
	const char *owner; /* the name of the process that published it, or of the module */
	pid_t process; /* likewise, in the first pid namespace; 0: the kernel's own */
	pid_t thread; /* the current one, in the same */
	kuid_t user; /* of the process */
};

/* Events of the providers and names that these patterns match, with * and ?. */
struct eventlog_event_pattern {
	const char *provider;
	const char *event;
	enum eventlog_level level; /* up to this one; 0: all */
	u64 keywords; /* with one of these, or without any; 0: all */
};

/* What wants events: declared by EVENTLOG_SUBSCRIBER(). */
struct eventlog_subscriber {
	const char *name;
	u16 pattern_count;
	const struct eventlog_event_pattern *patterns;
	/*
	 * Is called with each event that one of the wishes is for, by whoever emits it: in
	 * any context, NMIs too, on several CPUs at once, with preemption off and perhaps
	 * with locks held.  Must not sleep.  May emit, but does not hear of it: see suppressed.
	 */
	void (*on_event)(struct eventlog_subscriber *subscriber,
			 const struct eventlog_subscriber_event *what);
	/*
	 * So many events were left out since it was registered: those that it wants, and
	 * that `heard` itself has led to, or an NMI that came while it ran in another one.
	 */
	atomic_long_t suppressed;
	struct eventlog_subscriber_state *registered;
};

/* 1 to 64 of { "provider", "event", .level = ..., .keywords = ... }. */
#define EVENTLOG_PATTERNS(...)							\
	.patterns = (const struct eventlog_event_pattern[]){ __VA_ARGS__ },		\
	.pattern_count = sizeof((const struct eventlog_event_pattern[]){ __VA_ARGS__ }) /	\
		      sizeof(struct eventlog_event_pattern)

/* Makes NAME_subscriber. */
#define EVENTLOG_SUBSCRIBER(_name, ...)						\
	static struct eventlog_subscriber _name##_subscriber = {		\
		.name = #_name,							\
		__VA_ARGS__							\
	}

/*
 * From now on it hears what it wants, of all users, which may begin before this returns.
 * May sleep; not from within `heard`, nor a provider's `listen`.  Returns 0; -EINVAL for
 * what is not right, which the log names; -EBUSY if it is registered; -ENOMEM; or -EINTR
 * if who loads the module is being killed.
 */
int eventlog_subscriber_register(struct eventlog_subscriber *subscriber);

/*
 * When this returns `heard` is not running, and will not be called; and programs and
 * providers that nobody else listens to have been told.  May sleep, as the other one.
 */
void eventlog_subscriber_unregister(struct eventlog_subscriber *subscriber);

#endif /* _LINUX_EVENTLOG_SUBSCRIBER_H */
