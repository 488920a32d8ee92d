// SPDX-License-Identifier: GPL-2.0
/*
 * Publications: the providers that programs publish through an open file, with
 * their schemas and the slots of their events.
 *
 * Lock: eventlog_file.lock protects the file's list and the use counts. Memory
 * is allocated before it. A publication is freed when no writer can refer to
 * it.
 */
#include <linux/cred.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "listeners.h"
#include "schema_header.h"

struct published {
	struct eventlog_source source;
	struct list_head node; /* in the file's list; protected by the file's lock */
	u32 use_count; /* how often the process has published this provider */
	u32 pages; /* that were charged */
	u32 notification; /* bits of words that are set when a listener was added */
	struct mm_struct *mm; /* of the publisher, referenced; with `notification` only */
	char name[EVENTLOG_IDENTIFIER_SIZE];
	struct eventlog_published_event *offers;
	struct eventlog_slot **slots; /* by index of the event */
};

static void update_enabled(struct eventlog_source_event *event, bool enabled)
{
	struct published *published = container_of(event->source, struct published, source);

	eventlog_enable_words_update_slot(published->slots[event - event->source->events], enabled);
}

/* The program has to be asked: its next emit finds the bits. */
static void request_dump(struct eventlog_source *source, u64 listener)
{
	struct published *published = container_of(source, struct published, source);
	u32 i;

	for (i = 0; i < source->event_count; i++) {
		eventlog_enable_words_notify(published->slots[i], published->notification,
					     published->mm);
		cond_resched();
	}
}

static bool is_name(const char *name)
{
	return name[0] && strnlen(name, EVENTLOG_IDENTIFIER_SIZE) < EVENTLOG_IDENTIFIER_SIZE;
}

static bool is_valid(const struct eventlog_publication *wanted)
{
	return is_name(wanted->name) && wanted->event_count &&
	       wanted->event_count <= EVENTLOG_EVENTS_MAX && wanted->schema_size &&
	       wanted->schema_size <= EVENTLOG_SCHEMA_SIZE_MAX && !wanted->reserved;
}

static void free_published(struct published *published, struct eventlog_user *user)
{
	if (published->pages)
		eventlog_uncharge(user, EVENTLOG_SCHEMA_PAGES, published->pages);
	if (published->mm)
		mmdrop(published->mm);
	put_pid(published->source.process);
	if (published->source.user_ns)
		put_user_ns(published->source.user_ns);
	kvfree(published->source.schema);
	kvfree(published->source.events);
	kvfree(published->offers);
	kvfree(published->slots);
	kfree(published);
}

/*
 * Returns whether the process has or may have had more rights than its user, as
 * ptrace(2) decides: also if it was setgid or root and has not called exec
 * since.
 */
static bool is_privileged(const struct cred *cred)
{
	return !uid_eq(cred->uid, cred->euid) || !uid_eq(cred->suid, cred->euid) ||
	       !gid_eq(cred->gid, cred->egid) || !gid_eq(cred->sgid, cred->egid) ||
	       !current->mm || get_dumpable(current->mm) != SUID_DUMP_USER;
}

static void fill_in(struct eventlog_source *source, const struct eventlog_user *user)
{
	const struct cred *cred = current_cred();

	source->process = get_pid(task_tgid(current));
	source->uid = cred->euid;
	source->is_private = is_privileged(cred);
	source->capabilities = cred->cap_permitted;
	source->user_ns = get_user_ns(cred->user_ns);
	source->user = eventlog_user_id(user);
	source->start_time = div_u64(current->group_leader->start_boottime,
				     NSEC_PER_SEC / USER_HZ);
	get_task_comm(source->process_name, current->group_leader);
	source->update_enabled = update_enabled;
}

/* Copies the caller's arrays without validating them. Returns 0 or an error. */
static int copy_parts(struct published *published, const struct eventlog_publication *wanted)
{
	const u32 count = wanted->event_count;
	void *copy;

	copy = vmemdup_user(u64_to_user_ptr(wanted->schema), wanted->schema_size);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	published->source.schema = copy;
	copy = vmemdup_user(u64_to_user_ptr(wanted->events), count * sizeof(*published->offers));
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	published->offers = copy;
	published->source.events = kvcalloc(count, sizeof(*published->source.events),
					    GFP_KERNEL_ACCOUNT);
	published->slots = kvcalloc(count, sizeof(*published->slots), GFP_KERNEL_ACCOUNT);
	return published->source.events && published->slots ? 0 : -ENOMEM;
}

static bool init_source_event(struct published *published, u32 i)
{
	const struct eventlog_published_event *offer = &published->offers[i];
	struct eventlog_source_event *event = &published->source.events[i];

	if (!is_name(offer->name) || offer->event >= EVENTLOG_EVENTS_MAX ||
	    offer->level < 1 || offer->level > 5 ||
	    (offer->flags & ~(EVENTLOG_EVENT_SESSION_BOUND | EVENTLOG_EVENT_ALWAYS_DELIVERED)))
		return false;
	event->source = &published->source;
	event->name = offer->name;
	event->keywords = offer->keywords;
	event->id = offer->event;
	event->level = offer->level;
	event->flags = offer->flags;
	return true;
}

/*
 * Returns how many numbers the provider's events get in regions. Consumers expect
 * as many as its schema has events, which may be more than are published. Nothing
 * else of the schema is interpreted.
 */
static u32 count_numbers(const struct published *published)
{
	u32 count = eventlog_schema_event_count(published->source.schema,
						published->source.schema_size);
	u32 i;

	for (i = 0; i < published->source.event_count; i++)
		count = max(count, published->source.events[i].id + 1U);
	return count;
}

static struct published *prepare(const struct eventlog_publication *wanted,
				 struct eventlog_user *user)
{
	struct published *published = kzalloc(sizeof(*published), GFP_KERNEL_ACCOUNT);
	u32 bytes, i;
	int error;

	if (!published)
		return ERR_PTR(-ENOMEM);
	published->use_count = 1;
	strscpy(published->name, wanted->name, sizeof(published->name));
	published->source.name = published->name;
	published->source.schema_size = wanted->schema_size;
	published->source.schema_hash = wanted->schema_hash;
	published->source.event_count = wanted->event_count;
	fill_in(&published->source, user);
	if (wanted->notification && current->mm) {
		published->notification = wanted->notification;
		mmgrab(current->mm);
		published->mm = current->mm;
		published->source.dump = request_dump;
	}
	bytes = wanted->schema_size + wanted->event_count * (sizeof(*published->offers) +
							     sizeof(*published->source.events));
	error = -EMFILE;
	if (eventlog_charge(user, EVENTLOG_SCHEMA_PAGES, DIV_ROUND_UP(bytes, PAGE_SIZE))) {
		published->pages = DIV_ROUND_UP(bytes, PAGE_SIZE);
		error = copy_parts(published, wanted);
	}
	for (i = 0; i < wanted->event_count && !error; i++)
		error = init_source_event(published, i) ? 0 : -EINVAL;
	if (!error) {
		published->source.number_count = count_numbers(published);
		return published;
	}
	free_published(published, user);
	return ERR_PTR(error);
}

/*
 * Counts one more use if this process has published the same provider through
 * this file before. The caller holds the file's lock. Returns the provider's
 * number, -ENOENT if there is none, or -EMFILE.
 */
static int reuse_published(struct eventlog_file *file, const struct eventlog_publication *wanted)
{
	struct published *published;

	list_for_each_entry(published, &file->publications, node) {
		if (published->source.schema_hash != wanted->schema_hash ||
		    published->source.schema_size != wanted->schema_size ||
		    published->source.event_count != wanted->event_count ||
		    published->source.process != task_tgid(current) ||
		    strcmp(published->name, wanted->name))
			continue;
		if (published->use_count == U32_MAX)
			return -EMFILE;
		published->use_count++;
		return published->source.number;
	}
	return -ENOENT;
}

static void unbind_events(struct published *published)
{
	u32 i;

	for (i = 0; i < published->source.event_count; i++)
		if (published->slots[i])
			RCU_INIT_POINTER(published->slots[i]->published, NULL);
}

/* Fails if a slot belongs to an event of another provider. */
static int bind_events(struct eventlog_file *file, struct published *published)
{
	/* Pairs with the release in set_write_index() of registration.c. */
	const u32 count = smp_load_acquire(&file->event_count);
	u32 i;

	for (i = 0; i < published->source.event_count; i++) {
		const u32 index = published->offers[i].write_index;
		struct eventlog_slot *slot;

		if (index >= count)
			return -ENOENT;
		slot = eventlog_slot_of(file, array_index_nospec(index, count));
		if (rcu_access_pointer(slot->published))
			return -EADDRINUSE;
		published->slots[i] = slot;
		rcu_assign_pointer(slot->published, &published->source.events[i]);
	}
	return 0;
}

static void disable_words(struct published *published)
{
	u32 i;

	for (i = 0; i < published->source.event_count; i++)
		if (published->slots[i])
			eventlog_enable_words_update_slot(published->slots[i], false);
}

/* The caller holds the file's lock. Takes over what was prepared, or leaves it on error. */
static int add(struct eventlog_file *file, struct published **prepared)
{
	struct published *published = *prepared;
	int error = bind_events(file, published);

	if (!error)
		error = eventlog_source_publish(&published->source);
	if (error) {
		unbind_events(published);
		synchronize_rcu();
		return error;
	}
	list_add(&published->node, &file->publications);
	*prepared = NULL;
	return published->source.number;
}

/* No writer can refer to its events any more. */
static void discard(struct eventlog_file *file, struct published *published)
{
	list_del(&published->node);
	free_published(published, file->user);
}

/* Drops one use. The caller holds the file's lock. Returns 0 or -ENOENT. */
static int withdraw(struct eventlog_file *file, u32 number)
{
	struct published *published;

	list_for_each_entry(published, &file->publications, node) {
		if (published->source.number != number)
			continue;
		if (--published->use_count)
			return 0;
		unbind_events(published);
		eventlog_source_withdraw(&published->source);
		disable_words(published);
		discard(file, published);
		return 0;
	}
	return -ENOENT;
}

/* Allocates memory before taking the lock, unless the provider is published already. */
static int publish(struct eventlog_file *file, const struct eventlog_publication *wanted)
{
	struct published *published;
	int number;

	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	number = reuse_published(file, wanted);
	mutex_unlock(&file->lock);
	if (number != -ENOENT)
		return number;
	published = prepare(wanted, file->user);
	if (IS_ERR(published))
		return PTR_ERR(published);
	number = -EINTR;
	if (!mutex_lock_killable(&file->lock)) {
		number = reuse_published(file, wanted);
		if (number == -ENOENT)
			number = add(file, &published);
		mutex_unlock(&file->lock);
	}
	if (published)
		free_published(published, file->user);
	return number;
}

/* EVENTLOG_PUBLISH */
long eventlog_publish(struct eventlog_file *file, struct eventlog_publication __user *from)
{
	struct eventlog_publication wanted;
	int number;
	int error;

	error = eventlog_copy_struct(&wanted, sizeof(wanted), from);
	if (error)
		return error;
	if (!is_valid(&wanted))
		return -EINVAL;
	number = publish(file, &wanted);
	if (number < 0)
		return number;
	error = put_user((u32)number, &from->provider);
	if (error) {
		/*
		 * The caller does not know the number. Another thread may have guessed it
		 * and withdrawn it.
		 */
		mutex_lock(&file->lock);
		withdraw(file, number);
		mutex_unlock(&file->lock);
	}
	return error;
}

/* EVENTLOG_UNPUBLISH */
long eventlog_withdraw(struct eventlog_file *file, const u32 __user *from)
{
	u32 number;
	int error;

	if (get_user(number, from))
		return -EFAULT;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	error = withdraw(file, number);
	mutex_unlock(&file->lock);
	return error;
}

/* Returns the serial of the source's next listener above this one, or 0. */
static u64 find_next_listener(const struct eventlog_source *source, u64 after)
{
	u64 next = 0;
	u32 i, k;

	lockdep_assert_held(&eventlog_sources_lock);
	for (i = 0; i < source->event_count; i++) {
		const struct eventlog_listeners *listeners =
			rcu_dereference_protected(source->events[i].listeners,
						  lockdep_is_held(&eventlog_sources_lock));

		for (k = 0; listeners && k < listeners->count; k++) {
			const struct eventlog_listener *listener = &listeners->entries[k];

			if (listener->consumer && listener->serial > after &&
			    (!next || listener->serial < next))
				next = listener->serial;
		}
		cond_resched();
	}
	return next;
}

/* The caller holds the file's lock. Returns 0 or -ENOENT. */
static int next_listener(struct eventlog_file *file, struct eventlog_listener_query *query)
{
	struct published *published;

	list_for_each_entry(published, &file->publications, node) {
		if (published->source.number != query->provider)
			continue;
		mutex_lock(&eventlog_sources_lock);
		query->listener = find_next_listener(&published->source, query->listener);
		mutex_unlock(&eventlog_sources_lock);
		return query->listener ? 0 : -ENOENT;
	}
	return -ENOENT;
}

/* EVENTLOG_NEXT_LISTENER */
long eventlog_next_listener(struct eventlog_file *file, struct eventlog_listener_query __user *from)
{
	struct eventlog_listener_query query;
	int error = eventlog_copy_struct(&query, sizeof(query), from);

	if (error)
		return error;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	error = next_listener(file, &query);
	mutex_unlock(&file->lock);
	return error ?: put_user(query.listener, &from->listener);
}

/*
 * Called when the file is closed: there are no writers. Words keep their bits:
 * see eventlog_enable_words_remove_all().
 */
void eventlog_withdraw_all(struct eventlog_file *file)
{
	struct published *published, *next;

	list_for_each_entry_safe(published, next, &file->publications, node) {
		eventlog_source_withdraw_nosync(&published->source);
		discard(file, published);
	}
}
