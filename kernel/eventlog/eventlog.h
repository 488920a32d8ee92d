/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parts of the module and their dependencies.
 *
 *   device.c --- batch.c, registration.c, subscribe_ioctl.c: writes and ioctls
 *     |
 *   file.c --- struct eventlog_file: what one open file has registered
 *     |  |
 *     |  enable_word.c --- struct eventlog_enable_word: bits in the memory of processes
 *     |                  ^
 *     v                  | enabled
 *   event.c --- struct eventlog_event: all events in use, by name
 *     |  |               |
 *     |  trace_event.c --+  the event as ftrace, perf and BPF know it
 *     |
 *     |  publication.c --- the provider of the event
 *     |       |
 *     |  source.c --- pairs of sources and consumers --- filter.c
 *     |       |
 *     |  listeners.c --- lists of listeners of each event
 *     |       |
 *     |       |  <-- provider.c, schema.c: providers of the kernel and its modules
 *     |       |          ^
 *     |       |          kernel_provider.c: events of the CPUs --- hooks.c, idle.c
 *     |       |
 *     |       |  <-- subscriber.c: modules that listen, called instead of writing
 *     |       |
 *     |  deliver.c
 *     |       |
 *     |  ring.c  <-- subscription.c --- region.c: memory for each CPU
 *     |       |          |              provider_table.c: providers in the region
 *     |       |          or relay.h: records go to a channel instead of rings
 *     |       |
 *     |  reading.c, read_*.c  <-- subscribe_ioctl.c: requests of consumers
 *     v
 *   event_mutex.c: adding events to tracing, removing them
 *
 * Locks, the outer ones first:
 *
 *   events           eventlog_registry_lock (set of events and their users)
 *                      > event_mutex of tracing (listeners)
 *                        > eventlog_enable_words_lock (words)
 *                          > lock of account.c (charges)
 *   subscriptions    eventlog_file.lock (publications)
 *                      > eventlog_sources_lock (lists of listeners)
 *                        > eventlog_enable_words_lock, eventlog_memory.lock,
 *                          or the locks under which tracepoints are attached
 *                          > lock of account.c
 *
 * - The two chains are never held together above eventlog_enable_words_lock.
 * - Memory of a process is not touched with any of these locks held, because
 *   that may wait for the process. The pages of words are pinned before.
 * - Two locks may be held while that is waited for, because only users of the
 *   same open file need them: eventlog_file.lock and reading_lock of a
 *   subscription.
 * - A dump of state of a provider in the kernel runs in the task that subscribes, with the
 *   lock of its file held, or in the one that registers the provider. Both peers of
 *   source.c are in use then, so removing one waits for the dump.
 * - A grace period is not waited for under locks of tracing: all of tracing
 *   needs event_mutex.
 * - Writing an event takes no lock.
 */
#ifndef EVENTLOG_H
#define EVENTLOG_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/trace_events.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

#include "account.h"
#include "layout.h"
#include "subscription.h"

#define EVENTLOG_SYSTEM "eventlog"

extern struct mutex eventlog_registry_lock;

struct eventlog_event {
	struct hlist_node node; /* in the table of all events */
	struct list_head idle; /* in the list of idle events */
	struct eventlog_user *user; /* charged for the event, until it is dead */
	char *name;
	struct eventlog_layout *layout;
	u32 users; /* open files; protected by eventlog_registry_lock */

	/* Protected by event_mutex. */
	u32 probe_count; /* number of listeners: instances of ftrace, and perf */
	unsigned long rcu_cookie; /* grace period after the last listener detached */

	/* Protected by eventlog_enable_words_lock; `enabled` is read without it. */
	struct list_head words;
	bool enabled;

	struct tracepoint tracepoint;
	struct trace_event_class class;
	struct trace_event_call call;
	char *print_format;
	struct trace_event_fields *trace_fields; /* made from layout, ended by an empty one */

	/* Of a dead event: see event.c. */
	struct trace_event placeholder;
	struct list_head dead;
};

/* event.c: contracts are at the functions. */
struct eventlog_event *eventlog_event_prepare(struct eventlog_layout *layout);
struct eventlog_event *eventlog_event_get(struct eventlog_event *prepared, u16 flags,
					  struct eventlog_user *user);
void eventlog_event_put(struct eventlog_event *event);
int eventlog_event_delete(const char *name);
void eventlog_event_free(struct eventlog_event *event);
void eventlog_events_schedule_cleanup(void);
void eventlog_events_exit(void);
void eventlog_dead_event_add(struct eventlog_event *event);
void eventlog_dead_events_trim(void);
void eventlog_dead_events_exit(void);

/* event_mutex.c */
int eventlog_with_event_mutex(void (*run)(void *data), void *data);

/* trace_event.c */
int eventlog_trace_event_init(struct eventlog_event *event);
bool eventlog_trace_event_is_busy(const struct eventlog_event *event);
void eventlog_trace_event_fire(struct eventlog_event *event, const void *payload, size_t size);

/* print.c and print_format.c */
extern struct trace_event_functions eventlog_print_functions;
char *eventlog_print_format(const struct eventlog_layout *layout);

/* payload.c */
int eventlog_payload_check(const struct eventlog_layout *layout, const u8 *payload, size_t size);
void eventlog_payload_make_absolute(const struct eventlog_layout *layout, u8 *payload);

/* enable_word.c */
struct eventlog_file;
struct eventlog_slot;
struct eventlog_enable_word;
bool eventlog_enable_word_exists(unsigned long address, u8 bit);
struct eventlog_enable_word *eventlog_enable_word_prepare(unsigned long address, u8 size, u8 bit);
void eventlog_enable_word_discard(struct eventlog_enable_word *word);
int eventlog_enable_word_add(struct eventlog_enable_word *word, struct eventlog_file *file,
			     struct eventlog_event *event, struct eventlog_slot *slot,
			     struct list_head *unused);
void eventlog_pinned_pages_free(struct list_head *pages);
int eventlog_enable_word_remove(unsigned long address, u8 bit);
void eventlog_enable_words_remove_all(struct eventlog_file *file);
void eventlog_enable_words_update(struct eventlog_event *event, bool enabled);
void eventlog_enable_words_update_slot(struct eventlog_slot *slot, bool enabled);
void eventlog_enable_words_notify(struct eventlog_slot *slot, u32 bits, const struct mm_struct *mm);

/* file.c */
#define EVENTLOG_EVENTS_PER_CHUNK 64
#define EVENTLOG_CHUNKS_PER_FILE 16
#define EVENTLOG_EVENTS_PER_FILE (EVENTLOG_EVENTS_PER_CHUNK * EVENTLOG_CHUNKS_PER_FILE)

/* An event of a file, indexed by its write_index. */
struct eventlog_slot {
	struct eventlog_event *event;
	/* the published event; NULL: not published */
	struct eventlog_source_event __rcu *published;
	bool enabled; /* wanted by subscriptions; protected by eventlog_enable_words_lock */
};

struct eventlog_subscription;

struct eventlog_file {
	struct eventlog_user *user;

	/* Protects publications, and creating and ending the subscription. */
	struct mutex lock;
	struct list_head publications;
	/* set once, with release; freed when the file is closed */
	struct eventlog_subscription *subscription;

	/* Protected by eventlog_enable_words_lock. */
	struct list_head pages;

	/*
	 * Slots by write_index. Added under eventlog_registry_lock; read without it below
	 * event_count, which is stored with release behind the slot. They stay until the
	 * file is closed.
	 */
	u32 event_count;
	struct eventlog_slot *chunks[EVENTLOG_CHUNKS_PER_FILE];
};

struct eventlog_file *eventlog_file_make(void);
void eventlog_file_free(struct eventlog_file *file);
struct eventlog_slot *eventlog_slot_of(struct eventlog_file *file, u32 index);
const struct eventlog_slot *eventlog_find_slot(struct eventlog_file *file, u32 index, size_t size);
bool eventlog_slot_is_enabled(const struct eventlog_slot *slot);
int eventlog_deliver(const struct eventlog_slot *slot, u8 *payload, size_t size, u64 time,
		     u64 only);
int eventlog_copy_struct(void *known, size_t known_size, void __user *from);
int eventlog_copy_versioned_struct(void *known, size_t known_size, size_t first_size,
				   void __user *from);

/* registration.c */
struct eventlog_registration;
struct eventlog_unregistration;
long eventlog_register(struct eventlog_file *file, struct eventlog_registration __user *from);
long eventlog_unregister(struct eventlog_unregistration __user *from);
long eventlog_delete(const char __user *from);

/* device.c */
extern struct miscdevice eventlog_device;

/* batch.c */
struct iov_iter;
ssize_t eventlog_write_batch(struct eventlog_file *file, struct iov_iter *from, size_t total);

/* publication.c */
struct eventlog_publication;
long eventlog_publish(struct eventlog_file *file, struct eventlog_publication __user *from);
struct eventlog_listener_query;
long eventlog_withdraw(struct eventlog_file *file, const u32 __user *from);
long eventlog_next_listener(struct eventlog_file *file,
			    struct eventlog_listener_query __user *from);
void eventlog_withdraw_all(struct eventlog_file *file);

/* subscribe_ioctl.c */
struct file;
struct eventlog_subscription_request;
struct eventlog_buffer_release;
struct eventlog_statistics;
struct eventlog_provider_query;
long eventlog_subscribe(struct eventlog_file *file,
			struct eventlog_subscription_request __user *from);
long eventlog_end(struct eventlog_file *file);
long eventlog_ioctl_release_buffers(struct eventlog_file *file,
				    const struct eventlog_buffer_release __user *from);
long eventlog_statistics(struct eventlog_file *file, struct eventlog_statistics __user *from);
long eventlog_next_provider(struct eventlog_provider_query __user *from);
struct eventlog_subscription *eventlog_subscription_of(struct file *opened);

#endif /* EVENTLOG_H */
