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
 *
 * CONTEXT
 *
 * `context` says what a SHORT record may leave out. Invariant: a writer that
 * loads `reserved`, then finds `context` to be C, then swaps the `reserved` that
 * it has loaded, appends behind a CONTEXT record whose word 1 is C, which is the
 * last one reserved in the buffer. Such a writer may append a SHORT record.
 *
 * A writer with another context, or none, takes these steps:
 *
 *   1. load `reserved`: R;
 *   2. store the mark of R in `context`, which is no context;
 *   3. swap `reserved` from R; if it has changed, begin again;
 *   4. swap `context` from the mark of R to C, if it still is that mark.
 *
 * A switch stores EVENTLOG_CONTEXT_UNKNOWN while the ring is sealed. Nothing else
 * changes `context`.
 *
 * Why that is enough, wherever the writer is interrupted, how deep ever:
 *
 * - All is on one CPU, so there is one order of all steps. Preemption is disabled:
 *   the writer that was interrupted continues after the last step of those that
 *   interrupted it. Program order is enough; compilers keep it by READ_ONCE(),
 *   WRITE_ONCE() and the swaps.
 * - `reserved` has no value twice while a writer is interrupted: each change adds,
 *   seals, or takes the next generation, and may_switch() permits fewer switches
 *   than there are buffers while `control` stands still. So a swap from R finds
 *   whether anything was reserved, sealed or switched since R was loaded; and no
 *   two writers whose swaps from R succeed have the same mark.
 * - Let X be the writer whose step 4 has stored C, as the last change of `context`
 *   before a writer W finds it. Suppose that another record Y with a context was
 *   reserved behind X's before W swaps, or the ring was switched. W's swap succeeds,
 *   so Y reserved before W loaded `reserved`, and X's step 4 comes last of all.
 *   Hence Y has interrupted X between its steps 3 and 4, and has stored its own
 *   mark, or the switch has stored EVENTLOG_CONTEXT_UNKNOWN. The mark of R can be
 *   there again only if a writer that has loaded R does its step 2 then: it would
 *   have been interrupted by X and continue before X is done, or it would have
 *   interrupted X and loaded R behind X's swap. Both cannot be. So X's step 4 stores
 *   nothing, which contradicts that it has stored C.
 * - A writer that is interrupted between steps 1 and 2 may store a mark over a
 *   context that is right. That costs the next record 8 bytes.
 * - The mark has to name R. With one mark for all, X's step 4 could succeed behind a
 *   switch by a writer whose own record has no context, or found no room: then a
 *   SHORT record would be the first in its buffer.
 * - Context 0, of idle threads soon after boot, is "none" for readers. It is not
 *   stored: records with it are CONTEXT records.
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

/*
 * No context: the number of a thread has 22 bits, so bit 63 of a context is 0.
 * The mark of a value of `reserved` loses one bit of the generation. Writers that
 * interrupt one another are not that many generations apart.
 */
#define EVENTLOG_CONTEXT_UNKNOWN ~0ULL
#define EVENTLOG_CONTEXT_MARK(reserved) ((reserved) | 1ULL << 63)

/* One for each CPU. Written only by code that runs on the CPU, once the ring has begun. */
struct eventlog_ring_writer {
	u64 reserved; /* in the format of the control word */
	u64 context; /* word 1 of the last CONTEXT record, a mark or UNKNOWN: see above */
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

u64 eventlog_clock_now(u8 clock);
bool eventlog_clock_is_known(u32 clock);
void eventlog_ring_begin(struct eventlog_ring_writer *ring);
void eventlog_ring_count_loss(struct eventlog_ring_writer *ring);
u8 *eventlog_ring_begin_slow(struct eventlog_ring_writer *ring, u32 event, u32 thread,
			     unsigned long size);
u8 *eventlog_ring_begin_extended(struct eventlog_ring_writer *ring, u32 event, u32 thread, u32 cpu,
				 unsigned long size, u64 custom);
u64 eventlog_ring_now(const struct eventlog_ring_writer *ring);

#endif /* EVENTLOG_RING_H */
