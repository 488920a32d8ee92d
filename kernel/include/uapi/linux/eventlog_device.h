/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/eventlog: events of applications as trace events of the system
 * `eventlog`, for perf, ftrace and BPF; and subscriptions to them without
 * tracefs.
 *
 * PURPOSE
 *
 * The device lets a program register events, write them, publish the provider
 * that they belong to, and subscribe to providers. Its first four operations
 * are those of user_events (Documentation/trace/user_events.rst), with the same
 * structs and numbers, so that one program can use either.
 *
 * INTERFACE
 *
 *   ioctl EVENTLOG_REGISTER         describes an event, and names a word in the
 *                                   memory of the process with a bit in it. The
 *                                   bit is set while the event has listeners.
 *   write, writev                   one event: its write_index, then its payload,
 *                                   packed as described; or EVENTLOG_BATCH.
 *   ioctl EVENTLOG_UNREGISTER       gives the word back, and clears the bit.
 *   ioctl EVENTLOG_DELETE           removes an event without users.
 *   ioctl EVENTLOG_PUBLISH          makes registered events a provider, to which
 *                                   others can subscribe.
 *   ioctl EVENTLOG_UNPUBLISH        withdraws the provider.
 *   ioctl EVENTLOG_NEXT_LISTENER    iterates over the listeners of a published
 *                                   provider, each of which a batch can be for.
 *   ioctl EVENTLOG_SUBSCRIBE        makes the open file a subscription, for good.
 *   read                            runs of records of the subscription.
 *   poll                            readable when there is a record, or a loss
 *                                   that has not been reported.
 *   mmap                            the region of the subscription, read-only.
 *   ioctl EVENTLOG_RELEASE_BUFFERS  gives buffers back that were read by mmap.
 *   ioctl EVENTLOG_STATISTICS       counts of the subscription.
 *   ioctl EVENTLOG_STOP             ends it; what it has can still be read.
 *   ioctl EVENTLOG_NEXT_PROVIDER    iterates over the providers.
 *
 * RULES FOR PRODUCERS
 *
 * These differ from user_events, see eventlog(4):
 *
 *   1. The system is `eventlog`.
 *   2. The page of a word is pinned, so it has to be anonymous memory or of tmpfs.
 *   3. A forked child registers words of its own.
 *   4. Events do not persist.
 *   5. A payload that is too large for a listener is rejected.
 *   6. Bits of words that `notification` of the publication names are set when a
 *      listener of the provider was added, and never cleared; only in words of the
 *      process that published. A program that clears them first and then iterates
 *      with EVENTLOG_NEXT_LISTENER misses none, if it also iterates once after
 *      EVENTLOG_PUBLISH has returned.
 *
 * RULES FOR SUBSCRIPTIONS
 *
 * The memory of a subscription is laid out as a region (see linux/eventlog.h),
 * created and written by the kernel alone. These differ from a region in user
 * space:
 *
 *   1. The producers of a CPU's ring are the code that runs on it and what
 *      interrupts that, as a stack. `control` moves when the outermost is done,
 *      so everything before it is complete.
 *   2. The last ring is never used.
 *   3. A ring of a CPU that comes online later begins then: until that its control
 *      is EVENTLOG_SEALED, and events for which there is no memory are in `lost`.
 *   4. In overwrite mode a ring seals, too, if producers that interrupt one another
 *      would wrap around to what the outermost still writes.
 *   5. The `lost_` counters of providers stay 0: the rings have all losses.
 *   6. EVENTLOG_RELEASE_BUFFERS takes the place of storing `drained`.
 *   7. read(2) returns runs of complete records, each run from one ring. A run begins
 *      with a marker of the type EVENTLOG_MARKER_RUN, which has the ring and what is
 *      missing in front of the run. Records keep the form that they have in the ring:
 *      word 1 of the marker is the context of the SHORT records behind it. Each read(2)
 *      begins with a marker, and each gap. A gap that no record follows yet is a marker
 *      without records.
 *   8. After EVENTLOG_STOP nothing is written; what was written can be read.
 *      Behind that read(2) returns 0.  poll(2) reports EPOLLHUP as soon as the
 *      subscription has ended.
 *   9. With EVENTLOG_TO_RELAY records go to a relay channel instead, see
 *      linux/eventlog_relay.h. Then rings have no memory and stay sealed, and
 *      their `lost` has what the channel does not count: events in NMIs, and
 *      events after the channel was closed.
 *  10. `context` of rings stays 0: the kernel keeps it elsewhere. In a ring, the order of
 *      positions is that of reservations. A record of a producer that was interrupted may
 *      be complete later than those behind it, but all are when `control` moves.
 *
 * RIGHTS
 *
 *   1. An unprivileged subscriber receives events of programs whose real,
 *      effective and saved user all were its own effective user when they
 *      published, and that had not had more rights than it, in capabilities,
 *      groups or namespaces, as for ptrace(2). Programs without a number in its
 *      PID namespace are not visible to it.
 *   2. CAP_PERFMON or CAP_SYS_ADMIN in the first user namespace permits the events
 *      of all programs, and of the kernel.
 *
 * STATE MACHINE OF AN OPEN FILE
 *
 *   opened --EVENTLOG_SUBSCRIBE--> subscription --EVENTLOG_STOP--> ended
 *
 *   In each state it can register, write and publish events.
 *
 * TRADE-OFFS
 *
 * - The ABI of user_events is kept, with its packed structs, so that a program
 *   needs one code path.
 * - A payload is limited to what every listener can take, so that an event is
 *   not lost for some listeners after write(2) has succeeded.
 * - Pages of words are pinned: a bit changes at once and without waiting for
 *   the process, but the memory cannot be swapped and counts against a limit.
 */
#ifndef _UAPI_LINUX_EVENTLOG_DEVICE_H
#define _UAPI_LINUX_EVENTLOG_DEVICE_H

#include <linux/eventlog.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_DEVICE_PATH "/dev/eventlog"

/* Size of a description, with its NUL. */
#define EVENTLOG_DESCRIPTION_MAX 512
/* Length of a char array in a description. */
#define EVENTLOG_ARRAY_MAX 1024
/*
 * Size of a payload that every listener can take. ftrace's buffers have pages
 * of 4096 bytes, of which headers take 32, and a full time stamp would take 8.
 */
#define EVENTLOG_PAYLOAD_MAX (4096 - 48)

/*
 * Permits an event of this name with other fields than an existing one. It is
 * then named NAME_HASH, with a hash of its fields.
 */
#define EVENTLOG_REGISTER_MULTI_FORMAT 2

struct eventlog_registration {
	__u32 size; /* of this struct */
	__u8 enable_bit;
	__u8 enable_size; /* size of the word in bytes: 4 or 8 */
	__u16 flags;
	__u64 enable_addr; /* address of the word, a multiple of its size */
	__u64 name_args; /* address of "NAME [TYPE FIELD[; TYPE FIELD]...]" */
	__u32 write_index; /* out: index of the event in this open file */
} __attribute__((__packed__));

struct eventlog_unregistration {
	__u32 size; /* of this struct */
	__u8 disable_bit;
	__u8 reserved_byte; /* 0 */
	__u16 reserved; /* 0 */
	__u64 disable_addr;
} __attribute__((__packed__));

#define EVENTLOG_REGISTER _IOWR('*', 0, struct eventlog_registration *)
#define EVENTLOG_DELETE _IOW('*', 1, char *)
#define EVENTLOG_UNREGISTER _IOW('*', 2, struct eventlog_unregistration *)

/* Publishing and subscribing. */

#define EVENTLOG_IDENTIFIER_SIZE 64 /* a name of a provider or an event, with its NUL */
#define EVENTLOG_RULES_MAX 64
#define EVENTLOG_PROCESSES_MAX 64

/* A published event whose payload begins with its session, a __u64. */
#define EVENTLOG_EVENT_SESSION_BOUND 1
/* Delivered to every consumer of any event of the provider: the end of a dump. */
#define EVENTLOG_EVENT_ALWAYS_DELIVERED 2

struct eventlog_published_event {
	__u64 keywords;
	__u32 write_index; /* from EVENTLOG_REGISTER */
	__u16 event; /* index in the schema, below EVENTLOG_EVENTS_MAX */
	__u8 level; /* 1 to 5 */
	__u8 flags; /* EVENTLOG_EVENT_... */
	char name[EVENTLOG_IDENTIFIER_SIZE];
};

/*
 * Publishes a provider: its events reach the subscriptions that want them. It
 * stays until it is withdrawn or the file is closed.
 */
struct eventlog_publication {
	__u32 size; /* of this struct */
	__u32 event_count; /* 1 to EVENTLOG_EVENTS_MAX */
	__u64 events; /* address of struct eventlog_published_event [event_count] */
	__u64 schema; /* address; not interpreted by the kernel */
	__u32 schema_size; /* 1 to EVENTLOG_SCHEMA_SIZE_MAX */
	__u32 provider; /* out: number for EVENTLOG_UNPUBLISH */
	__u64 schema_hash;
	char name[EVENTLOG_IDENTIFIER_SIZE];
	__u32 notification; /* bits of the words of its events: see rule 6; 0: none */
	__u32 reserved; /* 0 */
};

/*
 * A listener of a provider that was published through this file: a subscription or a
 * module. Numbers increase and are not reused.
 */
struct eventlog_listener_query {
	__u32 size; /* of this struct */
	__u32 provider; /* from EVENTLOG_PUBLISH */
	__u64 listener; /* in: 0, or the last number; out: the next number above it */
};

/*
 * A rule of a subscription: it wants events that meet all of one of its rules.
 * In patterns of names, * stands for any characters and ? for one character of
 * UTF-8; \ makes the next character an ordinary one.
 */
struct eventlog_filter_rule {
	char provider[EVENTLOG_IDENTIFIER_SIZE]; /* patterns */
	char event[EVENTLOG_IDENTIFIER_SIZE];
	__u64 keywords; /* one of these keywords, or an event without any; 0: all */
	__u32 level; /* up to this level; 0: all */
	__u32 flags; /* EVENTLOG_RULE_SESSIONS */
};

/* Only events of the sessions that the subscription names. */
#define EVENTLOG_RULE_SESSIONS 1

/* A subscription with these gets events of processes that match one of them only. */
struct eventlog_process_filter {
	__u32 pid; /* number in the subscriber's pid namespace; 0: any */
	__u32 reserved; /* 0 */
	char name[EVENTLOG_PROCESS_NAME_SIZE]; /* a pattern; empty: any */
};

struct eventlog_subscription_request {
	__u32 size; /* of this struct */
	__u32 features; /* EVENTLOG_FEATURE_OVERWRITE or 0 */
	__u32 clock; /* enum eventlog_clock */
	__u32 buffer_count; /* power of two, 2 to EVENTLOG_BUFFERS_MAX */
	__u32 buffer_size; /* power of two, EVENTLOG_BUFFER_SIZE_MIN to _MAX */
	__u32 rule_count; /* 1 to EVENTLOG_RULES_MAX */
	__u64 rules; /* address of struct eventlog_filter_rule [] */
	__u32 session_count; /* up to EVENTLOG_SESSIONS_MAX */
	__u32 process_count; /* up to EVENTLOG_PROCESSES_MAX */
	__u64 sessions; /* address of __u64 [] */
	__u64 processes; /* address of struct eventlog_process_filter [] */
	__u64 schemas_size; /* room for schemas, a multiple of 64 KiB up to 64 MiB */
	__u32 flags; /* EVENTLOG_WAKE_AT_SWITCH, _EXCLUDE_READER, _TO_RELAY */
	__u32 read_timeout; /* of a waiting read, in milliseconds, then EAGAIN; 0: none */
	__u64 total_size; /* out: size of the region for mmap */
	/* Programs built for the first version end here. */
	__s32 relay; /* with EVENTLOG_TO_RELAY: a file that has created a channel; else 0 */
	__u32 reserved; /* 0 */
};

#define EVENTLOG_SUBSCRIPTION_REQUEST_FIRST_SIZE 80

/* Wakes waiting readers when a buffer was switched, not for each record. */
#define EVENTLOG_WAKE_AT_SWITCH 1
/* Excludes kernel events about threads of the subscriber's process: switches to and from it. */
#define EVENTLOG_EXCLUDE_READER 2
/*
 * Records go to the channel of `relay`, whose options say whether it
 * overwrites. It may be closed.
 */
#define EVENTLOG_TO_RELAY 4

/* Gives buffers of a ring back: generations below `drained` were read. */
struct eventlog_buffer_release {
	__u32 size; /* of this struct */
	__u32 ring;
	__u64 drained;
	/* `control` and `lost` of the ring up to which it was read: poll reports what is newer. */
	__u64 seen;
	__u64 lost_seen;
};

#define EVENTLOG_ALL_RINGS 0xffffffffU

struct eventlog_statistics {
	__u32 size; /* of this struct */
	__u32 ring; /* index of a ring, or EVENTLOG_ALL_RINGS */
	__u64 recorded;
	__u64 lost;
	__u64 read; /* by read(2) */
	__u64 overwritten; /* and reported to readers */
	__u64 lost_reported;
	__u32 next_size; /* room that the next read needs, 0: nothing to read */
	__u32 providers_refused; /* without room in the region's tables */
	__u64 memory; /* bytes charged to the user */
};

/* A provider that the caller may subscribe to. */
struct eventlog_provider_query {
	__u32 size; /* of this struct */
	__u32 provider; /* in: 0, or the last number; out: the next number above it */
	__u64 schema; /* address of a buffer for the schema, or 0 */
	__u32 schema_size; /* in: size of that buffer; out: of the schema */
	__u32 event_count;
	__u64 schema_hash;
	__u32 pid; /* 0: the kernel, or outside the caller's pid namespace */
	__u32 uid;
	__u64 start_time; /* field 22 of /proc/PID/stat */
	char process[EVENTLOG_PROCESS_NAME_SIZE];
	char name[EVENTLOG_IDENTIFIER_SIZE];
};

/*
 * First word of a write with many events: behind it a word with flags, then,
 * each at the next multiple of 8 bytes, a struct eventlog_batch_entry with its
 * payload. write(2) returns how many bytes of complete entries were accepted,
 * and an error only if the first one is rejected. Events without listeners are
 * accepted.
 */
#define EVENTLOG_BATCH 0xffffffffU
#define EVENTLOG_BATCH_SIZE_MAX 0x00100000U

struct eventlog_batch_entry {
	__u32 write_index;
	__u32 size; /* size of the payload that follows */
};

/*
 * Flag: each entry is a struct eventlog_timed_entry instead. Subscriptions with
 * EVENTLOG_CLOCK_MONOTONIC get its time, with EVENTLOG_RECORD_CUSTOM_TIME;
 * others, and tracing, that of the write.
 */
#define EVENTLOG_BATCH_TIMED 1U

struct eventlog_timed_entry {
	__u32 write_index;
	__u32 size; /* size of the payload that follows */
	__u64 time; /* of the event, on CLOCK_MONOTONIC; 0: the time of the write */
};

/*
 * Flag: a __u64 behind the word with flags, in front of the entries, is a number of
 * EVENTLOG_NEXT_LISTENER. The entries go to that listener alone, if it wants their
 * events and still exists; not to tracing.
 */
#define EVENTLOG_BATCH_TO_LISTENER 2U

/* Type of a marker in front of a run of records, with a struct eventlog_run. */
#define EVENTLOG_MARKER_RUN 1U

/* What read(2) returns behind this, up to the next one, is of one ring. */
struct eventlog_run {
	__u32 ring; /* CPU of SHORT and CONTEXT records */
	__u32 reserved; /* 0 */
	__u64 lost; /* found no room in front of the run */
	__u64 overwritten; /* replaced by newer events */
	/*
	 * Of the run's first record, or, without a record, of when the loss was found. If that
	 * record has EVENTLOG_RECORD_CUSTOM_TIME: of the last one before it that has not, or
	 * 0. The time in words 0 and 1 has no meaning.
	 */
	__u64 time;
};

#define EVENTLOG_RUN_MARKER_SIZE 48 /* with its words */

#define EVENTLOG_PUBLISH _IOWR('*', 16, struct eventlog_publication *)
#define EVENTLOG_UNPUBLISH _IOW('*', 17, __u32 *)
#define EVENTLOG_SUBSCRIBE _IOWR('*', 18, struct eventlog_subscription_request *)
#define EVENTLOG_RELEASE_BUFFERS _IOW('*', 19, struct eventlog_buffer_release *)
#define EVENTLOG_STATISTICS _IOWR('*', 20, struct eventlog_statistics *)
#define EVENTLOG_NEXT_PROVIDER _IOWR('*', 21, struct eventlog_provider_query *)
#define EVENTLOG_STOP _IO('*', 22)
#define EVENTLOG_NEXT_LISTENER _IOWR('*', 23, struct eventlog_listener_query *)

EVENTLOG_ABI(sizeof(struct eventlog_published_event) == 80);
EVENTLOG_ABI(sizeof(struct eventlog_publication) == 112);
EVENTLOG_ABI_AT(eventlog_publication, schema_hash, 32);
EVENTLOG_ABI_AT(eventlog_publication, notification, 104);
EVENTLOG_ABI(sizeof(struct eventlog_listener_query) == 16);
EVENTLOG_ABI(sizeof(struct eventlog_filter_rule) == 144);
EVENTLOG_ABI(sizeof(struct eventlog_process_filter) == 24);
EVENTLOG_ABI(sizeof(struct eventlog_subscription_request) == 88);
EVENTLOG_ABI_AT(eventlog_subscription_request, total_size, 72);
EVENTLOG_ABI_AT(eventlog_subscription_request, relay,
		EVENTLOG_SUBSCRIPTION_REQUEST_FIRST_SIZE);
EVENTLOG_ABI(sizeof(struct eventlog_buffer_release) == 32);
EVENTLOG_ABI(sizeof(struct eventlog_statistics) == 64);
EVENTLOG_ABI(sizeof(struct eventlog_provider_query) == 128);
EVENTLOG_ABI(sizeof(struct eventlog_batch_entry) == 8);
EVENTLOG_ABI(sizeof(struct eventlog_timed_entry) == 16);
EVENTLOG_ABI(sizeof(struct eventlog_run) + EVENTLOG_MARKER_HEADER_SIZE ==
	     EVENTLOG_RUN_MARKER_SIZE);

#endif /* _UAPI_LINUX_EVENTLOG_DEVICE_H */
