/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writing a record to the ring of a CPU, see ring.h: in the place of a call, which
 * would cost as much as half of it.
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
 * Takes room for so many records, so large together, that follows `old`, in which there
 * is so much.  Sets where they go, and the first one's time there; returns false if
 * somebody came in between.
 */
static __always_inline bool eventlog_ring_try_reserve(struct eventlog_ring_writer *ring, u64 old,
						      u64 units, u64 count,
						      struct eventlog_record **place)
{
	/* Who comes in between takes a later one, and room: then this is done over. */
	const u64 time = likely(ring->clock == EVENTLOG_CLOCK_MONOTONIC) ?
				 ktime_get_mono_fast_ns() : eventlog_ring_now(ring);
	const u64 new = old + units + (count << EVENTLOG_COUNT_SHIFT);
	/* That of `old`: whoever switches changes `reserved`, too. */
	u8 *const active = READ_ONCE(ring->active);

	if (unlikely(cmpxchg_local(&ring->reserved, old, new) != old))
		return false;
	*place = (void *)(active + eventlog_position_of(old) * EVENTLOG_RECORD_ALIGNMENT);
	(*place)->time = time;
	return true;
}

/* With the padding behind it. */
static __always_inline void eventlog_copy_payload(u8 *to, const u8 *from,
						  unsigned long size)
{
	unsigned long i = 0;

	/* Most are small: a call takes longer than that. */
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
 * The outermost writer makes visible what it and all that interrupted it have
 * written.  Whoever interrupts it here is either seen at the end, or is itself the
 * outermost.
 */
static __always_inline void eventlog_ring_commit(struct eventlog_ring_writer *ring)
{
	u64 reserved;

	for (;;) {
		reserved = READ_ONCE(ring->reserved);
		/* With it, records, descriptors and `sealed`. */
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
 * Begins a record in the ring of this CPU, with preemption off until it has been
 * ended.  Sets where it goes: size and time are filled in, the rest and the payload
 * follow.  Returns false if its loss has been counted.  It is to be ended in any case.
 */
static __always_inline bool eventlog_ring_begin_record(struct eventlog_ring_writer *ring,
						       unsigned long size,
						       struct eventlog_record **place)
{
	const u64 units = DIV_ROUND_UP(sizeof(**place) + size, EVENTLOG_RECORD_ALIGNMENT);
	u64 old;

	ring->nest++; /* whoever interrupts leaves it as it was */
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

/* How much room the buffer that is written to has; less if somebody comes in between. */
static inline u64 eventlog_ring_room(const struct eventlog_ring_writer *ring)
{
	const u64 position = eventlog_position_of(READ_ONCE(ring->reserved));

	return position < ring->units ? ring->units - position : 0;
}

/*
 * The same for `count` records at once, of so many units together, which all have the
 * time of the first.  Returns false if that cannot be had at once, without a loss.
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

/* Returns whether readers that wait for a switch are to be told. */
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
	/* Who is told before there is something to be seen would wait on. */
	barrier();
	if (likely(!ring->must_wake))
		return false;
	WRITE_ONCE(ring->must_wake, false);
	return true;
}

#endif /* EVENTLOG_RING_WRITE_H */
