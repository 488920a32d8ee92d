// SPDX-License-Identifier: GPL-2.0
/* Making room in the ring of a CPU: see ring.h, ring_write.h and uapi/linux/eventlog.h. */
#include <linux/irqflags.h>
#include <asm/local64.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

#include "ring_write.h"

/* For a clock that eventlog_clock_is_known() has let pass.  Any context. */
u64 eventlog_clock_now(u8 clock)
{
#ifdef CONFIG_X86
	if (clock == EVENTLOG_CLOCK_TSC)
		return rdtsc_ordered();
#endif
	return ktime_get_mono_fast_ns();
}

/* By the ring's clock. */
u64 eventlog_ring_now(const struct eventlog_ring_writer *ring)
{
	return eventlog_clock_now(ring->clock);
}

/* Whether time can be told by it on all CPUs alike. */
bool eventlog_clock_is_known(u32 clock)
{
#ifdef CONFIG_X86
	if (clock == EVENTLOG_CLOCK_TSC)
		return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		       boot_cpu_has(X86_FEATURE_NONSTOP_TSC) && !check_tsc_unstable();
#endif
	return clock == EVENTLOG_CLOCK_MONOTONIC;
}

/* An NMI may count between any two instructions: so in one. */
static void count_loss(struct eventlog_ring_writer *ring)
{
	local64_inc((local64_t *)&ring->head->lost);
}

static struct eventlog_buffer *active_descriptor(const struct eventlog_ring_writer *ring)
{
	const u64 generation = eventlog_generation_of(ring->reserved);

	return &ring->descriptors[generation & (ring->buffer_count - 1)];
}

/*
 * Whether the buffer behind the active one may be used again.  In overwrite mode it
 * may not while it, or anything behind it, is what the outermost writer still
 * writes: `control` is not beyond that.
 */
static bool may_switch(const struct eventlog_ring_writer *ring)
{
	const u64 next = active_descriptor(ring)->generation + 1;
	u64 ahead;

	if (!ring->buffers)
		return false;
	if (!ring->overwrite) /* Behind this acquire, the reader is done with that buffer. */
		return next < smp_load_acquire(&ring->head->drained) + ring->buffer_count;
	ahead = next - eventlog_generation_of(ring->head->control);
	return (ahead & EVENTLOG_GENERATION_MASK) < ring->buffer_count;
}

/* After this nothing fits until a switch.  By who makes room; an NMI may still append before it. */
static void seal(struct eventlog_ring_writer *ring)
{
	u64 full;

	do {
		full = READ_ONCE(ring->reserved);
		if (eventlog_position_of(full) == EVENTLOG_SEALED)
			return;
	} while (cmpxchg_local(&ring->reserved, full, full | EVENTLOG_SEALED) != full);
	active_descriptor(ring)->sealed = full;
	ring->must_wake = true;
}

/* Puts all losses so far in front of a buffer, those of who comes in between, too. */
static void update_losses(struct eventlog_ring_writer *ring, struct eventlog_buffer *buffer)
{
	u64 lost;

	do {
		barrier();
		lost = READ_ONCE(ring->head->lost);
		WRITE_ONCE(buffer->lost_before, lost);
		barrier();
	} while (lost != READ_ONCE(ring->head->lost));
}

/* The ring is sealed: only who switches changes `reserved`, and NMIs count what they lose. */
static void switch_buffer(struct eventlog_ring_writer *ring)
{
	const struct eventlog_buffer *active = active_descriptor(ring);
	const u64 generation = active->generation + 1;
	const u64 sealed = ring->reserved;
	struct eventlog_buffer *next = &ring->descriptors[generation & (ring->buffer_count - 1)];

	WRITE_ONCE(next->generation, generation);
	/* Whoever reads what is newer in this buffer finds the newer generation. */
	smp_wmb();
	next->records_before = active->records_before + eventlog_count_of(active->sealed);
	next->sealed = 0;
	ring->must_wake = true;
	ring->next = next;
	barrier();
	WRITE_ONCE(ring->phase, EVENTLOG_RING_SWITCHING);
	/* What an NMI loses from here on, it puts in front of this buffer itself. */
	update_losses(ring, next);
	/* Nobody writes to where it points as long as the ring is sealed. */
	WRITE_ONCE(ring->active, ring->buffers +
		   (generation & (ring->buffer_count - 1)) * ring->buffer_size);
	/*
	 * What an NMI finds no room for in the new buffer, it counts behind that.  In
	 * between it may switch itself; then that is done.
	 */
	WRITE_ONCE(ring->phase, EVENTLOG_RING_IDLE);
	barrier();
	cmpxchg_local(&ring->reserved, sealed,
		      (generation & EVENTLOG_GENERATION_MASK) << EVENTLOG_GENERATION_SHIFT);
}

/*
 * An NMI in the midst of another one's switch has no place to write to.  Nothing
 * more goes into this buffer, so that its loss lies behind it.
 */
static void count_nested_loss(struct eventlog_ring_writer *ring)
{
	seal(ring);
	count_loss(ring);
	if (ring->phase == EVENTLOG_RING_SWITCHING)
		update_losses(ring, ring->next);
}

/* Returns whether it is worth trying again; if not, the loss has been counted. */
static bool make_room(struct eventlog_ring_writer *ring, u64 units)
{
	unsigned long flags;
	bool made;

	local_irq_save(flags);
	if (READ_ONCE(ring->phase) != EVENTLOG_RING_IDLE) {
		count_nested_loss(ring);
		local_irq_restore(flags);
		return false;
	}
	WRITE_ONCE(ring->phase, EVENTLOG_RING_SEALING);
	barrier();
	/* Whoever came in between may have switched. */
	made = eventlog_ring_fits(ring, READ_ONCE(ring->reserved), units);
	if (!made) {
		seal(ring);
		made = may_switch(ring);
		if (made)
			switch_buffer(ring);
		else
			count_loss(ring);
	}
	barrier();
	WRITE_ONCE(ring->phase, EVENTLOG_RING_IDLE);
	local_irq_restore(flags);
	return made;
}

/* The same as eventlog_ring_try_reserve(), where there may be no room, or may have been somebody. */
noinline struct eventlog_record *eventlog_ring_reserve_slow(struct eventlog_ring_writer *ring,
							    u64 units)
{
	struct eventlog_record *to;
	u64 old;

	do {
		old = READ_ONCE(ring->reserved);
		while (!eventlog_ring_fits(ring, old, units)) {
			if (!make_room(ring, units))
				return NULL;
			old = READ_ONCE(ring->reserved);
		}
	} while (!eventlog_ring_try_reserve(ring, old, units, 1, &to));
	return to;
}

/* Counts what was not to be written here, and is not to be written there.  Any context. */
void eventlog_ring_count_loss(struct eventlog_ring_writer *ring)
{
	count_loss(ring);
}

/*
 * Memory has been given to a ring that nobody writes to: its CPU does not live yet,
 * or nobody knows the ring.  What has been lost till now stands before its first record.
 */
void eventlog_ring_begin(struct eventlog_ring_writer *ring)
{
	ring->units = ring->buffer_size / EVENTLOG_RECORD_ALIGNMENT;
	ring->descriptors[0].lost_before = ring->head->lost;
	ring->active = ring->buffers;
	ring->reserved = 0;
	/* With it, `lost_before`, and that there is memory. */
	smp_store_release(&ring->head->control, 0);
}
