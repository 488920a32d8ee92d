// SPDX-License-Identifier: GPL-2.0
/*
 * The provider `kernel`: task switches, interrupts and idle periods of the
 * CPUs.
 *
 * Each event is attached to its tracepoints while it has listeners, and to none
 * otherwise. The events describe all processes, so only consumers that may
 * receive everything get them: see filter.c. They have to be named exactly,
 * because they would drown all other events of a subscription with the pattern
 * `*`.
 *
 * Probes run in the context of their tracepoints and take no lock.
 * set_enabled() is called with eventlog_sources_lock held.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <trace/events/irq.h>
#include <trace/events/power.h>
#include <trace/events/sched.h>

#include "hooks.h"
#include "idle.h"
#include "provider.h"

#define SCHEDULING BIT_ULL(0)
#define INTERRUPTS BIT_ULL(1)
#define IDLE BIT_ULL(2)

struct switch_event {
	u32 next;
	u32 priority;
	char next_name[TASK_COMM_LEN];
	u8 state;
};

struct interrupt_begin_event {
	u32 number;
	u8 source;
};

struct interrupt_end_event {
	u32 number;
	u8 source;
};

struct softirq_begin_event {
	u8 vector;
};

struct softirq_end_event {
	u8 vector;
};

/* As __task_state_index() numbers them. */
EVENTLOG_ENUMERATION(state,
		     { "running", 0 }, { "sleeping", 1 }, { "waiting", 2 }, { "stopped", 3 },
		     { "traced", 4 }, { "dead", 5 }, { "zombie", 6 }, { "parked", 7 },
		     { "idle", 8 });

EVENTLOG_ENUMERATION(source,
		     { "none", EVENTLOG_INTERRUPT_NONE },
		     { "device", EVENTLOG_INTERRUPT_DEVICE },
		     { "timer", EVENTLOG_INTERRUPT_TIMER },
		     { "reschedule", EVENTLOG_INTERRUPT_RESCHEDULE },
		     { "call", EVENTLOG_INTERRUPT_CALL },
		     { "work", EVENTLOG_INTERRUPT_WORK });

EVENTLOG_ENUMERATION(vector,
		     { "high", HI_SOFTIRQ }, { "timer", TIMER_SOFTIRQ },
		     { "send", NET_TX_SOFTIRQ }, { "receive", NET_RX_SOFTIRQ },
		     { "block", BLOCK_SOFTIRQ }, { "poll", IRQ_POLL_SOFTIRQ },
		     { "tasklet", TASKLET_SOFTIRQ }, { "schedule", SCHED_SOFTIRQ },
		     { "precise_timer", HRTIMER_SOFTIRQ }, { "rcu", RCU_SOFTIRQ });

EVENTLOG_EVENT(switch,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(switch, next, .text = "the thread that goes on"),
			       EVENTLOG_ARRAY(switch, next_name,
					      .format = EVENTLOG_FORMAT_CHARACTERS),
			       EVENTLOG_FIELD(switch, priority,
					      .text = "of that thread, as the kernel counts it"),
			       EVENTLOG_FIELD(switch, state, .enumeration = &state_names,
					      .text = "of the one that stops")),
	       .level = EVENTLOG_LEVEL_VERBOSE, .keywords = SCHEDULING,
	       .text = "A CPU goes from one thread to another");

EVENTLOG_EVENT(interrupt_begin,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(interrupt_begin, source,
					      .enumeration = &source_names),
			       EVENTLOG_FIELD(interrupt_begin, number,
					      .text = "as in /proc/interrupts, or a vector")),
	       .level = EVENTLOG_LEVEL_TRACE, .keywords = INTERRUPTS, .kind = EVENTLOG_EVENT_BEGIN,
	       .text = "A CPU begins to see to an interrupt");

EVENTLOG_EVENT(interrupt_end,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(interrupt_end, source, .enumeration = &source_names),
			       EVENTLOG_FIELD(interrupt_end, number)),
	       .level = EVENTLOG_LEVEL_TRACE, .keywords = INTERRUPTS, .kind = EVENTLOG_EVENT_END,
	       .text = "It has seen to it");

EVENTLOG_EVENT(softirq_begin,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(softirq_begin, vector,
					      .enumeration = &vector_names)),
	       .level = EVENTLOG_LEVEL_TRACE, .keywords = INTERRUPTS, .kind = EVENTLOG_EVENT_BEGIN,
	       .text = "A CPU begins with what interrupts have left to be done");

EVENTLOG_EVENT(softirq_end,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(softirq_end, vector, .enumeration = &vector_names)),
	       .level = EVENTLOG_LEVEL_TRACE, .keywords = INTERRUPTS, .kind = EVENTLOG_EVENT_END,
	       .text = "It has done that");

EVENTLOG_EVENT(idle,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(idle, slept, .format = EVENTLOG_FORMAT_MONOTONIC,
					      .text = "since then"),
			       EVENTLOG_FIELD(idle, woke, .format = EVENTLOG_FORMAT_MONOTONIC),
			       EVENTLOG_FIELD(idle, source, .enumeration = &source_names,
					      .text = "what woke it"),
			       EVENTLOG_FIELD(idle, interrupt,
					      .text = "as in /proc/interrupts, or a vector"),
			       EVENTLOG_FIELD(idle, state,
					      .text = "how deep, as cpuidle numbers it")),
	       .level = EVENTLOG_LEVEL_VERBOSE, .keywords = IDLE,
	       .text = "A CPU has slept, and is awake again");

static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	struct switch_event payload = {
		.next = next->pid,
		.priority = next->prio,
		.state = preempt ? 0 : __task_state_index(prev_state, prev->exit_state),
	};

	/* The task may be renamed at the same time: then the name is a mix of both. */
	memcpy(payload.next_name, next->comm, sizeof(payload.next_name));
	payload.next_name[sizeof(payload.next_name) - 1] = '\0';
	eventlog_emit_about(&event_switch, &payload, next);
}

static void on_interrupt(void *data, int number, struct irqaction *action)
{
	EVENTLOG_EMIT(interrupt_begin, .number = number, .source = EVENTLOG_INTERRUPT_DEVICE);
}

static void on_interrupt_end(void *data, int number, struct irqaction *action, int result)
{
	EVENTLOG_EMIT(interrupt_end, .number = number, .source = EVENTLOG_INTERRUPT_DEVICE);
}

/* Interrupts without a device. `data` is the source. */
static void on_vector(void *data, int vector)
{
	EVENTLOG_EMIT(interrupt_begin, .number = vector, .source = (unsigned long)data);
}

static void on_vector_end(void *data, int vector)
{
	EVENTLOG_EMIT(interrupt_end, .number = vector, .source = (unsigned long)data);
}

static void on_softirq(void *data, unsigned int vector)
{
	EVENTLOG_EMIT(softirq_begin, .vector = vector);
}

static void on_softirq_end(void *data, unsigned int vector)
{
	EVENTLOG_EMIT(softirq_end, .vector = vector);
}

static DEFINE_PER_CPU(struct eventlog_idle, idle_of_cpu);

static void on_idle(void *data, unsigned int state, unsigned int cpu)
{
	struct eventlog_idle *idle;
	struct idle_event finished;
	unsigned long flags;
	bool is_over;

	local_irq_save(flags);
	idle = this_cpu_ptr(&idle_of_cpu);
	if (state == PWR_EVENT_EXIT)
		is_over = eventlog_idle_exit(idle, ktime_get_mono_fast_ns(), &finished);
	else
		is_over = eventlog_idle_enter(idle, ktime_get_mono_fast_ns(), state, &finished);
	if (is_over)
		eventlog_emit(&event_idle, &finished);
	local_irq_restore(flags);
}

/* Discards periods that began while the event was enabled before. */
static void reset_idle_state(void)
{
	unsigned int cpu;

	/* Waits for probes of the last time. */
	tracepoint_synchronize_unregister();
	for_each_possible_cpu(cpu)
		per_cpu(idle_of_cpu, cpu).phase = EVENTLOG_IDLE_AWAKE;
}

static void wake_by(enum eventlog_interrupt_source source, u32 number)
{
	struct idle_event finished;

	/* Some interrupts of arm64 are NMIs and may interrupt the state machine. */
	if (in_nmi())
		return;
	if (eventlog_idle_interrupted(this_cpu_ptr(&idle_of_cpu), ktime_get_mono_fast_ns(), source,
				      number, &finished))
		eventlog_emit(&event_idle, &finished);
}

static void wake_by_device(void *data, int number, struct irqaction *action)
{
	wake_by(EVENTLOG_INTERRUPT_DEVICE, number);
}

static void wake_by_vector(void *data, int vector)
{
	wake_by((unsigned long)data, vector);
}

static void on_switch_from_idle(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	struct idle_event finished;

	if (is_idle_task(prev) && eventlog_idle_switched(this_cpu_ptr(&idle_of_cpu), &finished))
		eventlog_emit(&event_idle, &finished);
}

/* x86 interrupts without a device. Other architectures do not have them. */
#define VECTOR(name, function, source)						\
	{									\
		.tracepoint = (name), .probe = (function), .data = (void *)(source), \
		.is_optional = true,						\
	}

static struct eventlog_hook switch_hooks[] = { { "sched_switch", on_switch } };

static struct eventlog_hook interrupt_begin_hooks[] = {
	{ "irq_handler_entry", on_interrupt },
	VECTOR("local_timer_entry", on_vector, EVENTLOG_INTERRUPT_TIMER),
	VECTOR("reschedule_entry", on_vector, EVENTLOG_INTERRUPT_RESCHEDULE),
	VECTOR("call_function_entry", on_vector, EVENTLOG_INTERRUPT_CALL),
	VECTOR("call_function_single_entry", on_vector, EVENTLOG_INTERRUPT_CALL),
	VECTOR("irq_work_entry", on_vector, EVENTLOG_INTERRUPT_WORK),
};

static struct eventlog_hook interrupt_end_hooks[] = {
	{ "irq_handler_exit", on_interrupt_end },
	VECTOR("local_timer_exit", on_vector_end, EVENTLOG_INTERRUPT_TIMER),
	VECTOR("reschedule_exit", on_vector_end, EVENTLOG_INTERRUPT_RESCHEDULE),
	VECTOR("call_function_exit", on_vector_end, EVENTLOG_INTERRUPT_CALL),
	VECTOR("call_function_single_exit", on_vector_end, EVENTLOG_INTERRUPT_CALL),
	VECTOR("irq_work_exit", on_vector_end, EVENTLOG_INTERRUPT_WORK),
};

static struct eventlog_hook softirq_begin_hooks[] = { { "softirq_entry", on_softirq } };

static struct eventlog_hook softirq_end_hooks[] = { { "softirq_exit", on_softirq_end } };

static struct eventlog_hook idle_hooks[] = {
	{ "cpu_idle", on_idle },
	{ "sched_switch", on_switch_from_idle },
	{ "irq_handler_entry", wake_by_device },
	VECTOR("local_timer_entry", wake_by_vector, EVENTLOG_INTERRUPT_TIMER),
	VECTOR("reschedule_entry", wake_by_vector, EVENTLOG_INTERRUPT_RESCHEDULE),
	VECTOR("call_function_entry", wake_by_vector, EVENTLOG_INTERRUPT_CALL),
	VECTOR("call_function_single_entry", wake_by_vector, EVENTLOG_INTERRUPT_CALL),
	VECTOR("irq_work_entry", wake_by_vector, EVENTLOG_INTERRUPT_WORK),
};

#define HOOKS_OF(name) { &event_##name, name##_hooks, ARRAY_SIZE(name##_hooks) }
static const struct {
	const struct eventlog_provider_event *event;
	struct eventlog_hook *hooks;
	unsigned int count;
} attached[] = {
	HOOKS_OF(switch), HOOKS_OF(interrupt_begin), HOOKS_OF(interrupt_end),
	HOOKS_OF(softirq_begin), HOOKS_OF(softirq_end), HOOKS_OF(idle),
};

static int set_enabled(struct eventlog_provider_event *event, bool enabled)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attached); i++) {
		if (attached[i].event != event)
			continue;
		if (enabled && event == &event_idle)
			reset_idle_state();
		if (enabled)
			return eventlog_hooks_attach(attached[i].hooks, attached[i].count);
		eventlog_hooks_detach(attached[i].hooks, attached[i].count);
		break;
	}
	return 0;
}

EVENTLOG_PROVIDER(kernel,
		  EVENTLOG_PROVIDES(&event_switch, &event_interrupt_begin, &event_interrupt_end,
				    &event_softirq_begin, &event_softirq_end, &event_idle),
		  EVENTLOG_KEYWORDS({ "scheduling", 0 }, { "interrupts", 1 }, { "idle", 2 }),
		  .text = "What the processors do", .exact_name_only = true,
		  .set_enabled = set_enabled);

int eventlog_kernel_provider_init(void)
{
	/* Tracepoints are found by name. Check here that the probes have their types. */
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_switch(on_switch_from_idle);
	check_trace_callback_type_irq_handler_entry(on_interrupt);
	check_trace_callback_type_irq_handler_entry(wake_by_device);
	check_trace_callback_type_irq_handler_exit(on_interrupt_end);
	check_trace_callback_type_softirq_entry(on_softirq);
	check_trace_callback_type_softirq_exit(on_softirq_end);
	check_trace_callback_type_cpu_idle(on_idle);
	return eventlog_provider_register(&kernel_provider);
}

void eventlog_kernel_provider_exit(void)
{
	eventlog_provider_unregister(&kernel_provider);
}
