/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * eventlog: the region, the ring in it and the record in that.
 *
 * A subscription is one region of memory.  In user space it is a file in
 * tmpfs, created by the consumer and written by every application that has a
 * provider the consumer asked for.  The kernel side uses the same layout.
 *
 * It has one of two modes, for good.  Discard: what has not been read stays, and
 * what finds no room is lost.  Overwrite (EVENTLOG_FEATURE_OVERWRITE), the flight
 * recorder: what is new takes the place of the oldest, read or not.
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
 * All numbers are in the machine's byte order, each at a multiple of its size,
 * without padding that is not named.  There is one layout for given counts and
 * sizes, and whoever opens a region refuses any other (64K: 65536):
 *
 *   ring_stride       128 + 32 * buffer_count, rounded up to 64
 *   rings_offset      size of struct eventlog_region, rounded up to 64
 *   providers_offset  rings_offset + ring_count * ring_stride, rounded up to 64
 *   schemas_offset    providers_offset + 128 * EVENTLOG_PROVIDERS_MAX, up to 64K
 *   buffers_offset    schemas_offset + schemas_size, which is a multiple of 64K
 *   total_size        buffers_offset + ring_count * buffer_count * buffer_size
 *   ring r            at rings_offset + r * ring_stride
 *   its buffer b      at buffers_offset + (r * buffer_count + b) * buffer_size
 *
 * The file is subscriptions/NN; the number NN is the subscription's slot.  It
 * may be larger than total_size, not smaller.  What has never been written is
 * zero.  In a new region each ring has control 0, lost 0, drained 0; buffer 0's
 * descriptor is all zero, those of the others have generation ~0.  A ring that
 * is not backed has control EVENTLOG_SEALED for ever: nothing fits into it.  The
 * shared ring may be born with that word, too: see LATE.
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
 *   Generation g lives in buffer g % buffer_count, from byte 0 of it.  The
 *   position is where in that buffer the next record goes, and the record count
 *   how many stand before it.  The word keeps the low 18 bits of the generation;
 *   the descriptor has all of it.  The buffers of one ring:
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
 *   record and, in discard mode, the next buffer's previous generation has been
 *   drained (generation + 1 < drained + buffer_count): note the control word in
 *   the active buffer's `sealed`, unless it is sealed already; fill in the next
 *   buffer's descriptor, its generation first; store the new control word, with
 *   the next generation, count 0, position 0.  Until that last store any of it
 *   may be done over, by another producer, with other values.
 *
 *   Overwrite mode is this and nothing else: a switch does not wait.  So no ring
 *   is ever full, `lost` stays 0 and nobody seals (but see LATE), and the mode is
 *   looked at only where a record has found no room.  The buffers of one ring, 4
 *   of them:
 *
 *     generation 5: gone; 9 will stand in its place, 9's descriptor perhaps does
 *     generation 6: sealed, the oldest   [records ............|unused]
 *     generation 7: sealed               [records ..............|unus]
 *     generation 8: active               [records ...>position        ]
 *
 *   In front of generation 9's first record the producer takes 5's buffer, and
 *   from the store of that descriptor's generation on nobody can read 5 any more.
 *
 *   Full (discard mode), when the next buffer has not been drained: note
 *   `sealed`, then store the control word with position EVENTLOG_SEALED, which
 *   no record fits behind; generation and count stay.  From now on records are
 *   counted in `lost` until a switch is possible, so a gap always lies between
 *   two buffers.  A loss is counted only while the control word still is the
 *   one for which there was no room.
 *
 *   Loss is exact without a word from the reader: `records_before` and
 *   `lost_before` of a buffer count what was recorded and lost on this ring
 *   before its first record.  Their sum is that record's sequence number.  What
 *   has been overwritten was recorded: a reader that has been handed, or told of,
 *   fewer records than `records_before` has missed the others, exactly.
 *
 * LATE
 *
 *   Whoever makes a region reserves all that is written to, so that a page that
 *   tmpfs cannot supply kills no writer.  With EVENTLOG_FEATURE_LAZY_SHARED_RING
 *   all but the buffers of the shared ring: where threads have restartable
 *   sequences nobody ever writes there.  It is backed, and born sealed and empty:
 *   control EVENTLOG_SEALED, all else as in any new ring.  For readers there is
 *   nothing to know.  They must not touch, through a mapping, what no control word
 *   says is there: that would take the memory.
 *
 *   Its producer, who holds the lock, gives each buffer its memory before it goes
 *   on there for the first time, with means that fail instead of killing
 *   (MADV_POPULATE_WRITE): that is before generations 0 to buffer_count - 1.  It
 *   begins by that for buffer 0, then notes `lost` in descriptor 0's `lost_before`,
 *   then stores control 0.  Who is killed in between has changed nothing that
 *   anybody looks at, and the next does it over.  Where there is no memory, the
 *   producer gives back what the buffer got, so that a full tmpfs has it again: the
 *   buffer has never been used, no control word has named it.  Then the ring is
 *   full, in overwrite mode, too: the producer seals the active buffer, unless it is
 *   sealed, and counts in `lost`.  The same process asks again after 10 ms at the
 *   earliest; what finds no room until then is lost without asking.
 *
 *   Who knows at the beginning that it will write there may reserve all buffers,
 *   through the file.  Whoever holds the lock may be giving one back, so they are
 *   known to have their memory only when it has been reserved, again, under the
 *   lock; then `reserved_buffers` is set to their number.  Those below it need not be
 *   given anything, and nobody gives them back.
 *
 * READING
 *
 *   A reader has a place in each ring: a generation g, all 64 bits of it, an
 *   offset and a number of records in its buffer; and of the ring's losses, how
 *   many it has told.  All begin with 0.  To read a ring:
 *
 *   1. Load `control`, once (acquire).  This is all that can be read now.
 *   2. If it names g and its position is not EVENTLOG_SEALED, position and count
 *      are taken from it; else from `sealed` of g's descriptor, which then is
 *      complete.
 *   3. Copy the bytes from the offset up to the position, then walk over the
 *      copy.  What is no record there (`size` below 24, over the largest, or
 *      behind the position) makes the rest of this buffer unreadable: count the
 *      records that are missing as damaged.
 *   4. The first record after a switch is preceded by a gap of `lost_before` of
 *      its descriptor, less what has been told.  Its sequence number is
 *      records_before + lost_before + its number in the buffer.
 *   5. If control names g, stop: an active buffer is never given back, sealed or
 *      not, and need not be, as another is free by then.  Else store g + 1 to
 *      `drained` (release), take g + 1 and offset 0, and go to 2, at most
 *      buffer_count times.
 *
 *   At the end, `lost` less what has been told is the gap that no record
 *   follows.  While the producer writes, that is so only if afterwards (acquire
 *   fence) `control` still is what it was in 1., and the descriptor of g + 1 does
 *   not have that generation yet: else a record stands in front of some of them.
 *
 *   Reading without being waited for.  So read all readers of a region in
 *   overwrite mode, however many there are, and in either mode those that do not
 *   own it.  They store nothing, `drained` neither, and in the list above:
 *
 *   1. The descriptor of the buffer that `control` names has all 64 bits of the
 *      generation.  If they do not go with the word's 18, the producer has been
 *      faster: again.  Let it be G.  If g + buffer_count <= G, g is gone: take
 *      g = G + 1 - buffer_count and offset 0.
 *   3. Copy first: the descriptor's fields, then the bytes.  Then, behind a fence
 *      (acquire), look at the descriptor's generation and at `control` again.
 *      Believe the copy only if the generation still is g and generation(control)
 *      < g + buffer_count, in 18 bits.  Else throw it away, and the rest of g: it
 *      is being overwritten.
 *   4. The gap is `records_before` and `lost_before` of its descriptor, each less
 *      what has been handed over and told.  What it has of records has been
 *      overwritten.
 *   5. Go on with g + 1 up to G, whatever became of g.  Whoever reads only once and
 *      has been told of fewer records than `control` counted in 1. was overtaken:
 *      go to 1, some times; then those are overwritten.
 *
 *   So what has been handed over, has been told as overwritten or lost, and has
 *   not been read yet (up to `control` and `lost`) is what was attempted, always.
 *   It is known per ring.  Of which providers the records were that have been
 *   overwritten nobody knows: they are gone, and to count each of them as it is
 *   written would make all events pay for it.
 *
 *   A record may name a provider only once its entry is ready; so look at the
 *   entries after loading a control word, not before.  `provider_count` may
 *   exceed EVENTLOG_PROVIDERS_MAX; an entry below it may not be ready yet, or
 *   never, if its process has died over it.
 *
 *   In a ring of a CPU, times do not decrease if the clock is the processor's
 *   counter.  With another clock, a record may be late by as long as its writer
 *   was held up.  A record with EVENTLOG_RECORD_CUSTOM_TIME may have any time, and
 *   says nothing about those before and behind it: its place in the ring is when
 *   it was written.  Readers must not wait for that time, nor search by order.
 *
 * END
 *
 *   The consumer sets `state` to ENDED.  In the gates that have its bit it sets
 *   EVENTLOG_GATE_NOTIFICATION, so that their processes unmap the region, and clears
 *   the bit then.  It reads once more.  Writers look at `state` before each
 *   record.  One on each ring may have looked just before, so that a record, or a
 *   loss, can still be added after the last reading: it is neither read nor lost
 *   but unread, and `control` and `lost` still tell.
 *
 * STANDING
 *
 *   A subscription ends with its owner: whoever finds that the process has died
 *   removes it.  One with EVENTLOG_FEATURE_DETACHED does not.  It has a `name`,
 *   unique in its directory, takes events until somebody ends it by that name,
 *   and keeps its memory also when nobody reads, the applications have ended, or
 *   have crashed: what they had committed is still there.  Nobody drains it, so
 *   in discard mode it keeps the oldest events, and in overwrite mode the newest.
 *   The owner_ fields tell who began it, which may have ended long ago.
 *
 *   The bit is the last thing that is set, when all gates are open, and of a
 *   subscription that goes the first that is cleared, so that one whose owner has
 *   died over its beginning or its removal is removed like all others: it has a
 *   name, but not the bit.  One that stands may have ended, by `state`: then it
 *   keeps what it has until somebody has taken that.  Who clears the bit writes
 *   itself into the owner_ fields before.  All of that is done under the lock of
 *   the directory.  Who finds the owner dead looks at the bit afterwards: the
 *   owner may have set it a moment ago, and ended then.
 *
 * ASKING FOR A SNAPSHOT
 *
 *   An application may ask for a snapshot of a subscription that stands and
 *   overwrites, and say why.  Nobody has to be there: what was asked for is counted,
 *   and stays to be seen until somebody has answered.  To ask:
 *
 *   1. Add one to `snapshot_tickets`.  The sum is this request's ticket.
 *   2. Put the reason into the words of `snapshot_reason`, its first bytes into the
 *      first word, 0 behind its end:
 *
 *     63                48 47                                        0
 *    +--------------------+-------------------------------------------+
 *    | ticket, low 16 bits| six bytes of the reason, the first lowest |
 *    +--------------------+-------------------------------------------+
 *
 *      each by compare-and-swap, and only over a word whose ticket is older (ours
 *      less that one is 1 to 32767, in 16 bits).  Before each swap, behind the
 *      acquire load of the word, load `snapshot_tickets` again: if it is more than
 *      32767 ahead of ours, we have been held up for so long that 16 bits cannot
 *      tell who is older, and store no more.  So the newest reason stays, in
 *      whatever order its words and those of others are stored.
 *   3. Add one to `snapshots_requested`, and wake all who sleep there.
 *
 *   Who dies before 3 has not asked; who dies between adding and waking has: never
 *   sleep without a timer.  A reason whose words do not have the same ticket is none:
 *   several are asking just now, or one has died over it.  The next request mends
 *   that, and the count does not depend on it.  To answer:
 *
 *   1. Load `snapshots_requested`.  2. Take the snapshot: it is for all requests up to
 *   there, as it has all that was recorded before they were made.  3. When it is
 *   safe, store the number that was loaded in `snapshots_completed`, unless that is
 *   as far already (its distance to `snapshots_requested` says so, in 32 bits).  Who
 *   dies before 3 leaves the requests to the next.
 *
 *   What has been asked for and not answered is the difference of the two.  Anyone
 *   who may write to the region may write anything into these words: at worst a
 *   snapshot is taken that nobody wanted, or not taken.
 *
 * INVARIANTS
 *
 *   1. Bytes of a buffer below the position of its generation never change
 *      until the buffer is used again.  In discard mode that needs `drained` >
 *      generation.  In overwrite mode the buffer's descriptor has a later
 *      generation before the first of them changes.
 *   2. generation(control) < drained + buffer_count, in discard mode.
 *   3. A descriptor is complete before the control word names its generation,
 *      and does not change while it does, but for `sealed`, and for `lost_before`
 *      of a shared ring that has not begun (LATE).
 *   4. recorded + lost = attempted, per ring, at every instant a reader can
 *      see: records_before + count(control), lost.
 *   5. Every record begins on an 8-byte boundary and lies in one buffer.
 *   6. A control word never has the same value twice, but for its generation's
 *      18 bits: so what was decided for one value is done only if it is still
 *      there.
 *
 * ORDER, and what for
 *
 *   control    stored with release (plain on x86, stlr on aarch64), so that
 *              whoever sees it sees the record's bytes, the descriptor and
 *              `sealed`; loaded with acquire by the reader, before any of these.
 *   drained    stored with release by the reader, so that its reading of the
 *              buffer is over when a producer sees it; loaded with acquire by
 *              the producer, before it writes there.  Not in overwrite mode.
 *   generation of a descriptor: stored before all else of it, and a release fence
 *              behind it (nothing on x86, dmb ish on aarch64): whoever has read
 *              anything newer, in the descriptor or in the buffer, finds the newer
 *              generation when it looks again, behind an acquire fence.
 *   gate       a bit is set with release, when its subscription can be found and
 *              the one that had the slot before has ended; the word is loaded
 *              with acquire, before `state`: a bit that is the successor's is not
 *              taken for that of a subscription that still seems to live.
 *   lock       taken with acquire, given back with release: the next holder sees
 *              what the one before stored.  After taking it, a full fence, then
 *              `state` once more: whoever gives the buffers' memory back sets
 *              `state`, then after a full fence looks whether the lock is free.
 *   waiting    full fences on both sides, so that a reader that goes to sleep
 *              and a producer that has switched cannot both miss the other.
 *   snapshots_requested  added to with release, behind the reason and all that its
 *              thread has recorded; loaded with acquire before a snapshot, which so
 *              has these, and before the reason, which so is that one or a newer.
 *              The futex needs no more: who sleeps there names the value it has seen.
 *   snapshot_reason  loaded with acquire, swapped with release: so the count of
 *              tickets, loaded behind a word, is at least that word's own.
 *   snapshots_completed  compared and swapped with release, behind the snapshot.
 *   state      of a provider entry: release, after the entry and its schema and
 *              before the first record that names it; loaded with acquire.
 *
 *   All other fields are written before the region can be found and do not
 *   change, or are counters of which only the value matters: `lost`, too, which
 *   is loaded behind `control`.  Among producers of one CPU program order is
 *   enough, whatever the processor: it sees its own accesses in that order, and
 *   there is a full barrier where one thread follows another on it.
 *
 * VERSIONS
 *
 *   A field that is reserved is written as 0 and not looked at.  It may get a
 *   meaning that old readers and old writers can do without, where 0 means the
 *   same as before: that changes neither version nor features.  What one of them
 *   must know gets a bit in `features`: whoever opens a region with a bit that
 *   it does not know, to read or to write, leaves it alone and says so.  Another
 *   layout gets another version, and the same holds.  Records have flags of their
 *   own: one with a flag that a reader does not know is counted, not taken apart.
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

/* Bits of eventlog_region.features. */
#define EVENTLOG_FEATURE_OVERWRITE 1U /* producers switch without waiting for the reader */
#define EVENTLOG_FEATURE_DETACHED 2U /* outlives its owner; see `name` */
#define EVENTLOG_FEATURE_LAZY_SHARED_RING 4U /* writers give the shared ring its memory */
#define EVENTLOG_FEATURES /* all */ \
	(EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED | EVENTLOG_FEATURE_LAZY_SHARED_RING)
#define EVENTLOG_FEATURES_FIRST /* what every library knows */ \
	(EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED)
#define EVENTLOG_SUBSCRIPTION_NAME_SIZE 32

/*
 * The gate: one word per event. Bits 0-15: a subscription's slot. Attention:
 * subscriptions have come or gone, in which the provider said to be interested,
 * or one has ended whose region it may have mapped.
 */
#define EVENTLOG_SUBSCRIPTIONS_MAX 16
#define EVENTLOG_GATE_SUBSCRIPTIONS 0x0000ffffU
#define EVENTLOG_GATE_NOTIFICATION 0x00010000U
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
#define EVENTLOG_PROCESS_NAME_SIZE 16 /* a process name, as the kernel keeps it */

/* Why a snapshot is asked for: six bytes in a word, behind a ticket. */
#define EVENTLOG_SNAPSHOT_REASON_WORDS 6
#define EVENTLOG_SNAPSHOT_REASON_SIZE 36
#define EVENTLOG_SNAPSHOT_TICKET_SHIFT 48

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
#define EVENTLOG_RECORD_ALIGNMENT 8
#define EVENTLOG_SEALED EVENTLOG_POSITION_MASK

enum eventlog_region_state {
	EVENTLOG_REGION_ENDED = 0, /* also what a released page reads as */
	EVENTLOG_REGION_LIVE = 0x4556494c, /* "LIVE" */
};

enum eventlog_clock {
	EVENTLOG_CLOCK_MONOTONIC = 1, /* CLOCK_MONOTONIC, nanoseconds */
	/* The processor's counter, ticks: x86 time stamp counter, aarch64 CNTVCT_EL0. */
	EVENTLOG_CLOCK_TSC = 2,
};

/*
 * A record, as it stands in a ring and in a file.
 *
 * `size` counts header and payload without padding; the next record begins at
 * the next multiple of EVENTLOG_RECORD_ALIGNMENT.  The padding is zero.
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
/*
 * `time` is not when it was written, but earlier or later, in the same unit: by a clock of the
 * program's own, or of an event that the program collected and wrote later.
 */
#define EVENTLOG_RECORD_CUSTOM_TIME 2U
#define EVENTLOG_RECORD_FLAGS \
	(EVENTLOG_RECORD_CUT | EVENTLOG_RECORD_CUSTOM_TIME) /* all there are */

/* The same instant on three clocks, from which a reader converts times. */
struct eventlog_clock_sample {
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
	__u32 features; /* EVENTLOG_FEATURE_...; all must be known to readers and writers */
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

	/*
	 * Who reads: enough to recognise that it is no longer there.  Of a
	 * standing subscription: who began it; of one that goes: who removes it.
	 */
	__u32 owner_pid;
	__u32 owner_uid;
	__u64 owner_start_time; /* field 22 of /proc/PID/stat */
	__u64 owner_pid_namespace; /* inode of /proc/PID/ns/pid */

	struct eventlog_clock_sample clock_start;

	/*
	 * Of a standing subscription, or one that is to be or has been: 1 to 31
	 * letters, digits, '-', '_' and '.', not '.' or '-' first; the rest is 0.
	 * Of all others it is 0.
	 */
	char name[EVENTLOG_SUBSCRIPTION_NAME_SIZE];
	__u64 reserved[2];

	/*
	 * Read by every emit.  Written by the consumer, or by whoever finds
	 * that the consumer is dead, or ends a standing subscription; LIVE to
	 * ENDED, never back.
	 */
	__u32 state __attribute__((aligned(64)));

	/*
	 * The reader sets `waiting` before it sleeps on `wake` (futex, shared).
	 * A producer that has switched buffers and sees `waiting` clears it,
	 * adds one to `wake` and wakes.  Both sides put a full fence between
	 * their own store and their load of the other's.  A producer may be
	 * killed between clearing `waiting` and waking: never sleep without
	 * a timer.  A ring that is sealed because it is full counts as switched.
	 */
	__u32 waiting __attribute__((aligned(64)));
	__u32 wake;

	/*
	 * Added to by applications that attach (relaxed: they only hand out
	 * room), before they know whether there was room left: may be too large.
	 */
	__u32 provider_count __attribute__((aligned(64)));
	__u32 providers_refused; /* attaching failed: table or schema room used up */
	__u64 schemas_used;

	/*
	 * What the consumer asked for: rules
	 * PROVIDER:EVENT[@LEVEL][/KEYWORD,...][#], with * and ?, each ended by
	 * NUL; with # for events of these sessions alone.  Among them =PID and
	 * ~NAME: if there is one of these, only such processes are wanted.
	 */
	char filter[EVENTLOG_FILTER_SIZE_MAX] __attribute__((aligned(64)));
	__u64 sessions[EVENTLOG_SESSIONS_MAX];
	__u32 session_count;

	/*
	 * Asking for a snapshot of a subscription that stands and overwrites.  Of all
	 * others, and where nobody knows how to ask, all of it stays 0.
	 */
	__u32 snapshot_tickets; /* added to by applications (relaxed) */
	__u32 snapshots_requested; /* added to by applications (release); futex, shared */
	__u32 snapshots_completed; /* of these; moved on by those who answer (release) */
	/* The last reason.  Swapped in by applications (release): each word tells whose it is. */
	__u64 snapshot_reason[EVENTLOG_SNAPSHOT_REASON_WORDS];
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
	__u64 lost; /* records that found no room; in overwrite mode 0, or see LATE */

	/*
	 * The shared ring only: who writes, 0 for nobody: thread id in the low half, a
	 * robust futex while it is held, low bits of the pid namespace's inode in the
	 * high half.  Taken by compare-and-swap (acquire), given back by a store (release),
	 * taken over from a thread that has died; FUTEX_OWNER_DIED in it says so.
	 */
	__u64 lock;
	__u32 backed; /* 0: memory only for the head; use the shared ring */
	/* The shared ring only, see LATE: set by who has the lock, only ever to buffer_count. */
	__u32 reserved_buffers;

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
	char process[EVENTLOG_PROCESS_NAME_SIZE];
	/* Added to by the provider's process (relaxed). */
	__u64 lost_full; /* part of some ring's `lost` */
	__u64 lost_too_large; /* over EVENTLOG_RECORD_SIZE_MAX, in no ring's `lost` */
	__u64 lost_busy; /* shared ring held by another, in no ring's `lost` */
	__u64 cut; /* written, with EVENTLOG_RECORD_CUT */
	__u64 lost_no_memory; /* part of `lost_full`: the shared ring got no memory */
	__u64 reserved[4];
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
	/*
	 * The EVENTLOG_FEATURE_... of regions that the process can join, for whoever tells of
	 * it; 0, as older libraries leave it: EVENTLOG_FEATURES_FIRST.
	 */
	__u32 region_features;
	__u64 start_time;
	__u64 pid_namespace;
	__u64 schema_hash;
	char process[EVENTLOG_PROCESS_NAME_SIZE];
	/* Set by the process: EVENTLOG_GATE_NOTIFICATION is wanted of all who come or go. */
	__u32 wants_notifications;
	__u32 notification_reserved;
};

/*
 * What became of a provider's events on one way to its listeners, one count
 * for each listener.  Added to by the provider's process (relaxed).
 */
struct eventlog_route_counters {
	__u64 written; /* besides what written_by_cpu says */
	__u64 cut; /* of all written ones: with EVENTLOG_RECORD_CUT */
	__u64 lost_full; /* no room in the ring, or no memory for it */
	__u64 lost_too_large; /* over EVENTLOG_RECORD_SIZE_MAX; for user_events: over 4048 */
	__u64 lost_busy; /* the shared ring was held by another */
	__u64 lost_unattached; /* the subscription, or tracefs, could not be joined (yet) */
	__u64 lost_refused; /* the kernel did not take it */
	__u64 reserved;
};

#define EVENTLOG_COUNTERS_MEMORY 0 /* index of the route: subscriptions in shared memory */
#define EVENTLOG_COUNTERS_USER_EVENTS 1 /* the kernel's user_events */
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
EVENTLOG_ABI(EVENTLOG_BUFFER_SIZE_MAX / EVENTLOG_RECORD_ALIGNMENT < EVENTLOG_SEALED);
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
EVENTLOG_ABI_AT(eventlog_region, name, 144);
EVENTLOG_ABI_AT(eventlog_region, reserved, 176);
EVENTLOG_ABI_AT(eventlog_region, state, 192);
EVENTLOG_ABI_AT(eventlog_region, waiting, 256);
EVENTLOG_ABI_AT(eventlog_region, wake, 260);
EVENTLOG_ABI_AT(eventlog_region, provider_count, 320);
EVENTLOG_ABI_AT(eventlog_region, schemas_used, 328);
EVENTLOG_ABI_AT(eventlog_region, filter, 384);
EVENTLOG_ABI_AT(eventlog_region, sessions, 384 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, session_count, 640 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshot_tickets, 644 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshots_requested, 648 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshots_completed, 652 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshot_reason, 656 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI(EVENTLOG_SNAPSHOT_REASON_SIZE * 8 ==
	     EVENTLOG_SNAPSHOT_REASON_WORDS * EVENTLOG_SNAPSHOT_TICKET_SHIFT);
EVENTLOG_ABI(sizeof(struct eventlog_region) == 704 + EVENTLOG_FILTER_SIZE_MAX);

EVENTLOG_ABI(sizeof(struct eventlog_buffer) == 32);
EVENTLOG_ABI_AT(eventlog_buffer, records_before, 8);
EVENTLOG_ABI_AT(eventlog_buffer, lost_before, 16);
EVENTLOG_ABI_AT(eventlog_buffer, sealed, 24);

EVENTLOG_ABI(sizeof(struct eventlog_ring) == 128);
EVENTLOG_ABI_AT(eventlog_ring, lost, 8);
EVENTLOG_ABI_AT(eventlog_ring, lock, 16);
EVENTLOG_ABI_AT(eventlog_ring, backed, 24);
EVENTLOG_ABI_AT(eventlog_ring, reserved_buffers, 28);
EVENTLOG_ABI_AT(eventlog_ring, drained, 64);

EVENTLOG_ABI(sizeof(struct eventlog_provider_entry) == 128);
EVENTLOG_ABI_AT(eventlog_provider_entry, schema_offset, 16);
EVENTLOG_ABI_AT(eventlog_provider_entry, process, 40);
EVENTLOG_ABI_AT(eventlog_provider_entry, lost_full, 56);
EVENTLOG_ABI_AT(eventlog_provider_entry, lost_no_memory, 88);

EVENTLOG_ABI(sizeof(struct eventlog_provider_file) == 80);
EVENTLOG_ABI_AT(eventlog_provider_file, wants_notifications, 72);
EVENTLOG_ABI_AT(eventlog_provider_file, region_features, 28);
EVENTLOG_ABI_AT(eventlog_provider_file, start_time, 32);
EVENTLOG_ABI_AT(eventlog_provider_file, process, 56);

EVENTLOG_ABI(sizeof(struct eventlog_route_counters) == 64);
EVENTLOG_ABI_AT(eventlog_route_counters, lost_unattached, 40);
EVENTLOG_ABI_AT(eventlog_route_counters, lost_refused, 48);
EVENTLOG_ABI(sizeof(struct eventlog_counters_page) == EVENTLOG_COUNTERS_SIZE);
EVENTLOG_ABI_AT(eventlog_counters_page, written_by_cpu, 256);
EVENTLOG_ABI(EVENTLOG_EVENTS_MAX * sizeof(__u32) == EVENTLOG_GATE_SIZE);

#endif /* _UAPI_LINUX_EVENTLOG_H */
