// SPDX-License-Identifier: GPL-2.0
/*
 * Providers of the kernel and its modules: each is a source like that of a
 * program, without a process.
 *
 * Emitting takes no lock and runs in any context in which RCU watches.
 * Registering and unregistering may sleep. set_enabled() of a provider is
 * called with eventlog_sources_lock held; dump() is called without it, in the
 * task that subscribes or that registers the provider.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uidgid.h>
#include <uapi/linux/eventlog_device.h>

#include "listeners.h"
#include "provider.h"
#include "subscription.h"

struct eventlog_provider_state {
	struct eventlog_source source;
	struct eventlog_provider *provider;
	struct eventlog_schema schema;
	struct eventlog_source_event events[]; /* indexed as those of the provider */
};

static void set_enabled(struct eventlog_provider *provider, struct eventlog_provider_event *event,
			bool enabled)
{
	int error;

	if (event->enabled == enabled)
		return;
	WRITE_ONCE(event->enabled, enabled);
	error = provider->set_enabled ? provider->set_enabled(event, enabled) : 0;
	if (error)
		pr_warn("%s:%s cannot be enabled or disabled: error %d\n",
			provider->name, event->name, error);
}

/* Called with eventlog_sources_lock held. */
static void update_enabled(struct eventlog_source_event *event, bool enabled)
{
	struct eventlog_provider_state *registered =
		container_of(event->source, struct eventlog_provider_state, source);
	struct eventlog_provider *provider = registered->provider;

	set_enabled(provider, provider->events[event->id], enabled);
}

/* The listener that a dump is for. */
struct eventlog_dump {
	u64 listener;
};

static void dump(struct eventlog_source *source, u64 listener)
{
	struct eventlog_provider_state *registered =
		container_of(source, struct eventlog_provider_state, source);
	struct eventlog_dump one = { .listener = listener };

	registered->provider->dump(registered->provider, &one);
}

static u8 flags_of(const struct eventlog_provider_event *event)
{
	return (event->session ? EVENTLOG_EVENT_SESSION_BOUND : 0) |
	       (event->kind == EVENTLOG_EVENT_STATE_COMPLETE ? EVENTLOG_EVENT_ALWAYS_DELIVERED : 0);
}

static void fill_in(struct eventlog_provider_state *registered)
{
	const struct eventlog_provider *provider = registered->provider;
	struct eventlog_source *source = &registered->source;
	u16 i;

	source->name = provider->name;
	source->exact_name_only = provider->exact_name_only;
	source->schema = registered->schema.bytes;
	source->schema_size = registered->schema.size;
	source->schema_hash = registered->schema.hash;
	source->event_count = provider->event_count;
	source->number_count = provider->event_count;
	source->events = registered->events;
	source->update_enabled = update_enabled;
	source->dump = provider->dump ? dump : NULL;
	source->uid = GLOBAL_ROOT_UID;
	strscpy(source->process_name, provider->owner, sizeof(source->process_name));
	for (i = 0; i < provider->event_count; i++) {
		const struct eventlog_provider_event *event = provider->events[i];

		registered->events[i].source = source;
		registered->events[i].name = event->name;
		registered->events[i].keywords = event->keywords;
		registered->events[i].id = i;
		registered->events[i].level = event->level ?: EVENTLOG_LEVEL_INFO;
		registered->events[i].flags = flags_of(event);
		if (event->kind == EVENTLOG_EVENT_STATE_COMPLETE)
			source->state_complete = &registered->events[i];
	}
}

static struct eventlog_provider_state *prepare(struct eventlog_provider *provider)
{
	struct eventlog_provider_state *registered =
		kvzalloc(struct_size(registered, events, provider->event_count), GFP_KERNEL);
	int error;

	if (!registered)
		return ERR_PTR(-ENOMEM);
	registered->provider = provider;
	error = eventlog_schema_make(provider, &registered->schema);
	if (error) {
		kvfree(registered);
		return ERR_PTR(error);
	}
	fill_in(registered);
	return registered;
}

/* Detaches the first `count` events from their source. Emitters that found it may still write. */
static void unbind_events(struct eventlog_provider *provider, u16 count)
{
	u16 i;

	for (i = 0; i < count; i++)
		RCU_INIT_POINTER(provider->events[i]->source, NULL);
}

static int bind_events(struct eventlog_provider *provider,
		       struct eventlog_provider_state *registered)
{
	u16 i;

	for (i = 0; i < provider->event_count; i++) {
		if (rcu_access_pointer(provider->events[i]->source)) {
			pr_err("%s:%s is registered already\n", provider->name,
			       provider->events[i]->name);
			unbind_events(provider, i);
			return -EBUSY;
		}
		rcu_assign_pointer(provider->events[i]->source, &registered->events[i]);
	}
	return 0;
}

/* Disables all events and waits for probes that were attached. */
static void disable_events(struct eventlog_provider *provider)
{
	u16 i;

	for (i = 0; i < provider->event_count; i++)
		set_enabled(provider, provider->events[i], false);
	tracepoint_synchronize_unregister();
}

static void free_state(struct eventlog_provider_state *registered)
{
	kvfree(registered->schema.bytes);
	kvfree(registered);
}

static int publish(struct eventlog_provider *provider, struct eventlog_provider_state *registered)
{
	int error = bind_events(provider, registered);

	if (error)
		return error;
	error = eventlog_source_publish(&registered->source);
	if (error) {
		unbind_events(provider, provider->event_count);
		disable_events(provider);
	}
	return error;
}

int eventlog_provider_register(struct eventlog_provider *provider)
{
	struct eventlog_provider_state *registered;
	int error;

	if (provider->registered)
		return -EBUSY;
	error = eventlog_schema_check(provider);
	if (error)
		return error;
	registered = prepare(provider);
	if (IS_ERR(registered))
		return PTR_ERR(registered);
	error = publish(provider, registered);
	if (error) {
		synchronize_rcu();
		free_state(registered);
		return error;
	}
	provider->registered = registered;
	return 0;
}
EXPORT_SYMBOL_GPL(eventlog_provider_register);

void eventlog_provider_unregister(struct eventlog_provider *provider)
{
	struct eventlog_provider_state *registered = provider->registered;

	if (!registered)
		return;
	/* Also waits for dumps, which need the events until they end. */
	eventlog_source_withdraw_nosync(&registered->source);
	unbind_events(provider, provider->event_count);
	/* After this no emitter that found a source is still writing. */
	synchronize_rcu();
	provider->registered = NULL;
	disable_events(provider);
	free_state(registered);
}
EXPORT_SYMBOL_GPL(eventlog_provider_unregister);

/* Not inlined: the callers need no stack for it on their fast path. */
static noinline void write_to_all(const struct eventlog_source_event *event, const void *payload,
				  u32 size, const struct task_struct *about)
{
	const struct eventlog_event_instance instance = {
		.event = event,
		.payload = payload,
		.size = size,
		.about = about,
	};

	eventlog_source_event_write(&instance);
}

void eventlog_emit_about(const struct eventlog_provider_event *event, const void *payload,
			 const struct task_struct *about)
{
	const struct eventlog_source_event *source;

	preempt_disable_notrace();
	source = rcu_dereference_sched(event->source);
	if (source)
		write_to_all(source, payload, event->payload_size, about);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_emit_about);

void eventlog_emit_state(const struct eventlog_dump *dump,
			 const struct eventlog_provider_event *event, const void *payload)
{
	struct eventlog_event_instance instance = {
		.payload = payload,
		.size = event->payload_size,
		.only = dump->listener,
	};

	preempt_disable_notrace();
	instance.event = rcu_dereference_sched(event->source);
	if (instance.event)
		eventlog_source_event_write(&instance);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_emit_state);

/* Most events have one listener that wants all of them. That case needs no call. */
notrace void eventlog_emit(const struct eventlog_provider_event *event, const void *payload)
{
	unsigned long size = event->payload_size;
	const struct eventlog_source_event *source;
	const struct eventlog_listeners *listeners;

	/* Keeps one register for the size instead of one for each of its widths. */
	OPTIMIZER_HIDE_VAR(size);
	preempt_disable_notrace();
	source = rcu_dereference_sched(event->source);
	listeners = likely(source) ? rcu_dereference_sched(source->listeners) : NULL;
	if (likely(listeners)) {
		if (likely(listeners->is_single_ring && size <= EVENTLOG_SHORT_SIZE_MAX))
			eventlog_write_short(eventlog_single_subscription(listeners),
					     listeners->entries[0].number, current->pid, payload,
					     size);
		else
			write_to_all(source, payload, size, NULL);
	}
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(eventlog_emit);
