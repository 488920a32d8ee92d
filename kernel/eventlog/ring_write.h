/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast path of writing a record to a CPU's ring: see ring.h. Inlined, because a
 * call would cost half as much again.
 *
 * The caller has disabled preemption from eventlog_ring_begin_record() to
 * eventlog_ring_end_record().
 */
#ifndef EVENTLOG_RING_WRITE_H
#define EVENTLOG_RING_WRITE_H

#include <linux/atomic.h>
#include <linux/ktime.h>
#include <linux/string.h>

#include "record.h"
#include "ring.h"

static __always_inline bool eventlog_ring_fits(const struct eventlog_ring_writer *ring,
					       u64 reserved, u64 units)
{
	return eventlog_position_of(reserved) + units <= ring->units;
}

/*
 * Reserves room for `count` records of one thread: `units`, and one more if
 * `has_short` and they need a context. Returns the first one's address, and sets
 * the time of all and `begins`: whether the first one that is not EXTENDED has to
 * be a CONTEXT record. Returns NULL if there is no room for all of them, and sets
 * `needed`; or, with `needed` 0, if another writer interrupted.
 *
 * See CONTEXT in ring.h.
 */
static __always_inline u64 *eventlog_ring_try_reserve(struct eventlog_ring_writer *ring, u64 units,
						      u64 count, u32 thread, bool has_short,
						      u64 *time, bool *begins, u64 *needed)
{
	const u64 old = READ_ONCE(ring->reserved);
	u64 context, all;
	u8 *active;

	/*
	 * A writer that interrupts takes a later time, and room: then this fails and is
	 * done again.
	 */
	*time = likely(ring->clock == EVENTLOG_CLOCK_MONOTONIC) ? ktime_get_mono_fast_ns() :
								  eventlog_ring_now(ring);
	context = eventlog_record_context(thread, *time);
	/* After `reserved`: the swap below proves that this has not changed meanwhile. */
	*begins = has_short && READ_ONCE(ring->context) != context;
	all = units + *begins;
	*needed = all;
	if (unlikely(!eventlog_ring_fits(ring, old, all)))
		return NULL;
	*needed = 0;
	/* The buffer of `old`: a switch changes `reserved`, too, so the swap fails. */
	active = READ_ONCE(ring->active);
	if (*begins)
		WRITE_ONCE(ring->context, EVENTLOG_CONTEXT_MARK(old));
	if (unlikely(cmpxchg_local(&ring->reserved, old,
				   old + all + (count << EVENTLOG_COUNT_SHIFT)) != old))
		return NULL;
	if (*begins)
		/* Not over the context of a writer that has interrupted since, or of a switch. */
		cmpxchg_local(&ring->context, EVENTLOG_CONTEXT_MARK(old),
			      context ?: EVENTLOG_CONTEXT_UNKNOWN);
	return (u64 *)(active + eventlog_position_of(old) * EVENTLOG_RECORD_ALIGNMENT);
}

/* Copies with padding. */
static __always_inline void eventlog_copy_payload(u8 *to, const u8 *from,
						  unsigned long size)
{
	unsigned long i = 0;

	/* Most payloads are small: a call takes longer than this. */
	if (unlikely(size >= 64)) {
		i = size & ~(EVENTLOG_RECORD_ALIGNMENT - 1UL);
		memcpy(to, from, i);
	} else if (size >= 32) {
		i = 32;
		memcpy(to, from, i);
	}
	for (; i + EVENTLOG_RECORD_ALIGNMENT <= size; i += EVENTLOG_RECORD_ALIGNMENT)
		memcpy(to + i, from + i, EVENTLOG_RECORD_ALIGNMENT);
	if (unlikely(i < size)) {
		memset(to + i, 0, EVENTLOG_RECORD_ALIGNMENT);
		memcpy(to + i, from + i, size - i);
	}
}

/*
 * The outermost writer publishes what it and all writers that interrupted it
 * have written. A writer that interrupts this is either seen by the last
 * comparison, or is itself the outermost.
 */
static __always_inline void eventlog_ring_commit(struct eventlog_ring_writer *ring)
{
	u64 reserved;

	for (;;) {
		reserved = READ_ONCE(ring->reserved);
		/* With it, records, descriptors and `sealed`. Pairs with the reader's acquire. */
		smp_store_release(&ring->head->control, reserved);
		barrier();
		WRITE_ONCE(ring->nest, 0);
		barrier();
		if (likely(reserved == ring->reserved))
			return;
		WRITE_ONCE(ring->nest, 1);
		barrier();
	}
}

/* Units of a record whose header has `words` words. */
static __always_inline u64 eventlog_ring_units(unsigned int words, unsigned long size)
{
	return words + DIV_ROUND_UP(size, EVENTLOG_RECORD_ALIGNMENT);
}

/*
 * Begins a SHORT or CONTEXT record in the ring of this CPU and stores its header.
 * Returns where the payload goes, or NULL if the loss was counted. Has to be ended
 * in any case.
 */
static __always_inline u8 *eventlog_ring_begin_short(struct eventlog_ring_writer *ring, u32 event,
						     u32 thread, unsigned long size)
{
	u64 time, needed;
	bool begins;
	u64 *to;

	ring->nest++; /* a context that interrupts restores the value */
	barrier();
	to = eventlog_ring_try_reserve(ring, eventlog_ring_units(1, size), 1, thread, true, &time,
				       &begins, &needed);
	if (unlikely(!to))
		return eventlog_ring_begin_slow(ring, event, thread, size);
	return eventlog_record_put_short(to, event, size, time, thread, begins);
}

/* Room in the active buffer. A writer that interrupts may use it up. */
static inline u64 eventlog_ring_room(const struct eventlog_ring_writer *ring)
{
	const u64 position = eventlog_position_of(READ_ONCE(ring->reserved));

	return position < ring->units ? ring->units - position : 0;
}

/*
 * Begins `count` records of a thread at once, of `units` together without word 1
 * of those that are short, which all have the time of the first. The thread is not
 * 0: with context 0, each short record would need its own word 1. As
 * eventlog_ring_try_reserve(); a loss is not counted.
 */
static inline u64 *eventlog_ring_begin_run(struct eventlog_ring_writer *ring, u64 units, u64 count,
					   u32 thread, bool has_short, u64 *time, bool *begins)
{
	u64 needed;

	ring->nest++;
	barrier();
	return eventlog_ring_try_reserve(ring, units, count, thread, has_short, time, begins,
					 &needed);
}

/* Returns whether readers that wait for a switch have to be woken. */
static __always_inline bool eventlog_ring_end_record(struct eventlog_ring_writer *ring)
{
	barrier();
	if (unlikely(ring->nest != 1)) {
		barrier();
		ring->nest--;
		barrier();
		return false;
	}
	eventlog_ring_commit(ring);
	/* After the commit: a reader woken earlier would find nothing and wait again. */
	barrier();
	if (likely(!ring->must_wake))
		return false;
	WRITE_ONCE(ring->must_wake, false);
	return true;
}

#endif /* EVENTLOG_RING_WRITE_H */
