/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The writing end of a CPU's ring, as uapi/linux/eventlog.h describes it.
 *
 *   reserved  --- where the next record goes: moved by whoever writes, nested or not
 *   control   --- what readers see: moved by the outermost, when all below is whole
 *
 *   [records ...............|being written by a task|by an interrupt|          ]
 *                           ^control                                ^reserved
 *
 * Whoever interrupts a writer is done before that one goes on, so that the writers
 * of a CPU are a stack.  Room is taken by compare-and-swap without a lock prefix:
 * only what runs on this CPU is in the way.
 */
#ifndef EVENTLOG_RING_H
#define EVENTLOG_RING_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/* What a writer is at that makes room, for NMIs that come in between. */
enum eventlog_ring_phase {
	EVENTLOG_RING_IDLE,
	EVENTLOG_RING_SEALING,
	EVENTLOG_RING_SWITCHING, /* the next descriptor has all but `lost_before` */
};

/* One for each CPU; written by what runs on it alone, once it has begun. */
struct eventlog_ring_writer {
	u64 reserved; /* as the control word */
	u32 nest; /* writers, one interrupting the other */
	u32 units; /* of a buffer; 0: it has no memory */
	u32 buffer_count;
	u32 buffer_size;
	bool overwrite;
	bool must_wake;
	u8 phase; /* enum eventlog_ring_phase */
	u8 clock; /* enum eventlog_clock */
	struct eventlog_ring *head; /* in the region */
	struct eventlog_buffer *descriptors; /* behind it */
	struct eventlog_buffer *next; /* while SWITCHING */
	u8 *buffers; /* NULL: it has no memory */
	u8 *active; /* the buffer that the generation in `reserved` says, unless that is sealed */
};

static inline u64 eventlog_position_of(u64 control)
{
	return control & EVENTLOG_POSITION_MASK;
}

static inline u64 eventlog_count_of(u64 control)
{
	return control >> EVENTLOG_COUNT_SHIFT & EVENTLOG_COUNT_MASK;
}

static inline u64 eventlog_generation_of(u64 control)
{
	return control >> EVENTLOG_GENERATION_SHIFT;
}

struct eventlog_record;

u64 eventlog_clock_now(u8 clock);
bool eventlog_clock_is_known(u32 clock);
void eventlog_ring_begin(struct eventlog_ring_writer *ring);
void eventlog_ring_count_loss(struct eventlog_ring_writer *ring);
struct eventlog_record *eventlog_ring_reserve_slow(struct eventlog_ring_writer *ring, u64 units);
u64 eventlog_ring_now(const struct eventlog_ring_writer *ring);

#endif /* EVENTLOG_RING_H */
