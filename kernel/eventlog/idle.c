// SPDX-License-Identifier: GPL-2.0
/* Periods in which a CPU slept: see idle.h. */
#include "idle.h"

static bool end(struct eventlog_idle *idle, struct idle_event *over)
{
	idle->phase = EVENTLOG_IDLE_AWAKE;
	*over = idle->period;
	return true;
}

/* The CPU goes on to something else, and by what it has been woken nobody has said. */
bool eventlog_idle_switched(struct eventlog_idle *idle, struct idle_event *over)
{
	return idle->phase == EVENTLOG_IDLE_UNTOLD && end(idle, over);
}

bool eventlog_idle_enter(struct eventlog_idle *idle, u64 now, u8 state, struct idle_event *over)
{
	const bool is_over = eventlog_idle_switched(idle, over);

	idle->phase = EVENTLOG_IDLE_ASLEEP;
	idle->period = (struct idle_event){ .slept = now, .state = state };
	return is_over;
}

bool eventlog_idle_exit(struct eventlog_idle *idle, u64 now, struct idle_event *over)
{
	if (idle->phase == EVENTLOG_IDLE_WOKEN)
		return end(idle, over);
	if (idle->phase == EVENTLOG_IDLE_ASLEEP) {
		idle->period.woke = now;
		idle->phase = EVENTLOG_IDLE_UNTOLD;
	}
	return false;
}

/* The first one counts: it woke the CPU, and the others came to one that was awake. */
bool eventlog_idle_interrupted(struct eventlog_idle *idle, u64 now,
			       enum eventlog_interrupt_source source, u32 number,
			       struct idle_event *over)
{
	if (idle->phase != EVENTLOG_IDLE_ASLEEP && idle->phase != EVENTLOG_IDLE_UNTOLD)
		return false;
	idle->period.source = source;
	idle->period.interrupt = number;
	if (idle->phase == EVENTLOG_IDLE_UNTOLD)
		return end(idle, over);
	idle->period.woke = now;
	idle->phase = EVENTLOG_IDLE_WOKEN;
	return false;
}
