// SPDX-License-Identifier: GPL-2.0
/*
 * An event as tracing knows it: made at run time, with the fields of its
 * layout; its listeners; and delivering payloads to them.
 *
 * A listener is a probe of a tracepoint without a call site. So tracepoint code
 * maintains the list of listeners, which writers read under RCU without a lock.
 *
 * Attaching and detaching is called by tracing with event_mutex held.
 */
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "eventlog.h"

static struct eventlog_event *event_of(struct trace_event_call *call)
{
	return container_of(call, struct eventlog_event, call);
}

/* Probes identify a listener by their address. They are called directly, not through the list. */
static void ftrace_probe(struct eventlog_event *event, struct trace_event_file *file,
			 const void *payload, size_t size)
{
	struct trace_event_buffer buffer;
	struct trace_entry *entry;

	if (trace_trigger_soft_disabled(file))
		return;
	entry = trace_event_buffer_reserve(&buffer, file, sizeof(*entry) + size);
	if (!entry)
		return;
	memcpy(entry + 1, payload, size);
	/* Runs filters and triggers. */
	trace_event_buffer_commit(&buffer);
}

#ifdef CONFIG_PERF_EVENTS
static void perf_probe(struct eventlog_event *event, const void *payload, size_t size)
{
	struct hlist_head *head = this_cpu_ptr(event->call.perf_events);
	struct trace_entry *entry;
	struct pt_regs *regs;
	int context;
	/* perf puts 4 bytes in front of the entry; the total size has to be a multiple of 8. */
	const int entry_size =
		ALIGN(sizeof(*entry) + size + sizeof(u32), sizeof(u64)) - sizeof(u32);

	if (!bpf_prog_array_valid(&event->call) && hlist_empty(head))
		return;
	entry = perf_trace_buf_alloc(entry_size, &regs, &context);
	if (!entry)
		return;
	perf_fetch_caller_regs(regs);
	memcpy(entry + 1, payload, size);
	perf_trace_run_bpf_submit(entry, entry_size, context, &event->call, 1, regs, head, NULL);
}
#endif

/*
 * Delivers a payload with absolute words to all listeners. Any number of
 * threads; does not sleep.
 */
void eventlog_trace_event_fire(struct eventlog_event *event, const void *payload, size_t size)
{
	struct tracepoint_func *probe;

	rcu_read_lock_sched();
	probe = rcu_dereference_sched(event->tracepoint.funcs);
	for (; probe && probe->func; probe++) {
		if (probe->func == ftrace_probe)
			ftrace_probe(event, probe->data, payload, size);
#ifdef CONFIG_PERF_EVENTS
		else if (probe->func == perf_probe)
			perf_probe(event, payload, size);
#endif
	}
	rcu_read_unlock_sched();
}

static int attach(struct eventlog_event *event, void *probe, void *data)
{
	const int error = tracepoint_probe_register(&event->tracepoint, probe, data);

	if (error)
		return error;
	WRITE_ONCE(event->probe_count, event->probe_count + 1);
	eventlog_enable_words_update(event, true);
	return 0;
}

static void detach(struct eventlog_event *event, void *probe, void *data)
{
	WRITE_ONCE(event->probe_count, event->probe_count - 1);
	if (!event->probe_count) {
		eventlog_enable_words_update(event, false);
		eventlog_events_schedule_cleanup();
	}
	tracepoint_probe_unregister(&event->tracepoint, probe, data);
	/*
	 * Writers may still be using what the listener attached: see
	 * eventlog_trace_event_is_busy().
	 */
	WRITE_ONCE(event->rcu_cookie, start_poll_synchronize_rcu());
}

/* Called by tracing with event_mutex held. */
static int change_listener(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct eventlog_event *event = event_of(call);

	switch (type) {
	case TRACE_REG_REGISTER:
		return attach(event, ftrace_probe, data);
	case TRACE_REG_UNREGISTER:
		detach(event, ftrace_probe, data);
		return 0;
#ifdef CONFIG_PERF_EVENTS
	case TRACE_REG_PERF_REGISTER:
		return attach(event, perf_probe, NULL);
	case TRACE_REG_PERF_UNREGISTER:
		detach(event, perf_probe, NULL);
		return 0;
#endif
	default:
		return 0;
	}
}

/*
 * Returns whether the event has a listener, is about to get one, or lost its
 * last one less than a grace period ago. Exact with event_mutex held, a hint
 * otherwise.
 */
bool eventlog_trace_event_is_busy(const struct eventlog_event *event)
{
	return READ_ONCE(event->probe_count) || atomic_read(&event->call.refcnt) ||
	       !poll_state_synchronize_rcu(READ_ONCE(event->rcu_cookie));
}

static struct trace_event_fields *make_fields(const struct eventlog_layout *layout)
{
	struct trace_event_fields *fields;
	u32 i;

	fields = kcalloc(layout->field_count + 1, sizeof(*fields), GFP_KERNEL_ACCOUNT);
	for (i = 0; fields && i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];
		const struct trace_event_fields made = {
			.type = field->type,
			.name = field->name,
			.size = field->size,
			.align = 1, /* packed */
			.is_signed = field->is_signed,
			.filter_type = FILTER_OTHER, /* derived from the type */
			.len = field->count,
		};

		memcpy(&fields[i], &made, sizeof(made));
	}
	return fields;
}

/*
 * Makes everything that tracing needs, from the event's name and layout.
 * Returns 0 or -ENOMEM; the owner of the event frees what was made, in any
 * case.
 */
int eventlog_trace_event_init(struct eventlog_event *event)
{
	struct trace_event_call *call = &event->call;
	struct trace_event_class *class = &event->class;

	event->print_format = eventlog_print_format(event->layout);
	event->trace_fields = make_fields(event->layout);
	if (!event->print_format || !event->trace_fields)
		return -ENOMEM;
	event->rcu_cookie = get_completed_synchronize_rcu();
	event->tracepoint.name = event->name;
	class->system = EVENTLOG_SYSTEM;
	class->fields_array = event->trace_fields;
	class->raw_init = trace_event_raw_init;
	class->reg = change_listener;
	INIT_LIST_HEAD(&class->fields);
	call->class = class;
	call->tp = &event->tracepoint;
	call->event.funcs = &eventlog_print_functions;
	call->print_fmt = event->print_format;
	/* A tracepoint, for BPF; dynamic, so that references from open files are counted. */
	call->flags = TRACE_EVENT_FL_TRACEPOINT | TRACE_EVENT_FL_DYNAMIC;
	return 0;
}
