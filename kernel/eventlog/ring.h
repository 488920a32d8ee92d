/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing end of a CPU's ring, as described in uapi/linux/eventlog.h.
 *
 *   reserved  --- where the next record goes: moved by every writer, nested or not
 *   control   --- what readers see: moved by the outermost writer, when all is complete
 *
 *   [records ...............|being written by a task|by an interrupt|          ]
 *                           ^control                                ^reserved
 *
 * A context that interrupts a writer finishes before that writer continues, so
 * the writers of a CPU are a stack. Room is reserved by compare-and-swap
 * without a lock prefix, because only code on this CPU competes.
 */
#ifndef EVENTLOG_RING_H
#define EVENTLOG_RING_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/* State of the writer that makes room, for NMIs that interrupt it. */
enum eventlog_ring_phase {
	EVENTLOG_RING_IDLE,
	EVENTLOG_RING_SEALING,
	EVENTLOG_RING_SWITCHING, /* the next descriptor is complete but for `lost_before` */
};

/* One for each CPU. Written only by code that runs on the CPU, once the ring has begun. */
struct eventlog_ring_writer {
	u64 reserved; /* in the format of the control word */
	u32 nest; /* number of writers, each interrupting the one before */
	u32 units; /* size of a buffer; 0: no memory */
	u32 buffer_count;
	u32 buffer_size;
	bool overwrite;
	bool must_wake;
	u8 phase; /* enum eventlog_ring_phase */
	u8 clock; /* enum eventlog_clock */
	struct eventlog_ring *head; /* in the region */
	struct eventlog_buffer *descriptors; /* of its buffers, behind `head` */
	struct eventlog_buffer *next; /* valid while SWITCHING */
	u8 *buffers; /* NULL: no memory */
	u8 *active; /* buffer of the generation in `reserved`, unless that is sealed */
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
