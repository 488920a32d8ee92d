// SPDX-License-Identifier: GPL-2.0
/* State machine of a CPU's idle periods: see idle.h. Has no side effects. */
#include "idle.h"

static bool end(struct eventlog_idle *idle, struct idle_event *finished)
{
	idle->phase = EVENTLOG_IDLE_AWAKE;
	*finished = idle->period;
	return true;
}

/* The CPU switches to a task. The period is complete without a known interrupt. */
bool eventlog_idle_switched(struct eventlog_idle *idle, struct idle_event *finished)
{
	return idle->phase == EVENTLOG_IDLE_CAUSE_PENDING && end(idle, finished);
}

bool eventlog_idle_enter(struct eventlog_idle *idle, u64 now, u8 state, struct idle_event *finished)
{
	const bool is_over = eventlog_idle_switched(idle, finished);

	idle->phase = EVENTLOG_IDLE_ASLEEP;
	idle->period = (struct idle_event){ .slept = now, .state = state };
	return is_over;
}

bool eventlog_idle_exit(struct eventlog_idle *idle, u64 now, struct idle_event *finished)
{
	if (idle->phase == EVENTLOG_IDLE_WOKEN)
		return end(idle, finished);
	if (idle->phase == EVENTLOG_IDLE_ASLEEP) {
		idle->period.woke = now;
		idle->phase = EVENTLOG_IDLE_CAUSE_PENDING;
	}
	return false;
}

/* The first interrupt counts: it woke the CPU. Later ones found it awake. */
bool eventlog_idle_interrupted(struct eventlog_idle *idle, u64 now,
			       enum eventlog_interrupt_source source, u32 number,
			       struct idle_event *finished)
{
	if (idle->phase != EVENTLOG_IDLE_ASLEEP && idle->phase != EVENTLOG_IDLE_CAUSE_PENDING)
		return false;
	idle->period.source = source;
	idle->period.interrupt = number;
	if (idle->phase == EVENTLOG_IDLE_CAUSE_PENDING)
		return end(idle, finished);
	idle->period.woke = now;
	idle->phase = EVENTLOG_IDLE_WOKEN;
	return false;
}
