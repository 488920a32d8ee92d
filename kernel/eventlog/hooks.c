// SPDX-License-Identifier: GPL-2.0
/*
 * Attaches probes to tracepoints by name. Few tracepoints are exported, so a
 * module has to search for the rest.
 *
 * The caller serializes attaching and detaching.
 */
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "hooks.h"

static unsigned int attached_count;
module_param_named(kernel_hooks, attached_count, uint, 0444);
MODULE_PARM_DESC(kernel_hooks, "Tracepoints that the provider `kernel` is attached to");

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void match_tracepoint(struct tracepoint *tracepoint, void *data)
{
	struct tracepoint_search *tracepoint_search = data;

	if (!strcmp(tracepoint->name, tracepoint_search->name))
		tracepoint_search->found = tracepoint;
}

static int attach(struct eventlog_hook *hook)
{
	struct tracepoint_search tracepoint_search = { .name = hook->tracepoint };
	int error;

	for_each_kernel_tracepoint(match_tracepoint, &tracepoint_search);
	if (!tracepoint_search.found)
		return hook->is_optional ? 0 : -ENOENT;
	error = tracepoint_probe_register(tracepoint_search.found, hook->probe, hook->data);
	if (error)
		return error;
	hook->attached = tracepoint_search.found;
	WRITE_ONCE(attached_count, attached_count + 1);
	return 0;
}

/* Attaches all hooks. Returns 0, or an error with none attached. */
int eventlog_hooks_attach(struct eventlog_hook *hooks, unsigned int count)
{
	unsigned int i;
	int error = 0;

	for (i = 0; i < count && !error; i++)
		error = attach(&hooks[i]);
	if (error)
		eventlog_hooks_detach(hooks, count);
	return error;
}

/*
 * Detaches the hooks that are attached. Probes may still be running until the
 * caller has called tracepoint_synchronize_unregister().
 */
void eventlog_hooks_detach(struct eventlog_hook *hooks, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!hooks[i].attached)
			continue;
		tracepoint_probe_unregister(hooks[i].attached, hooks[i].probe, hooks[i].data);
		hooks[i].attached = NULL;
		WRITE_ONCE(attached_count, attached_count - 1);
	}
}
