// SPDX-License-Identifier: GPL-2.0
/*
 * Slow path of writing to a CPU's ring: switching and sealing buffers, and
 * counting losses. See ring.h, ring_write.h and uapi/linux/eventlog.h.
 *
 * Runs on the ring's CPU with preemption disabled, in any context. Interrupts
 * are disabled while room is made; NMIs may interrupt at any instruction.
 */
#include <linux/irqflags.h>
#include <asm/local64.h>
#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

#include "ring_write.h"

/* For clocks that eventlog_clock_is_known() accepts. Any context. */
u64 eventlog_clock_now(u8 clock)
{
#ifdef CONFIG_X86
	if (clock == EVENTLOG_CLOCK_TSC)
		return rdtsc_ordered();
#endif
	return ktime_get_mono_fast_ns();
}

/* Current time of the ring's clock. */
u64 eventlog_ring_now(const struct eventlog_ring_writer *ring)
{
	return eventlog_clock_now(ring->clock);
}

/* Returns whether the clock shows the same time on all CPUs. */
bool eventlog_clock_is_known(u32 clock)
{
#ifdef CONFIG_X86
	if (clock == EVENTLOG_CLOCK_TSC)
		return boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		       boot_cpu_has(X86_FEATURE_NONSTOP_TSC) && !check_tsc_unstable();
#endif
	return clock == EVENTLOG_CLOCK_MONOTONIC;
}

/* Any context. An NMI may count between any two instructions: this has to be one instruction. */
void eventlog_ring_count_loss(struct eventlog_ring_writer *ring)
{
	local64_inc((local64_t *)&ring->head->lost);
}

static struct eventlog_buffer *active_descriptor(const struct eventlog_ring_writer *ring)
{
	const u64 generation = eventlog_generation_of(ring->reserved);

	return &ring->descriptors[generation & (ring->buffer_count - 1)];
}

/*
 * Returns whether the buffer behind the active one may be used again. In
 * overwrite mode it must not be used while the outermost writer still writes to
 * it or to a buffer behind it: `control` is not beyond that.
 */
static bool may_switch(const struct eventlog_ring_writer *ring)
{
	const u64 next = active_descriptor(ring)->generation + 1;
	u64 ahead;

	if (!ring->buffers)
		return false;
	if (!ring->overwrite)
		/* Pairs with the releases of `drained`: the reader is done with the buffer. */
		return next < smp_load_acquire(&ring->head->drained) + ring->buffer_count;
	ahead = next - eventlog_generation_of(ring->head->control);
	return (ahead & EVENTLOG_GENERATION_MASK) < ring->buffer_count;
}

/*
 * Nothing fits until a switch. Called by the writer that makes room; an NMI may
 * still append before the swap.
 */
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

/* Moves all losses so far in front of a buffer, with those of NMIs that interrupt this. */
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

/* The ring is sealed: only the writer that switches changes `reserved`, and NMIs count losses. */
static void switch_buffer(struct eventlog_ring_writer *ring)
{
	const struct eventlog_buffer *active = active_descriptor(ring);
	const u64 generation = active->generation + 1;
	const u64 sealed = ring->reserved;
	struct eventlog_buffer *next = &ring->descriptors[generation & (ring->buffer_count - 1)];

	WRITE_ONCE(next->generation, generation);
	/*
	 * Pairs with the reader's acquire fence: a reader that has seen newer bytes of this
	 * buffer finds the newer generation.
	 */
	smp_wmb();
	next->records_before = active->records_before + eventlog_count_of(active->sealed);
	next->sealed = 0;
	ring->must_wake = true;
	ring->next = next;
	barrier();
	WRITE_ONCE(ring->phase, EVENTLOG_RING_SWITCHING);
	/* From here on an NMI adds its losses to this descriptor itself. */
	update_losses(ring, next);
	/*
	 * A buffer can be read alone. No writer changes this while the ring is sealed; one
	 * that has reserved before, and was interrupted, finds its mark gone.
	 */
	WRITE_ONCE(ring->context, EVENTLOG_CONTEXT_UNKNOWN);
	/* While the ring is sealed no writer uses `active`. */
	WRITE_ONCE(ring->active, ring->buffers +
		   (generation & (ring->buffer_count - 1)) * ring->buffer_size);
	/*
	 * An NMI that finds no room in the new buffer counts its loss behind it. It may
	 * also switch itself before the swap below, which then fails.
	 */
	WRITE_ONCE(ring->phase, EVENTLOG_RING_IDLE);
	barrier();
	cmpxchg_local(&ring->reserved, sealed,
		      (generation & EVENTLOG_GENERATION_MASK) << EVENTLOG_GENERATION_SHIFT);
}

/*
 * An NMI that interrupts a switch cannot write. It seals the buffer, so that
 * its loss lies behind it.
 */
static void count_nested_loss(struct eventlog_ring_writer *ring)
{
	seal(ring);
	eventlog_ring_count_loss(ring);
	if (ring->phase == EVENTLOG_RING_SWITCHING)
		update_losses(ring, ring->next);
}

/* Returns whether the caller should try again. If not, the loss has been counted. */
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
	/* A context that interrupted before may have switched. */
	made = eventlog_ring_fits(ring, READ_ONCE(ring->reserved), units);
	if (!made) {
		seal(ring);
		made = may_switch(ring);
		if (made)
			switch_buffer(ring);
		else
			eventlog_ring_count_loss(ring);
	}
	barrier();
	WRITE_ONCE(ring->phase, EVENTLOG_RING_IDLE);
	local_irq_restore(flags);
	return made;
}

/* Returns NULL if the loss was counted. */
static u64 *reserve(struct eventlog_ring_writer *ring, u64 units, u32 thread, bool is_short,
		    u64 *time, bool *begins)
{
	u64 needed;
	u64 *to;

	/* It needs room for its context or not: a switch, or another writer, may change that. */
	do
		to = eventlog_ring_try_reserve(ring, units, 1, thread, is_short, time, begins,
					       &needed);
	while (!to && (!needed || make_room(ring, needed)));
	return to;
}

/* Slow path of eventlog_ring_begin_short(): no room, or another writer interrupted. */
noinline u8 *eventlog_ring_begin_slow(struct eventlog_ring_writer *ring, u32 event, u32 thread,
				      unsigned long size)
{
	bool begins;
	u64 time;
	u64 *to = reserve(ring, eventlog_ring_units(1, size), thread, true, &time, &begins);

	return to ? eventlog_record_put_short(to, event, size, time, thread, begins) : NULL;
}

/*
 * As eventlog_ring_begin_short(), for a record with a large payload, or with a
 * custom time that is not 0.
 */
noinline u8 *eventlog_ring_begin_extended(struct eventlog_ring_writer *ring, u32 event, u32 thread,
					  u32 cpu, unsigned long size, u64 custom)
{
	bool begins;
	u64 time;
	u64 *to;

	ring->nest++;
	barrier();
	to = reserve(ring, eventlog_ring_units(3, size), thread, false, &time, &begins);
	if (!to)
		return NULL;
	return eventlog_record_put_extended(to, event, size, custom ?: time, thread, cpu,
					    custom ? EVENTLOG_RECORD_CUSTOM_TIME : 0);
}

/*
 * Begins a ring whose memory was just allocated. It has no writer and no reader
 * yet. Losses so far precede its first record.
 */
void eventlog_ring_begin(struct eventlog_ring_writer *ring)
{
	ring->units = ring->buffer_size / EVENTLOG_RECORD_ALIGNMENT;
	ring->descriptors[0].lost_before = ring->head->lost;
	ring->active = ring->buffers;
	ring->context = EVENTLOG_CONTEXT_UNKNOWN;
	ring->reserved = 0;
	/* With it, `lost_before` and the memory. Pairs with the reader's acquire. */
	smp_store_release(&ring->head->control, 0);
}
