/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Periods in which a CPU slept and what ended them, derived from the CPU's
 * tracepoints.
 *
 * A CPU that waits with interrupts enabled is interrupted in its sleep and
 * leaves the idle state afterwards. A CPU that waits with interrupts disabled
 * leaves first and is interrupted when it enables them. A CPU that was asked to
 * look for work is not interrupted at all. So a period is complete when both
 * its end and the interrupt are known, or when the CPU switches to a task.
 *
 *	enter -> interrupted -> exit
 *	enter -> exit -> interrupted
 *	enter -> exit -> switched, or enter again
 */
#ifndef EVENTLOG_IDLE_H
#define EVENTLOG_IDLE_H

#include <linux/types.h>

/* Source of an interrupt. */
enum eventlog_interrupt_source {
	EVENTLOG_INTERRUPT_NONE,
	/* numbered as in /proc/interrupts; the sources below by their vectors */
	EVENTLOG_INTERRUPT_DEVICE,
	EVENTLOG_INTERRUPT_TIMER,
	EVENTLOG_INTERRUPT_RESCHEDULE, /* another CPU has queued a task on this one */
	EVENTLOG_INTERRUPT_CALL, /* another CPU requested a function call */
	EVENTLOG_INTERRUPT_WORK, /* the CPU interrupted itself */
};

/* The payload of the event `idle`. */
struct idle_event {
	u64 slept; /* on CLOCK_MONOTONIC */
	u64 woke;
	u32 interrupt; /* number of the interrupt */
	u8 source; /* enum eventlog_interrupt_source */
	u8 state; /* depth, as cpuidle numbers it */
};

enum eventlog_idle_phase {
	EVENTLOG_IDLE_AWAKE,
	EVENTLOG_IDLE_ASLEEP,
	EVENTLOG_IDLE_WOKEN, /* the interrupt is recorded, the exit is not */
	EVENTLOG_IDLE_CAUSE_PENDING, /* awake, the interrupt is not known yet */
};

/* State of a CPU. Used by that CPU only, with interrupts disabled. Zero is awake. */
struct eventlog_idle {
	enum eventlog_idle_phase phase;
	struct idle_event period;
};

/* Each returns whether a period is complete, and copies it to `finished`. */
bool eventlog_idle_enter(struct eventlog_idle *idle, u64 now, u8 state,
			 struct idle_event *finished);
bool eventlog_idle_exit(struct eventlog_idle *idle, u64 now, struct idle_event *finished);
bool eventlog_idle_interrupted(struct eventlog_idle *idle, u64 now,
			       enum eventlog_interrupt_source source, u32 number,
			       struct idle_event *finished);
bool eventlog_idle_switched(struct eventlog_idle *idle, struct idle_event *finished);

#endif /* EVENTLOG_IDLE_H */
