// SPDX-License-Identifier: GPL-2.0
/*
 * Calls functions with event_mutex of tracing held, in a module built outside
 * the kernel tree, to which event_mutex is not exported.
 *
 * Tracing calls class->reg of an event with that mutex held when a listener
 * attaches. So the module has an event `eventlog_ctl:lock` that never occurs,
 * and attaches to it itself. It asks as perf does and refuses the request in
 * class->reg, which has no other effect. Enabling the event in ftrace has the
 * same effect, but also makes the kernel record the names of all tasks, for
 * which it patches its code. That is the fallback for kernels without perf and
 * for a lack of memory.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#include "eventlog.h"

#define SYSTEM "eventlog_ctl"
#define NAME "lock"

/* Protected by eventlog_registry_lock; tasks that do not hold it only compare `task`. */
static struct {
	struct task_struct *task;
	void (*run)(void *data);
	void *data;
	bool done;
} request;

static void run_request(void)
{
	/* A request of any other task for this event has no effect. */
	if (READ_ONCE(request.task) == current && !request.done) {
		request.done = true;
		request.run(request.data);
	}
}

static int control_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	switch (type) {
	case TRACE_REG_REGISTER:
	case TRACE_REG_UNREGISTER:
		run_request();
		return 0;
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		run_request();
		return -ECANCELED;
#endif
	default:
		return 0;
	}
}

static enum print_line_t control_print(struct trace_iterator *iter, int flags,
				       struct trace_event *event)
{
	return TRACE_TYPE_UNHANDLED;
}

static struct trace_event_functions control_functions = {
	.trace = control_print,
};

static struct trace_event_fields control_fields[] = { {} };

static struct trace_event_class control_class = {
	.system = SYSTEM,
	.fields_array = control_fields,
	.fields = LIST_HEAD_INIT(control_class.fields),
	.raw_init = trace_event_raw_init,
	.reg = control_reg,
};

static struct trace_event_call control_call = {
	.class = &control_class,
	.name = NAME,
	.event.funcs = &control_functions,
	.print_fmt = "\"\"",
};

static struct trace_event_call *control_call_pointer __used __section("_ftrace_events") =
	&control_call;

static void trigger_by_perf(void)
{
#ifdef CONFIG_PERF_EVENTS
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attributes),
		.config = control_call.event.type,
		.disabled = 1,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attributes, 0, NULL, NULL, NULL);
	if (WARN_ON_ONCE(!IS_ERR(event)))
		perf_event_release_kernel(event);
#endif
}

static void trigger_by_ftrace(void)
{
	int tries;

	/*
	 * The event may be enabled already, as one of all events. Then disabling it calls
	 * class->reg.
	 */
	for (tries = 0; tries < 8 && !request.done; tries++)
		trace_set_clr_event(SYSTEM, NAME, !(tries & 1));
	trace_set_clr_event(SYSTEM, NAME, 0);
}

/*
 * Calls run(data) with event_mutex held. Returns 0, or -EBUSY if tracing does
 * not call us: it is switched off, or other tasks enable and disable our event
 * at the same time. May sleep.
 */
int eventlog_with_event_mutex(void (*run)(void *data), void *data)
{
	lockdep_assert_held(&eventlog_registry_lock);
	request.run = run;
	request.data = data;
	request.done = false;
	WRITE_ONCE(request.task, current);
	trigger_by_perf();
	if (!request.done)
		trigger_by_ftrace();
	WRITE_ONCE(request.task, NULL);
	return request.done ? 0 : -EBUSY;
}
