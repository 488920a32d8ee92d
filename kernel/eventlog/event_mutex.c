// SPDX-License-Identifier: GPL-2.0
/*
 * Calls functions with event_mutex of tracing held, as adding and removing
 * trace events requires.
 */
#include <linux/trace_events.h>

#include "eventlog.h"

/* Calls run(data) with event_mutex held. Returns 0. May sleep. */
int eventlog_with_event_mutex(void (*run)(void *data), void *data)
{
	lockdep_assert_held(&eventlog_registry_lock);
	mutex_lock(&event_mutex);
	run(data);
	mutex_unlock(&event_mutex);
	return 0;
}
