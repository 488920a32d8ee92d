/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Modules that receive events of programs, of other modules and of the kernel.
 * eventlog(9) explains this example:
 *
 *	static void on_event(struct eventlog_subscriber *subscriber,
 *			     const struct eventlog_subscriber_event *what)
 *	{
 *		atomic_long_inc(&errors);
 *	}
 *
 *	EVENTLOG_SUBSCRIBER(errors,
 *			    EVENTLOG_PATTERNS({ "*", "*", .level = EVENTLOG_LEVEL_ERROR }),
 *			    .on_event = on_event);
 *
 *	error = eventlog_subscriber_register(&errors_subscriber);
 *	...
 *	eventlog_subscriber_unregister(&errors_subscriber);
 *
 * The emitter calls on_event() before it continues: there is no buffer that
 * could be full.
 */
#ifndef _LINUX_EVENTLOG_SUBSCRIBER_H
#define _LINUX_EVENTLOG_SUBSCRIBER_H

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/eventlog.h>
#include <linux/types.h>
#include <linux/uidgid.h>

struct eventlog_subscriber_state; /* private to subscriber.c */

/*
 * An event. Its pointers are valid during the call only. For an event of a
 * program, everything is that program's word: its schema may be invalid, and
 * its payload may not match it.
 */
struct eventlog_subscriber_event {
	const char *provider;
	const char *event;
	const void *payload; /* as in rings; __rel_loc words of 0 are null pointers */
	u32 size;
	u64 time; /* on CLOCK_MONOTONIC, of an event that its program collected earlier; 0: now */
	u16 number; /* number of the event in its provider's schema */
	enum eventlog_level level;
	u64 keywords;
	const void *schema; /* of the provider, see elog(5) */
	u32 schema_size;
	u64 schema_hash;
	const char *owner; /* name of the process that published the provider, or of the module */
	pid_t process; /* of the owner, in the first pid namespace; 0: the kernel */
	pid_t thread; /* the current thread, in the first pid namespace */
	kuid_t user; /* of the owner */
};

/* A pattern with * and ? for providers and events. */
struct eventlog_event_pattern {
	const char *provider;
	const char *event;
	enum eventlog_level level; /* up to this level; 0: all */
	u64 keywords; /* with one of these keywords, or without any; 0: all */
};

/* A subscriber: declared by EVENTLOG_SUBSCRIBER(). */
struct eventlog_subscriber {
	const char *name;
	u16 pattern_count;
	const struct eventlog_event_pattern *patterns;
	/*
	 * Called by the emitter with each event that one of the patterns matches: in any
	 * context, NMIs too, on several CPUs at once, with preemption disabled and possibly
	 * with locks held. Must not sleep. May emit events, which are not delivered to this
	 * subscriber: see suppressed.
	 */
	void (*on_event)(struct eventlog_subscriber *subscriber,
			 const struct eventlog_subscriber_event *what);
	/*
	 * Number of events that matched and were not delivered since it was registered:
	 * on_event() itself led to them, or they came in an NMI that interrupted on_event()
	 * in another NMI.
	 */
	atomic_long_t suppressed;
	struct eventlog_subscriber_state *registered;
};

/* 1 to 64 of { "provider", "event", .level = ..., .keywords = ... }. */
#define EVENTLOG_PATTERNS(...)							\
	.patterns = (const struct eventlog_event_pattern[]){ __VA_ARGS__ },		\
	.pattern_count = sizeof((const struct eventlog_event_pattern[]){ __VA_ARGS__ }) /	\
		      sizeof(struct eventlog_event_pattern)

/* Defines NAME_subscriber. */
#define EVENTLOG_SUBSCRIBER(_name, ...)						\
	static struct eventlog_subscriber _name##_subscriber = {		\
		.name = #_name,							\
		__VA_ARGS__							\
	}

#if IS_ENABLED(CONFIG_EVENTLOG)

/*
 * Registers a subscriber: on_event() is called with the events of all users
 * that match, possibly before this returns. May sleep; not from on_event(), nor
 * from a provider's set_enabled() or dump(), nor with a lock held that the
 * dump() of a provider may take, because it is called here. Returns 0; -EINVAL for an invalid
 * declaration, with the reason in the log; -EBUSY if it is registered; -ENOMEM;
 * or -EINTR if the task that loads the module is being killed.
 */
int eventlog_subscriber_register(struct eventlog_subscriber *subscriber);

/*
 * Unregisters a subscriber. When this returns, on_event() is not running and
 * will not be called, and programs and providers without other listeners have
 * been notified, and no dump() for it is running. May sleep, not from the same
 * places.
 */
void eventlog_subscriber_unregister(struct eventlog_subscriber *subscriber);

#else

/* Unlike a provider, a subscriber is of no use without the module. */
static inline int eventlog_subscriber_register(struct eventlog_subscriber *subscriber)
{
	return -EOPNOTSUPP;
}

static inline void eventlog_subscriber_unregister(struct eventlog_subscriber *subscriber)
{
}

#endif

#endif /* _LINUX_EVENTLOG_SUBSCRIBER_H */
