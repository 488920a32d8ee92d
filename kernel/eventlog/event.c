// SPDX-License-Identifier: GPL-2.0
/*
 * Registry of all events by name, and their lifetime.
 *
 * The users of an event are the open files that have registered it. An event
 * without users is idle. It is removed a second later if it has no listeners,
 * because a program that is restarted registers it again. Where removing is not
 * safe, idle events stay.
 *
 * A removed event is dead: its type number and its memory are kept until more
 * than DEAD_EVENTS_MAX others have died.
 *
 * - The number: ftrace's buffers may still have entries with it. Linux 6.12
 *   reuses a free number at once, and would print these entries as those of the
 *   next event. So a placeholder takes the number, even if the event was never
 *   recorded: otherwise free numbers below that of a recorded event would
 *   accumulate.
 * - The memory: in Linux 6.1 a file `format` that was opened before the event
 *   was removed reads from it afterwards.
 *
 * Lock: eventlog_registry_lock, taken before event_mutex.
 */
#include <linux/capability.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"

/* Limits how long event_mutex is held while many events are removed. */
#define REMOVE_BATCH_MAX 64
#define DEAD_EVENTS_MAX 1024
/* Upper bound for free numbers below the wanted one, of other removed events. */
#define NUMBERS_MAX 64

/* Protects the set of events and their users. */
DEFINE_MUTEX(eventlog_registry_lock);

static DEFINE_HASHTABLE(events, 10);
static LIST_HEAD(idle_events);
static LIST_HEAD(dead_events); /* protected by eventlog_registry_lock, the newest last */
static unsigned int dead_count;

static void remove_idle_events(struct work_struct *work);
static DECLARE_DELAYED_WORK(idle_work, remove_idle_events);

/*
 * Before Linux 6.6 tracing frees what the tracefs files of a removed event
 * refer to while they are open. There only root may have events removed. The
 * Kbuild file knows the kernel's version.
 */
#ifdef EVENTLOG_KEEP_IDLE
static bool remove_idle;
#else
static bool remove_idle = true;
#endif

static int set_remove_idle(const char *value, const struct kernel_param *parameter)
{
	const int error = param_set_bool(value, parameter);

	if (error)
		return error;
	mutex_lock(&eventlog_registry_lock);
	/*
	 * Parameters are also set while the module is loaded and unloaded, when there are
	 * no events.
	 */
	if (!list_empty(&idle_events))
		eventlog_events_schedule_cleanup();
	mutex_unlock(&eventlog_registry_lock);
	return 0;
}

static const struct kernel_param_ops remove_idle_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = set_remove_idle,
	.get = param_get_bool,
};

module_param_cb(remove_idle, &remove_idle_ops, &remove_idle, 0644);
__MODULE_PARM_TYPE(remove_idle, "bool");
MODULE_PARM_DESC(remove_idle, "Remove events without users; otherwise only root can");

static u32 hash_of(const char *name)
{
	return full_name_hash(NULL, name, strlen(name));
}

static struct eventlog_event *find(const char *name)
{
	struct eventlog_event *event;

	lockdep_assert_held(&eventlog_registry_lock);
	hash_for_each_possible(events, event, node, hash_of(name))
		if (!strcmp(event->name, name))
			return event;
	return NULL;
}

/* A dead event is not charged to a user. */
static void uncharge_user(struct eventlog_event *event)
{
	if (event->user) {
		eventlog_uncharge(event->user, EVENTLOG_EVENTS, 1);
		eventlog_user_put(event->user);
		event->user = NULL;
	}
}

/* For an event that tracing does not know, or does not know any more. */
void eventlog_event_free(struct eventlog_event *event)
{
	uncharge_user(event);
	kfree(event->trace_fields);
	kfree(event->print_format);
	if (event->layout)
		eventlog_layout_free(event->layout);
	kfree(event->name);
	kfree(event);
}

struct add_request {
	struct eventlog_event *event;
	int error;
};

static void add_to_tracing(void *data)
{
	struct add_request *add_request = data;

	add_request->error = trace_add_event_call(&add_request->event->call);
}

/*
 * Allocates an event that is not registered yet, for eventlog_event_get() or to
 * be freed. Takes over the layout in any case. Returns -ENOMEM without memory.
 * Called without locks: a process with little memory may wait in the allocator.
 */
struct eventlog_event *eventlog_event_prepare(struct eventlog_layout *layout)
{
	const size_t room = strlen(layout->name) + sizeof("_12345678");
	struct eventlog_event *event = kzalloc(sizeof(*event), GFP_KERNEL_ACCOUNT);

	if (!event) {
		eventlog_layout_free(layout);
		return ERR_PTR(-ENOMEM);
	}
	INIT_LIST_HEAD(&event->idle);
	INIT_LIST_HEAD(&event->words);
	event->layout = layout;
	event->name = kmalloc(room, GFP_KERNEL_ACCOUNT);
	if (!event->name || eventlog_trace_event_init(event)) {
		eventlog_event_free(event);
		return ERR_PTR(-ENOMEM);
	}
	strscpy(event->name, layout->name, room);
	return event;
}

/*
 * Adds the event to tracing and to the registry, and returns it. An event holds
 * the module while tracing knows it: probes refer to an event without being
 * listeners.
 */
static struct eventlog_event *add(struct eventlog_event *event, struct eventlog_user *user)
{
	struct add_request add_request = { .event = event };
	int error;

	if (!eventlog_charge(user, EVENTLOG_EVENTS, 1))
		return ERR_PTR(-EMFILE);
	event->user = eventlog_user_hold(user);
	error = eventlog_with_event_mutex(add_to_tracing, &add_request);
	if (!error)
		error = add_request.error < 0 ? add_request.error : 0;
	if (error) {
		uncharge_user(event);
		return ERR_PTR(error);
	}
	__module_get(THIS_MODULE);
	hash_add(events, &event->node, hash_of(event->name));
	return event;
}

/*
 * Returns the event with the name and the fields of the prepared one, with one
 * more user. That is the prepared event itself if there is none yet; otherwise
 * the caller frees it, without the lock. Returns -EADDRINUSE if the event of
 * this name has other fields, -EMFILE at the limit of events, -EBUSY if tracing
 * is off, or -ENOMEM. The caller holds eventlog_registry_lock.
 */
struct eventlog_event *eventlog_event_get(struct eventlog_event *prepared, u16 flags,
					  struct eventlog_user *user)
{
	const struct eventlog_layout *layout = prepared->layout;
	struct eventlog_event *event = find(layout->name);

	lockdep_assert_held(&eventlog_registry_lock);
	if (event && !eventlog_layout_has_same_fields(event->layout, layout)) {
		if (!(flags & EVENTLOG_REGISTER_MULTI_FORMAT))
			return ERR_PTR(-EADDRINUSE);
		sprintf(prepared->name + strlen(layout->name), "_%08x", layout->hash);
		event = find(prepared->name);
		if (event && !eventlog_layout_has_same_fields(event->layout, layout))
			return ERR_PTR(-EADDRINUSE);
	}
	if (!event)
		event = add(prepared, user);
	if (!IS_ERR(event)) {
		event->users++;
		list_del_init(&event->idle);
	}
	return event;
}

/* The caller holds eventlog_registry_lock. */
void eventlog_event_put(struct eventlog_event *event)
{
	lockdep_assert_held(&eventlog_registry_lock);
	if (--event->users)
		return;
	list_add_tail(&event->idle, &idle_events);
	eventlog_events_schedule_cleanup();
}

/* Schedules the removal of idle events, unless it is scheduled already. Any context. */
void eventlog_events_schedule_cleanup(void)
{
	schedule_delayed_work(&idle_work, HZ);
}

static enum print_line_t print_placeholder(struct trace_iterator *iter, int flags,
					   struct trace_event *event)
{
	trace_seq_puts(&iter->seq, "an event of a program that has ended\n");
	return trace_handle_return(&iter->seq);
}

static struct trace_event_functions placeholder_functions = {
	.trace = print_placeholder,
};

/*
 * Tracing assigns the lowest free number. So the free ones below are taken
 * first and given back afterwards.
 */
static void reserve_type(struct eventlog_event *event, int number)
{
	struct trace_event *below;
	int count = 0;
	int got;

	event->placeholder.funcs = &placeholder_functions;
	got = register_trace_event(&event->placeholder);
	if (!got || got == number)
		return;
	unregister_trace_event(&event->placeholder);
	event->placeholder.type = 0;
	/* Linux 6.1 assigns numbers that were never used, as long as there are any. */
	if (got > number)
		return;
	below = kcalloc(NUMBERS_MAX, sizeof(*below), GFP_KERNEL);
	if (!below)
		return;
	while (count < NUMBERS_MAX) {
		below[count].funcs = &placeholder_functions;
		got = register_trace_event(&below[count]);
		if (got)
			count++;
		if (!got || got >= number)
			break;
	}
	if (count && below[count - 1].type == number) {
		unregister_trace_event(&below[--count]);
		/*
		 * The numbers below are still taken, and event_mutex prevents that others
		 * are assigned.
		 */
		register_trace_event(&event->placeholder);
	}
	while (count)
		unregister_trace_event(&below[--count]);
	kfree(below);
}

/* The caller holds event_mutex, and tracing has just removed the event. */
void eventlog_dead_event_add(struct eventlog_event *event)
{
	lockdep_assert_held(&eventlog_registry_lock);
	reserve_type(event, event->call.event.type);
	list_add_tail(&event->dead, &dead_events);
	dead_count++;
}

static void free_oldest(unsigned int keep)
{
	struct eventlog_event *event, *next;

	lockdep_assert_held(&eventlog_registry_lock);
	list_for_each_entry_safe(event, next, &dead_events, dead) {
		if (dead_count <= keep)
			break;
		list_del(&event->dead);
		dead_count--;
		if (event->placeholder.type)
			unregister_trace_event(&event->placeholder);
		eventlog_event_free(event);
	}
}

/* Called without event_mutex. */
void eventlog_dead_events_trim(void)
{
	free_oldest(DEAD_EVENTS_MAX);
}

/* The caller holds event_mutex. Removes the events of the list that have no listeners. */
static void remove_from_tracing(void *data)
{
	struct list_head *wanted = data;
	struct eventlog_event *event, *next;

	list_for_each_entry_safe(event, next, wanted, idle) {
		if (eventlog_trace_event_is_busy(event) || trace_remove_event_call(&event->call))
			continue;
		list_del_init(&event->idle);
		hash_del(&event->node);
		uncharge_user(event);
		eventlog_dead_event_add(event);
		module_put(THIS_MODULE);
	}
}

/* Removes the events of the list and returns the rest to idle_events. Returns whether all went. */
static bool remove_events(struct list_head *wanted)
{
	bool all;

	lockdep_assert_held(&eventlog_registry_lock);
	eventlog_with_event_mutex(remove_from_tracing, wanted);
	all = list_empty(wanted);
	list_splice_tail(wanted, &idle_events);
	eventlog_dead_events_trim();
	return all;
}

/* Moves events that probably have no listeners to the list. Returns how many. */
static unsigned int take_idle(struct list_head *wanted)
{
	struct eventlog_event *event, *next;
	unsigned int count = 0;

	list_for_each_entry_safe(event, next, &idle_events, idle) {
		if (count == REMOVE_BATCH_MAX)
			break;
		if (!eventlog_trace_event_is_busy(event)) {
			list_move_tail(&event->idle, wanted);
			count++;
		}
	}
	return count;
}

/* Returns whether there may be more events that can be removed now. */
static bool remove_some(void)
{
	struct eventlog_event *event;
	LIST_HEAD(wanted);
	unsigned int count;
	bool all;

	if (!READ_ONCE(remove_idle))
		return false;
	mutex_lock(&eventlog_registry_lock);
	count = take_idle(&wanted);
	all = !count || remove_events(&wanted);
	/*
	 * The removal of idle events with listeners is scheduled when the last listener
	 * detaches.
	 */
	list_for_each_entry(event, &idle_events, idle) {
		if (!READ_ONCE(event->probe_count)) {
			eventlog_events_schedule_cleanup();
			break;
		}
	}
	mutex_unlock(&eventlog_registry_lock);
	return all && count == REMOVE_BATCH_MAX;
}

/*
 * Runs a second after an event became idle, and again while idle events without
 * listeners are left.
 */
static void remove_idle_events(struct work_struct *work)
{
	while (remove_some())
		cond_resched();
}

static int try_to_delete(const char *name, unsigned long *rcu_cookie)
{
	struct eventlog_event *event;
	LIST_HEAD(wanted);
	int error = -ENOENT;

	if (mutex_lock_killable(&eventlog_registry_lock))
		return -EINTR;
	event = find(name);
	if (!event)
		goto unlock;
	error = -EBUSY;
	if (event->users)
		goto unlock;
	error = -EAGAIN;
	*rcu_cookie = READ_ONCE(event->rcu_cookie);
	if (!poll_state_synchronize_rcu(*rcu_cookie))
		goto unlock;
	list_move(&event->idle, &wanted);
	error = remove_events(&wanted) ? 0 : -EBUSY;
unlock:
	mutex_unlock(&eventlog_registry_lock);
	return error;
}

/*
 * Removes an event without users at once. Returns 0, -EPERM if only root may do
 * that, -ENOENT if there is no event of that name, or -EBUSY.
 */
int eventlog_event_delete(const char *name)
{
	unsigned long rcu_cookie = 0;
	int error;

	if (!READ_ONCE(remove_idle) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	error = try_to_delete(name, &rcu_cookie);
	if (error == -EAGAIN) {
		/* The last listener has just detached: wait for a grace period. */
		cond_synchronize_rcu(rcu_cookie);
		error = try_to_delete(name, &rcu_cookie);
	}
	return error == -EAGAIN ? -EBUSY : error;
}

void eventlog_dead_events_exit(void)
{
	tracepoint_synchronize_unregister();
	free_oldest(0);
}

/* No event is left in tracing, because each holds the module. */
void eventlog_events_exit(void)
{
	cancel_delayed_work_sync(&idle_work);
	mutex_lock(&eventlog_registry_lock);
	eventlog_dead_events_exit();
	mutex_unlock(&eventlog_registry_lock);
}
