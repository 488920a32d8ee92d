// SPDX-License-Identifier: GPL-2.0
/*
 * All events by name, and how long they stay.
 *
 * An event has users, the open files that have registered it.  Without any, it
 * is idle, and removed if nobody listens to it then; a moment later, since
 * programs are started again.  Where it is not safe to remove any, they stay.
 */
#include <linux/capability.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/stringhash.h>
#include <linux/workqueue.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"

/* So that others are not kept waiting for tracing while many are removed. */
#define REMOVE_BATCH_MAX 64

/* Which events there are, and who uses them. */
DEFINE_MUTEX(eventlog_registry_lock);

static DEFINE_HASHTABLE(events, 10);
static LIST_HEAD(idle_events);

static void remove_idle_events(struct work_struct *work);
static DECLARE_DELAYED_WORK(idle_work, remove_idle_events);

/*
 * Before Linux 6.6 tracing frees what the files of a removed event in tracefs
 * refer to, under those who have opened them.  So there nobody but root may
 * have events removed, as whoever builds the module for such a kernel says.
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
	/* Before and after the module's life there are none. */
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
MODULE_PARM_DESC(remove_idle, "Remove events that nobody uses, else only root can");

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

/* What is dead counts for nobody. */
static void uncharge_user(struct eventlog_event *event)
{
	if (event->user) {
		eventlog_uncharge(event->user, EVENTLOG_EVENTS, 1);
		eventlog_user_put(event->user);
		event->user = NULL;
	}
}

/* Of an event that tracing does not know, or not any more. */
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
 * An event of which nobody knows yet, for eventlog_event_get(), or to be freed.
 * Takes the layout over, in any case.  Returns -ENOMEM if there is no memory.
 * Whoever has little may be kept waiting for it: so without any lock.
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
 * Returns the event.  What tracing knows keeps the module: others may refer to
 * an event without listening to it, as probes on it do.
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
 * The event of the name and the fields of the prepared one, with one more user:
 * that one itself, if there is none yet, else the caller frees it, without the
 * lock.  Returns -EADDRINUSE if the event of this name has other fields,
 * -EMFILE if there are as many as may be, -EBUSY if tracing is off, or -ENOMEM.
 * With eventlog_registry_lock held.
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

/* With eventlog_registry_lock held. */
void eventlog_event_put(struct eventlog_event *event)
{
	lockdep_assert_held(&eventlog_registry_lock);
	if (--event->users)
		return;
	list_add_tail(&event->idle, &idle_events);
	eventlog_events_schedule_cleanup();
}

/* Soon, if it has not been asked for already.  Any context. */
void eventlog_events_schedule_cleanup(void)
{
	schedule_delayed_work(&idle_work, HZ);
}

/* With event_mutex held: removes those of the list that nobody listens to. */
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

/* Removes what can be of the list, and puts the rest back.  Returns whether nothing is left. */
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

/* How many that probably can be removed have been moved to the list. */
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

/* Returns whether there may be more that can be removed now. */
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
	/* Of those that have listeners, the last one to go tells. */
	list_for_each_entry(event, &idle_events, idle) {
		if (!READ_ONCE(event->probe_count)) {
			eventlog_events_schedule_cleanup();
			break;
		}
	}
	mutex_unlock(&eventlog_registry_lock);
	return all && count == REMOVE_BATCH_MAX;
}

/* A while after there have been idle ones, and again as long as some are left. */
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
 * Removes an event that nobody uses at once.  Returns 0, -EPERM if only root
 * may, -ENOENT if there is none of that name, or -EBUSY.
 */
int eventlog_event_delete(const char *name)
{
	unsigned long rcu_cookie = 0;
	int error;

	if (!READ_ONCE(remove_idle) && !capable(CAP_SYS_ADMIN))
		return -EPERM;
	error = try_to_delete(name, &rcu_cookie);
	if (error == -EAGAIN) {
		/* Whoever listened has just gone. */
		cond_synchronize_rcu(rcu_cookie);
		error = try_to_delete(name, &rcu_cookie);
	}
	return error == -EAGAIN ? -EBUSY : error;
}

/* There is no event any more: each has kept the module. */
void eventlog_events_exit(void)
{
	cancel_delayed_work_sync(&idle_work);
	mutex_lock(&eventlog_registry_lock);
	eventlog_dead_events_exit();
	mutex_unlock(&eventlog_registry_lock);
}
