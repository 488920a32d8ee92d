/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of the kernel, to which the built-in provider is attached while somebody listens. */
#ifndef EVENTLOG_HOOKS_H
#define EVENTLOG_HOOKS_H

#include <linux/types.h>

struct tracepoint;

struct eventlog_hook {
	const char *tracepoint;
	void *probe; /* of the tracepoint's type, behind `data` */
	void *data;
	bool is_optional; /* some machines do not have it */
	struct tracepoint *attached; /* to this; NULL: it is not */
};

int eventlog_hooks_attach(struct eventlog_hook *hooks, unsigned int count);
void eventlog_hooks_detach(struct eventlog_hook *hooks, unsigned int count);

#endif /* EVENTLOG_HOOKS_H */
