/* SPDX-License-Identifier: GPL-2.0 */
/* Probes that attach to tracepoints of the kernel by name. */
#ifndef EVENTLOG_HOOKS_H
#define EVENTLOG_HOOKS_H

#include <linux/types.h>

struct tracepoint;

struct eventlog_hook {
	const char *tracepoint;
	void *probe; /* of the tracepoint's type; its first argument is `data` */
	void *data;
	bool is_optional; /* missing on some machines, which is no error */
	struct tracepoint *attached; /* NULL: not attached */
};

int eventlog_hooks_attach(struct eventlog_hook *hooks, unsigned int count);
void eventlog_hooks_detach(struct eventlog_hook *hooks, unsigned int count);

#endif /* EVENTLOG_HOOKS_H */
