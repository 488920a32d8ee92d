/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/eventlog: events of applications as trace events of the system
 * `eventlog`, for perf, ftrace and BPF.
 *
 * It speaks what user_events speaks (Documentation/trace/user_events.rst),
 * with the same structs and numbers, so that one program can use either:
 *
 *   ioctl EVENTLOG_REGISTER    describes an event, and names a word in the
 *                              memory of the process with a bit in it.  The
 *                              bit is set while somebody listens.
 *   write, writev              one event: its write_index, then its payload,
 *                              packed as described.
 *   ioctl EVENTLOG_UNREGISTER  gives the word back, and clears the bit.
 *   ioctl EVENTLOG_DELETE      removes an event that nobody uses.
 *
 * What differs, see eventlog(4): the system's name; the word's page is pinned,
 * so that it has to be anonymous memory or of tmpfs; a forked child registers
 * words of its own; events do not persist; a payload that is too large for a
 * listener is refused.
 */
#ifndef _UAPI_LINUX_EVENTLOG_DEVICE_H
#define _UAPI_LINUX_EVENTLOG_DEVICE_H

#include <linux/eventlog.h>
#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_DEVICE_PATH "/dev/eventlog"

/* Of a description, with its NUL. */
#define EVENTLOG_DESCRIPTION_MAX 512
/* Of an array of char in it. */
#define EVENTLOG_ARRAY_MAX 1024
/*
 * Of a payload: what every listener can take.  ftrace's buffers have pages of
 * 4096 bytes, of which headers take 32, and a whole time stamp would take 8.
 */
#define EVENTLOG_PAYLOAD_MAX (4096 - 48)

/*
 * An event of this name may have other fields than the one that is there.  It
 * then gets another name: NAME_HASH, with a hash of its fields.
 */
#define EVENTLOG_REGISTER_MULTI_FORMAT 2

struct eventlog_registration {
	__u32 size; /* of this struct */
	__u8 enable_bit;
	__u8 enable_size; /* of the word in bytes: 4 or 8 */
	__u16 flags;
	__u64 enable_addr; /* of the word, a multiple of its size */
	__u64 name_args; /* address of "NAME [TYPE FIELD[; TYPE FIELD]...]" */
	__u32 write_index; /* the answer: the event's number for this open file */
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

/*
 * LISTENING through the device, without tracefs: EVENTLOG_SUBSCRIBE makes an
 * open file a subscription, for good.  Its memory is laid out as a region (see
 * linux/eventlog.h), made and written by the kernel alone:
 *
 *   read     whole records, each padded to EVENTLOG_RECORD_ALIGNMENT; what was lost stands
 *            among them at its place: a record of EVENTLOG_LOST_PROVIDER
 *   poll     readable when there is a record, or a loss that nobody has been told of
 *   mmap     the region, read-only; then EVENTLOG_RELEASE_BUFFERS takes the place of
 *            storing `drained`
 *
 * EVENTLOG_STOP ends it: nobody writes to it any more, and what it has stays to be
 * read.  Behind that read says 0; poll says EPOLLHUP as soon as it has ended.
 *
 * What differs from a region in user space: the producers of a CPU's ring are
 * what runs on it and what interrupts that, as a stack.  `control` moves when the
 * outermost is done, so all that stands before it is whole.  The last ring is
 * never used.  A CPU that comes to life later has its ring begin then: until that
 * its control is EVENTLOG_SEALED, and what no memory could be had for is in
 * `lost`.  In overwrite mode a ring seals, too, where those that interrupt one
 * another would come round to what the outermost still writes.  `lost_` counters
 * of providers stay 0: the rings have all of it.
 *
 * With EVENTLOG_TO_RELAY records go to a relay channel instead, see
 * linux/eventlog_relay.h.  Then rings have no memory and stay sealed, and their `lost`
 * has what the channel does not count: events in NMIs, and those that come when the
 * channel has gone.
 *
 * Who hears whom: an unprivileged subscriber hears programs whose real, effective
 * and saved user were all its own effective user when they published, and that had not
 * been more than it, in rights, groups or namespaces, as for ptrace(2); with CAP_PERFMON
 * (or CAP_SYS_ADMIN) in the first user namespace everybody, and the kernel itself.
 */

#define EVENTLOG_IDENTIFIER_SIZE 64 /* a name of a provider or an event, with its NUL */
#define EVENTLOG_RULES_MAX 64
#define EVENTLOG_PROCESSES_MAX 64

/* Of an event that is published: it begins with its session, a __u64. */
#define EVENTLOG_EVENT_SESSION_BOUND 1
/* Whoever gets any event of the provider gets this one, too: the end of a dump. */
#define EVENTLOG_EVENT_ALWAYS_DELIVERED 2

struct eventlog_published_event {
	__u64 keywords;
	__u32 write_index; /* that the event has got by EVENTLOG_REGISTER */
	__u16 event; /* its position in the schema */
	__u8 level; /* 1 to 5 */
	__u8 flags; /* EVENTLOG_OFFER_... */
	char name[EVENTLOG_IDENTIFIER_SIZE];
};

/*
 * Publishes a provider: ties numbers of events to it, so that they reach those
 * who subscribe.  It stays until it is withdrawn or the file is closed.
 */
struct eventlog_publication {
	__u32 size; /* of this struct */
	__u32 event_count; /* 1 to EVENTLOG_EVENTS_MAX */
	__u64 events; /* address of struct eventlog_published_event [event_count] */
	__u64 schema; /* address; the kernel does not look into it */
	__u32 schema_size; /* 1 to EVENTLOG_SCHEMA_SIZE_MAX */
	__u32 provider; /* the answer: its number, for EVENTLOG_UNPUBLISH */
	__u64 schema_hash;
	char name[EVENTLOG_IDENTIFIER_SIZE];
};

/* What a subscription wants: events that meet all of one of its rules. */
struct eventlog_filter_rule {
	char provider[EVENTLOG_IDENTIFIER_SIZE]; /* patterns, with * and ? */
	char event[EVENTLOG_IDENTIFIER_SIZE];
	__u64 keywords; /* one of these, or an event without any; 0: all */
	__u32 level; /* up to this one; 0: all */
	__u32 flags; /* EVENTLOG_RULE_SESSIONS */
};

/* Only events of the sessions that the subscription names. */
#define EVENTLOG_RULE_SESSIONS 1

/* Of processes: one of these, if any is named. */
struct eventlog_process_filter {
	__u32 pid; /* as the subscriber's pid namespace numbers it; 0: any */
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
	__u32 flags; /* EVENTLOG_WAKE_AT_SWITCH, ..._WITHOUT_READER, ..._TO_RELAY */
	__u32 read_timeout; /* of a read that waits, in milliseconds, then EAGAIN; 0: for ever */
	__u64 total_size; /* the answer: what there is to be mapped */
	/* From here on not in programs that were built for the first version. */
	__s32 relay; /* with EVENTLOG_TO_RELAY: a file that has made a channel; else 0 */
	__u32 reserved; /* 0 */
};

#define EVENTLOG_SUBSCRIPTION_REQUEST_FIRST_SIZE 80

/* Who waits is woken when a buffer has been switched, not by each record. */
#define EVENTLOG_WAKE_AT_SWITCH 1
/* No events of the kernel about threads of the process that subscribes: switches to and from it. */
#define EVENTLOG_EXCLUDE_READER 2
/* Records go to the channel of `relay`, which says whether it overwrites; it may go at any time. */
#define EVENTLOG_TO_RELAY 4

/* Gives buffers of a ring back: generations below this one have been read. */
struct eventlog_buffer_release {
	__u32 size; /* of this struct */
	__u32 ring;
	__u64 drained;
	/* So far it has been looked at, for poll: `control` and `lost` of the ring as they were. */
	__u64 seen;
	__u64 lost_seen;
};

#define EVENTLOG_ALL_RINGS 0xffffffffU

struct eventlog_statistics {
	__u32 size; /* of this struct */
	__u32 ring; /* of which; or EVENTLOG_ALL_RINGS */
	__u64 recorded;
	__u64 lost;
	__u64 read; /* by read(2) */
	__u64 overwritten; /* and told to who reads */
	__u64 lost_reported;
	__u32 next_size; /* the room that the next read needs, 0: there is nothing */
	__u32 providers_refused; /* no room for these in the region's tables */
	__u64 memory; /* bytes that count for the user */
};

/* One provider that the caller may listen to. */
struct eventlog_provider_query {
	__u32 size; /* of this struct */
	__u32 provider; /* the answer has the next above this one; 0: the first */
	__u64 schema; /* address of room for the schema, or 0 */
	__u32 schema_size; /* of that room; the answer: of the schema */
	__u32 event_count;
	__u64 schema_hash;
	__u32 pid; /* 0: the kernel, or not of the caller's pid namespace */
	__u32 uid;
	__u64 start_time; /* field 22 of /proc/PID/stat */
	char process[EVENTLOG_PROCESS_NAME_SIZE];
	char name[EVENTLOG_IDENTIFIER_SIZE];
};

/*
 * The first word of a write that holds many events: behind it a word with flags, then,
 * each at the next multiple of 8 bytes, a struct eventlog_batch_entry with its
 * payload.  Answers how many bytes have been taken, of whole entries; an
 * error only if the first one is refused.  What nobody listens to is taken.
 */
#define EVENTLOG_BATCH 0xffffffffU
#define EVENTLOG_BATCH_SIZE_MAX 0x00100000U

struct eventlog_batch_entry {
	__u32 write_index;
	__u32 size; /* of the payload behind */
};

/*
 * A flag: each entry is a struct eventlog_timed_entry instead.  Subscriptions whose
 * clock is EVENTLOG_CLOCK_MONOTONIC get its time, with EVENTLOG_RECORD_CUSTOM_TIME; others,
 * and tracing, that of the write.
 */
#define EVENTLOG_BATCH_TIMED 1U

struct eventlog_timed_entry {
	__u32 write_index;
	__u32 size; /* of the payload behind */
	__u64 time; /* when it was, on CLOCK_MONOTONIC; 0: when it is written */
};

/*
 * What read(2) says of events that are missing: a record of this provider with a
 * struct eventlog_lost_payload as its payload, at the time of the first record behind
 * the gap, or, if there is none yet, when the loss was found; if that record has
 * EVENTLOG_RECORD_CUSTOM_TIME, at that of the last one before it that has not, or 0.
 */
#define EVENTLOG_LOST_PROVIDER 0xffffU

struct eventlog_lost_payload {
	__u64 lost; /* there was no room */
	__u64 overwritten; /* newer ones took their place */
};

#define EVENTLOG_PUBLISH _IOWR('*', 16, struct eventlog_publication *)
#define EVENTLOG_UNPUBLISH _IOW('*', 17, __u32 *)
#define EVENTLOG_SUBSCRIBE _IOWR('*', 18, struct eventlog_subscription_request *)
#define EVENTLOG_RELEASE_BUFFERS _IOW('*', 19, struct eventlog_buffer_release *)
#define EVENTLOG_STATISTICS _IOWR('*', 20, struct eventlog_statistics *)
#define EVENTLOG_NEXT_PROVIDER _IOWR('*', 21, struct eventlog_provider_query *)
#define EVENTLOG_STOP _IO('*', 22)

EVENTLOG_ABI(sizeof(struct eventlog_published_event) == 80);
EVENTLOG_ABI(sizeof(struct eventlog_publication) == 104);
EVENTLOG_ABI_AT(eventlog_publication, schema_hash, 32);
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
EVENTLOG_ABI(EVENTLOG_PROVIDERS_MAX <= EVENTLOG_LOST_PROVIDER);

#endif /* _UAPI_LINUX_EVENTLOG_DEVICE_H */
