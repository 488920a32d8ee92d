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

#include "ring.h"

static __always_inline bool eventlog_ring_fits(const struct eventlog_ring_writer *ring,
					       u64 reserved, u64 units)
{
	return eventlog_position_of(reserved) + units <= ring->units;
}

/*
 * Reserves `units` for `count` records behind `old`, which has room for them.
 * Sets the first record's address and stores its time. Returns false if another
 * writer interrupted.
 */
static __always_inline bool eventlog_ring_try_reserve(struct eventlog_ring_writer *ring, u64 old,
						      u64 units, u64 count,
						      struct eventlog_record **place)
{
	/*
	 * A writer that interrupts takes a later time, and room: then this fails and is
	 * done again.
	 */
	const u64 time = likely(ring->clock == EVENTLOG_CLOCK_MONOTONIC) ?
				 ktime_get_mono_fast_ns() : eventlog_ring_now(ring);
	const u64 new = old + units + (count << EVENTLOG_COUNT_SHIFT);
	/* The buffer of `old`: a switch changes `reserved`, too, so the swap fails. */
	u8 *const active = READ_ONCE(ring->active);

	if (unlikely(cmpxchg_local(&ring->reserved, old, new) != old))
		return false;
	*place = (void *)(active + eventlog_position_of(old) * EVENTLOG_RECORD_ALIGNMENT);
	(*place)->time = time;
	return true;
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

/*
 * Begins a record in the ring of this CPU. Sets the record's address, size and
 * time; the caller fills in the rest and the payload. Returns false if the loss
 * was counted. Has to be ended in any case.
 */
static __always_inline bool eventlog_ring_begin_record(struct eventlog_ring_writer *ring,
						       unsigned long size,
						       struct eventlog_record **place)
{
	const u64 units = DIV_ROUND_UP(sizeof(**place) + size, EVENTLOG_RECORD_ALIGNMENT);
	u64 old;

	ring->nest++; /* a context that interrupts restores the value */
	barrier();
	old = READ_ONCE(ring->reserved);
	if (unlikely(!eventlog_ring_fits(ring, old, units) ||
		     !eventlog_ring_try_reserve(ring, old, units, 1, place))) {
		*place = eventlog_ring_reserve_slow(ring, units);
		if (!*place)
			return false;
	}
	(*place)->size = sizeof(**place) + size;
	return true;
}

/* Room in the active buffer. A writer that interrupts may use it up. */
static inline u64 eventlog_ring_room(const struct eventlog_ring_writer *ring)
{
	const u64 position = eventlog_position_of(READ_ONCE(ring->reserved));

	return position < ring->units ? ring->units - position : 0;
}

/*
 * Begins `count` records at once, of `units` together, which all have the time
 * of the first. Returns false, without counting a loss, if there is no room for
 * all of them.
 */
static inline bool eventlog_ring_begin_run(struct eventlog_ring_writer *ring, u64 units, u64 count,
					   struct eventlog_record **place)
{
	u64 old;

	ring->nest++;
	barrier();
	old = READ_ONCE(ring->reserved);
	return eventlog_ring_fits(ring, old, units) &&
	       eventlog_ring_try_reserve(ring, old, units, count, place);
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
