/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * eventlog: the region, the ring in it and the record in that.
 *
 * A subscription is one region of memory.  In user space it is a file in
 * tmpfs, created by the consumer and written by every application that has a
 * provider the consumer asked for.  The kernel side uses the same layout.
 *
 *   0                  +-------------------------------------------+
 *                      | struct eventlog_region                    |
 *                      |   identity, geometry, filter, state, wake |
 *   rings_offset       +-------------------------------------------+
 *                      | ring 0: struct eventlog_ring              |
 *                      |         struct eventlog_buffer [count]    |
 *                      | ring 1: ...                 (ring_stride) |
 *                      | ring ring_count - 1: the shared ring      |
 *   providers_offset   +-------------------------------------------+
 *                      | struct eventlog_provider_entry            |
 *                      |                  [EVENTLOG_PROVIDERS_MAX] |
 *   schemas_offset     +-------------------------------------------+
 *                      | schemas, 8-byte aligned, schemas_size     |
 *   buffers_offset     +-------------------------------------------+
 *                      | ring 0: buffer 0, buffer 1, ...           |
 *                      | ring 1: buffer 0, ...                     |
 *   total_size         +-------------------------------------------+
 *
 * Ring r below ring_count - 1 belongs to CPU r: all threads of all processes
 * that run on that CPU are one producer, because they write inside restartable
 * sequences (rseq(2)).  The last ring is shared by whoever cannot do that, or
 * runs on a CPU whose ring is not backed by memory; a lock makes them one
 * producer.  Everything below holds for both.
 *
 * THE RING
 *
 *   control word, one u64:
 *
 *     63            46 45               24 23                        0
 *    +----------------+-------------------+---------------------------+
 *    | generation, 18 | record count, 22  | position, 24 (8-byte units)|
 *    +----------------+-------------------+---------------------------+
 *
 *   Generation g lives in buffer g % buffer_count.  The buffers of one ring:
 *
 *     generation 6: sealed, drained      may be used again
 *     generation 7: sealed, being read   [records ............|unused]
 *     generation 8: active               [records ...>position        ]
 *
 *   Append: copy the record behind the position, then add its length and one
 *   record to the control word with one store.  Until that store the record
 *   does not exist: a writer that is preempted, migrated, interrupted or
 *   killed before it leaves nothing behind.
 *
 *   Switch, by the producer only, when the active buffer cannot take the
 *   record and the next buffer's previous generation has been drained: note
 *   the control word in the active buffer's `sealed`, fill in the next
 *   buffer's descriptor, store the new control word.
 *
 *   Full (discard mode), when the next buffer has not been drained: note
 *   `sealed`, then store the control word with position EVENTLOG_SEALED, which
 *   no record fits behind.  From now on records are counted in `lost` until a
 *   switch is possible, so a gap always lies between two buffers.
 *
 *   Loss is exact without a word from the reader: `records_before` and
 *   `lost_before` of a buffer count what was recorded and lost on this ring
 *   before its first record.  Their sum is that record's sequence number.
 *
 * INVARIANTS
 *
 *   1. Bytes of a buffer below the position of its generation never change
 *      until the buffer is used again; that needs `drained` > generation.
 *   2. generation(control) < drained + buffer_count.
 *   3. A descriptor is complete before the control word names its generation.
 *   4. recorded + lost = attempted, per ring, at every instant a reader can
 *      see: records_before + count(control), lost.
 *   5. Every record begins on an 8-byte boundary and lies in one buffer.
 *
 * ORDER
 *
 *   The control word is stored with release (plain on x86) after everything
 *   it makes visible, and loaded with acquire by the reader before any of it.
 *   `drained` is stored with release by the reader after its last read of a
 *   buffer, and loaded with acquire by the producer before it writes there.
 *   `state` of a provider entry is stored with release after the entry and
 *   its schema, before the first record that names it.  All other fields are
 *   written before the region can be found and do not change, or are counters
 *   of which only the value matters.
 *
 * TRUST
 *
 *   Reader and writer take nothing from each other unchecked.  A writer keeps
 *   its own copy of the geometry and only uses positions that it has compared
 *   with it; a reader checks every offset and length on its own copy.
 */
#ifndef _UAPI_LINUX_EVENTLOG_H
#define _UAPI_LINUX_EVENTLOG_H

#include <linux/types.h>

#define EVENTLOG_REGION_MAGIC 0x4e4f494745524c45ULL /* "ELREGION" */
#define EVENTLOG_REGION_VERSION 1

/*
 * The gate: one word per event. Bits 0-15: a subscription's slot. Attention:
 * subscriptions have come or gone, in which the provider said to be interested.
 */
#define EVENTLOG_SUBSCRIPTIONS_MAX 16
#define EVENTLOG_GATE_SUBSCRIPTIONS 0x0000ffffU
#define EVENTLOG_GATE_ATTENTION 0x00010000U
#define EVENTLOG_GATE_DEVICE_BIT 30
#define EVENTLOG_GATE_USER_EVENTS_BIT 31

#define EVENTLOG_EVENTS_MAX 1024
#define EVENTLOG_PROVIDERS_MAX 16384
#define EVENTLOG_RINGS_MAX 8193
#define EVENTLOG_BUFFERS_MAX 64
#define EVENTLOG_BUFFER_SIZE_MIN 0x00020000U /* 128 KiB: two of the largest records */
#define EVENTLOG_BUFFER_SIZE_MAX 0x04000000U /* 64 MiB */
#define EVENTLOG_SCHEMA_SIZE_MAX 0x00100000U /* 1 MiB */
#define EVENTLOG_FILTER_SIZE_MAX 2048
#define EVENTLOG_SESSIONS_MAX 32
#define EVENTLOG_NAME_SIZE 16 /* a process name, as the kernel keeps it */

/* The largest record, header included. */
#define EVENTLOG_RECORD_SIZE_MAX 0x00010000U

/* The control word. */
#define EVENTLOG_POSITION_BITS 24
#define EVENTLOG_COUNT_BITS 22
#define EVENTLOG_GENERATION_BITS 18
#define EVENTLOG_POSITION_MASK 0xffffffULL
#define EVENTLOG_COUNT_SHIFT 24
#define EVENTLOG_COUNT_MASK 0x3fffffULL
#define EVENTLOG_GENERATION_SHIFT 46
#define EVENTLOG_GENERATION_MASK 0x3ffffULL
#define EVENTLOG_UNIT 8
#define EVENTLOG_SEALED EVENTLOG_POSITION_MASK

enum eventlog_region_state {
	EVENTLOG_REGION_ENDED = 0, /* also what a released page reads as */
	EVENTLOG_REGION_LIVE = 0x4556494c, /* "LIVE" */
};

enum eventlog_clock {
	EVENTLOG_CLOCK_MONOTONIC = 1, /* CLOCK_MONOTONIC, nanoseconds */
	EVENTLOG_CLOCK_TSC = 2, /* x86 time stamp counter, ticks */
};

/*
 * A record, as it stands in a ring and in a file.
 *
 * `size` counts header and payload without padding; the next record begins at
 * the next multiple of EVENTLOG_UNIT.  The padding is zero.
 */
struct eventlog_record {
	__u32 size;
	__u16 provider; /* index into the region's provider table */
	__u16 event; /* position in the provider's schema */
	__u64 time; /* in units of the region's clock */
	__u32 thread; /* as the writer's pid namespace numbers it */
	__u16 cpu;
	__u16 flags; /* a reader counts, and does not decode, a record with an unknown flag */
};

#define EVENTLOG_RECORD_CUT 1U /* texts were too long and have been cut */
#define EVENTLOG_RECORD_FLAGS EVENTLOG_RECORD_CUT /* all there are */

/* The same instant on three clocks, from which a reader converts times. */
struct eventlog_clock_pair {
	__u64 clock; /* in units of the region's clock */
	__u64 monotonic; /* CLOCK_MONOTONIC, nanoseconds */
	__u64 realtime; /* CLOCK_REALTIME, nanoseconds */
};

/*
 * The header of a region.
 *
 * The consumer writes all of it before the file gets its name; after that a
 * field changes only where its comment names a writer.
 */
struct eventlog_region {
	__u64 magic;
	__u32 version;
	__u32 features; /* bits a writer must know; 0 so far */
	__u64 serial; /* random, neither 0 nor ~0: tells this region from others of its slot */

	__u32 clock; /* enum eventlog_clock */
	__u32 ring_count; /* possible CPUs + 1 */
	__u32 ring_stride;
	__u32 buffer_count; /* power of two, 2 to EVENTLOG_BUFFERS_MAX */
	__u32 buffer_size; /* power of two */
	__u32 filter_size;
	__u64 rings_offset;
	__u64 providers_offset;
	__u64 schemas_offset;
	__u64 schemas_size;
	__u64 buffers_offset;
	__u64 total_size;

	/* Who reads: enough to recognise that it is no longer there. */
	__u32 owner_pid;
	__u32 owner_uid;
	__u64 owner_start_time; /* field 22 of /proc/PID/stat */
	__u64 owner_pid_namespace; /* inode of /proc/PID/ns/pid */

	struct eventlog_clock_pair clock_start;

	/*
	 * Read by every emit.  Written by the consumer, or by whoever finds
	 * that the consumer is dead; LIVE to ENDED, never back.
	 */
	__u32 state __attribute__((aligned(64)));

	/*
	 * The reader sets `waiting` before it sleeps on `wake` (futex, shared).
	 * A producer that has switched buffers and sees `waiting` clears it,
	 * adds one to `wake` and wakes.  Both sides put a full fence between
	 * their own store and their load of the other's.
	 */
	__u32 waiting __attribute__((aligned(64)));
	__u32 wake;

	/* Added to by applications that attach (relaxed: they only hand out room). */
	__u32 provider_count __attribute__((aligned(64)));
	__u32 providers_refused; /* attaching failed: table or schema room used up */
	__u64 schemas_used;

	/*
	 * What the consumer asked for: rules
	 * PROVIDER:EVENT[@LEVEL][/KEYWORD,...][#], with * and ?, each ended by
	 * NUL; with # for events of these sessions alone.
	 */
	char filter[EVENTLOG_FILTER_SIZE_MAX] __attribute__((aligned(64)));
	__u64 sessions[EVENTLOG_SESSIONS_MAX];
	__u32 session_count;
	__u32 sessions_reserved[15];
};

/*
 * A buffer's descriptor.  Written by the ring's producer at a switch, before
 * the control word names the generation; `sealed` when the buffer is sealed.
 */
struct eventlog_buffer {
	__u64 generation; /* all 64 bits of it */
	__u64 records_before; /* recorded on this ring before this buffer */
	__u64 lost_before; /* lost on this ring before this buffer */
	__u64 sealed; /* the control word when the buffer was sealed */
};

/* The head of a ring; its buffer_count descriptors follow. */
struct eventlog_ring {
	/* Written by the producer. */
	__u64 control;
	__u64 lost; /* discard mode: records that found no room */

	/*
	 * The shared ring only: who writes, 0 for nobody: thread id in the low
	 * half, low bits of the pid namespace's inode in the high half.  Taken
	 * by compare-and-swap (acquire), given back by a store (release), taken
	 * over from a thread that has died.
	 */
	__u64 lock;
	__u32 backed; /* 0: memory only for the head; use the shared ring */
	__u32 reserved;

	/* Written by the reader: generations below this have been read. */
	__u64 drained __attribute__((aligned(64)));
	__u64 reader_reserved[7];
};

/* What the region keeps of a provider that has attached. */
struct eventlog_provider_entry {
	__u32 state; /* 0, then EVENTLOG_PROVIDER_READY (release) */
	__u32 pid;
	__u32 uid;
	__u32 schema_size;
	__u64 schema_offset; /* from the beginning of the region */
	__u64 schema_hash;
	__u64 start_time;
	char process[EVENTLOG_NAME_SIZE];
	/* Added to by the provider's process (relaxed). */
	__u64 lost_full; /* part of some ring's `lost` */
	__u64 lost_too_large; /* over EVENTLOG_RECORD_SIZE_MAX, in no ring's `lost` */
	__u64 lost_busy; /* shared ring held by another, in no ring's `lost` */
	__u64 cut; /* written, with EVENTLOG_RECORD_CUT */
	__u64 reserved[5];
};

#define EVENTLOG_PROVIDER_READY 1

/*
 * A provider, as published by its process: a file of its own in tmpfs.
 *
 *   0                                  struct eventlog_provider_file
 *   EVENTLOG_PROVIDER_GATE_OFFSET      the gate: EVENTLOG_EVENTS_MAX words
 *   EVENTLOG_PROVIDER_COUNTERS_OFFSET  struct eventlog_counters_page
 *   EVENTLOG_PROVIDER_SCHEMA_OFFSET    the schema, schema_size bytes
 *
 * The offsets suit every page size; the holes between cost nothing.  The
 * process maps gate and counters over its own gate pages.  A gate word is only
 * ever changed by atomic or / and: the kernel owns two of its bits.
 */
#define EVENTLOG_PROVIDER_MAGIC 0x5245444956525045ULL /* "EPRVIDER" */
#define EVENTLOG_PROVIDER_VERSION 2
#define EVENTLOG_PROVIDER_GATE_OFFSET 0x10000
#define EVENTLOG_GATE_SIZE 4096
#define EVENTLOG_PROVIDER_COUNTERS_OFFSET (EVENTLOG_PROVIDER_GATE_OFFSET + EVENTLOG_GATE_SIZE)
#define EVENTLOG_COUNTERS_SIZE 4096
#define EVENTLOG_PROVIDER_SCHEMA_OFFSET 0x20000

struct eventlog_provider_file {
	__u64 magic;
	__u32 version;
	__u32 event_count;
	__u32 schema_size;
	__u32 pid;
	__u32 uid;
	__u32 reserved;
	__u64 start_time;
	__u64 pid_namespace;
	__u64 schema_hash;
	char process[EVENTLOG_NAME_SIZE];
	/* Set by the process: EVENTLOG_GATE_ATTENTION is wanted. */
	__u32 attention;
	__u32 attention_reserved;
};

/*
 * What became of a provider's events on one way to its listeners, one count
 * for each listener.  Added to by the provider's process (relaxed).
 */
struct eventlog_route_counters {
	__u64 written; /* besides what written_by_cpu says */
	__u64 cut; /* of all written ones: with EVENTLOG_RECORD_CUT */
	__u64 lost_full; /* no room in the ring */
	__u64 lost_too_large; /* over EVENTLOG_RECORD_SIZE_MAX */
	__u64 lost_busy; /* the shared ring was held by another */
	__u64 lost_unattached; /* the subscription could not be joined (yet) */
	__u64 reserved[2];
};

#define EVENTLOG_COUNTERS_MEMORY 0 /* index of the route: subscriptions in shared memory */
#define EVENTLOG_ROUTES_MAX 4
#define EVENTLOG_CPU_COUNTERS_MAX 480

/*
 * The counters of a provider.
 *
 * Each CPU has a word of its own in written_by_cpu, which threads on that CPU
 * add to inside restartable sequences.  The process spreads the words as far
 * as its number of CPUs allows; readers add up all of them, and have what was
 * written to shared memory.  A process that is killed between an event's
 * commit and its counting leaves one too few.
 */
struct eventlog_counters_page {
	struct eventlog_route_counters routes[EVENTLOG_ROUTES_MAX];
	__u64 written_by_cpu[EVENTLOG_CPU_COUNTERS_MAX];
};

#ifdef __cplusplus
#define EVENTLOG_ABI(condition) static_assert(condition, "eventlog ABI: " #condition)
#else
#define EVENTLOG_ABI(condition) _Static_assert(condition, "eventlog ABI: " #condition)
#endif
#define EVENTLOG_ABI_AT(type, field, offset) \
	EVENTLOG_ABI(__builtin_offsetof(struct type, field) == (offset))

EVENTLOG_ABI(EVENTLOG_POSITION_BITS + EVENTLOG_COUNT_BITS + EVENTLOG_GENERATION_BITS == 64);
EVENTLOG_ABI(EVENTLOG_BUFFER_SIZE_MAX / EVENTLOG_UNIT < EVENTLOG_SEALED);
EVENTLOG_ABI(EVENTLOG_BUFFER_SIZE_MAX / sizeof(struct eventlog_record) <= EVENTLOG_COUNT_MASK);

EVENTLOG_ABI(sizeof(struct eventlog_record) == 24);
EVENTLOG_ABI_AT(eventlog_record, provider, 4);
EVENTLOG_ABI_AT(eventlog_record, event, 6);
EVENTLOG_ABI_AT(eventlog_record, time, 8);
EVENTLOG_ABI_AT(eventlog_record, thread, 16);
EVENTLOG_ABI_AT(eventlog_record, cpu, 20);
EVENTLOG_ABI_AT(eventlog_record, flags, 22);

EVENTLOG_ABI_AT(eventlog_region, serial, 16);
EVENTLOG_ABI_AT(eventlog_region, clock, 24);
EVENTLOG_ABI_AT(eventlog_region, filter_size, 44);
EVENTLOG_ABI_AT(eventlog_region, rings_offset, 48);
EVENTLOG_ABI_AT(eventlog_region, total_size, 88);
EVENTLOG_ABI_AT(eventlog_region, owner_pid, 96);
EVENTLOG_ABI_AT(eventlog_region, clock_start, 120);
EVENTLOG_ABI_AT(eventlog_region, state, 192);
EVENTLOG_ABI_AT(eventlog_region, waiting, 256);
EVENTLOG_ABI_AT(eventlog_region, wake, 260);
EVENTLOG_ABI_AT(eventlog_region, provider_count, 320);
EVENTLOG_ABI_AT(eventlog_region, schemas_used, 328);
EVENTLOG_ABI_AT(eventlog_region, filter, 384);
EVENTLOG_ABI_AT(eventlog_region, sessions, 384 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, session_count, 640 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI(sizeof(struct eventlog_region) == 704 + EVENTLOG_FILTER_SIZE_MAX);

EVENTLOG_ABI(sizeof(struct eventlog_buffer) == 32);
EVENTLOG_ABI_AT(eventlog_buffer, records_before, 8);
EVENTLOG_ABI_AT(eventlog_buffer, lost_before, 16);
EVENTLOG_ABI_AT(eventlog_buffer, sealed, 24);

EVENTLOG_ABI(sizeof(struct eventlog_ring) == 128);
EVENTLOG_ABI_AT(eventlog_ring, lost, 8);
EVENTLOG_ABI_AT(eventlog_ring, lock, 16);
EVENTLOG_ABI_AT(eventlog_ring, backed, 24);
EVENTLOG_ABI_AT(eventlog_ring, drained, 64);

EVENTLOG_ABI(sizeof(struct eventlog_provider_entry) == 128);
EVENTLOG_ABI_AT(eventlog_provider_entry, schema_offset, 16);
EVENTLOG_ABI_AT(eventlog_provider_entry, process, 40);
EVENTLOG_ABI_AT(eventlog_provider_entry, lost_full, 56);

EVENTLOG_ABI(sizeof(struct eventlog_provider_file) == 80);
EVENTLOG_ABI_AT(eventlog_provider_file, attention, 72);
EVENTLOG_ABI_AT(eventlog_provider_file, start_time, 32);
EVENTLOG_ABI_AT(eventlog_provider_file, process, 56);

EVENTLOG_ABI(sizeof(struct eventlog_route_counters) == 64);
EVENTLOG_ABI_AT(eventlog_route_counters, lost_unattached, 40);
EVENTLOG_ABI(sizeof(struct eventlog_counters_page) == EVENTLOG_COUNTERS_SIZE);
EVENTLOG_ABI_AT(eventlog_counters_page, written_by_cpu, 256);
EVENTLOG_ABI(EVENTLOG_EVENTS_MAX * sizeof(__u32) == EVENTLOG_GATE_SIZE);

#endif /* _UAPI_LINUX_EVENTLOG_H */
