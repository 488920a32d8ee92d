/* SPDX-License-Identifier: GPL-2.0 */
/*
 * When a CPU slept, and what woke it: put together from what its tracepoints tell.
 *
 * A CPU that waits with interrupts on is interrupted in its sleep, and leaves it
 * afterwards; one that waits with them off leaves it first, and is interrupted when it
 * lets them on.  Or nobody interrupts it: it has been told to look for work.  So a period
 * is over when both the end and the interrupt are known, or the CPU goes on to do
 * something else.
 *
 *	enter -> interrupted -> exit
 *	enter -> exit -> interrupted
 *	enter -> exit -> switched, or enter again
 */
#ifndef EVENTLOG_IDLE_H
#define EVENTLOG_IDLE_H

#include <linux/types.h>

/* Who interrupts. */
enum eventlog_interrupt_source {
	EVENTLOG_INTERRUPT_NONE,
	EVENTLOG_INTERRUPT_DEVICE, /* numbered as in /proc/interrupts; others by their vectors */
	EVENTLOG_INTERRUPT_TIMER,
	EVENTLOG_INTERRUPT_RESCHEDULE, /* another CPU has given this one something to run */
	EVENTLOG_INTERRUPT_CALL, /* another CPU has this one call something */
	EVENTLOG_INTERRUPT_WORK, /* the CPU has interrupted itself */
};

/* The payload of the event `idle`. */
struct idle_event {
	u64 slept; /* since then, by CLOCK_MONOTONIC */
	u64 woke;
	u32 interrupt; /* its number */
	u8 source; /* enum eventlog_interrupt_source */
	u8 state; /* how deep, as cpuidle numbers it */
};

enum eventlog_idle_phase {
	EVENTLOG_IDLE_AWAKE,
	EVENTLOG_IDLE_ASLEEP,
	EVENTLOG_IDLE_WOKEN, /* by what has been noted */
	EVENTLOG_IDLE_CAUSE_PENDING, /* awake, and nobody has said by what */
};

/* Of a CPU; used by it alone, with interrupts off.  Zero is awake. */
struct eventlog_idle {
	enum eventlog_idle_phase phase;
	struct idle_event period;
};

/* Each answers whether a period is over; it is copied out then. */
bool eventlog_idle_enter(struct eventlog_idle *idle, u64 now, u8 state,
			 struct idle_event *finished);
bool eventlog_idle_exit(struct eventlog_idle *idle, u64 now, struct idle_event *finished);
bool eventlog_idle_interrupted(struct eventlog_idle *idle, u64 now,
			       enum eventlog_interrupt_source source, u32 number,
			       struct idle_event *finished);
bool eventlog_idle_switched(struct eventlog_idle *idle, struct idle_event *finished);

#endif /* EVENTLOG_IDLE_H */
