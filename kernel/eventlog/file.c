// SPDX-License-Identifier: GPL-2.0
/*
 * What an open file of /dev/eventlog is to the rest of the module: its slots, and
 * delivering the payloads that are written to them.
 *
 * Slots are added under eventlog_registry_lock and stay until the file is closed.
 * Finding one and delivering to its listeners takes no lock.
 */
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "source.h"

/* Returns a new file, -ENOMEM, or -EMFILE at the user's limit. */
struct eventlog_file *eventlog_file_make(void)
{
	struct eventlog_user *user = eventlog_user_get_for_file();
	struct eventlog_file *file;

	if (IS_ERR(user))
		return ERR_CAST(user);
	file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file) {
		eventlog_user_put_for_file(user);
		return ERR_PTR(-ENOMEM);
	}
	file->user = user;
	INIT_LIST_HEAD(&file->pages);
	INIT_LIST_HEAD(&file->publications);
	mutex_init(&file->lock);
	return file;
}

void eventlog_file_free(struct eventlog_file *file)
{
	u32 i;

	if (file->subscription)
		eventlog_subscription_free(file->subscription);
	eventlog_withdraw_all(file);
	eventlog_enable_words_remove_all(file);
	mutex_lock(&eventlog_registry_lock);
	for (i = 0; i < file->event_count; i++)
		eventlog_event_put(eventlog_slot_of(file, i)->event);
	mutex_unlock(&eventlog_registry_lock);
	for (i = 0; i < EVENTLOG_CHUNKS_PER_FILE; i++)
		kfree(file->chunks[i]);
	eventlog_user_put_for_file(file->user);
	kfree(file);
}

/* The caller has checked that the file has this event. */
struct eventlog_slot *eventlog_slot_of(struct eventlog_file *file, u32 index)
{
	return &file->chunks[index / EVENTLOG_EVENTS_PER_CHUNK][index % EVENTLOG_EVENTS_PER_CHUNK];
}

/* Returns whether tracing or a subscription has enabled the event. */
bool eventlog_slot_is_enabled(const struct eventlog_slot *slot)
{
	const struct eventlog_source_event *published;
	bool enabled = READ_ONCE(slot->event->enabled);

	rcu_read_lock();
	published = rcu_dereference(slot->published);
	if (published)
		enabled |= eventlog_source_event_enabled(published);
	rcu_read_unlock();
	return enabled;
}

/*
 * Delivers a payload to tracing and to subscriptions, or, with a serial in `only`,
 * to one listener. Returns -EFAULT if a word in the payload points outside; without
 * listeners the payload is not checked. May modify the payload.
 */
int eventlog_deliver(const struct eventlog_slot *slot, u8 *payload, size_t size, u64 time,
		     u64 only)
{
	const bool traced = !only && READ_ONCE(slot->event->enabled);
	const struct eventlog_source_event *published;
	bool wanted;
	int error = 0;

	rcu_read_lock();
	published = rcu_dereference(slot->published);
	wanted = published && eventlog_source_event_enabled(published);
	if (wanted || traced)
		error = eventlog_payload_check(slot->event->layout, payload, size);
	if (wanted && !error) {
		const struct eventlog_event_instance instance = {
			.event = published,
			.payload = payload,
			.size = size,
			.time = time,
			.only = only,
		};

		eventlog_source_event_write(&instance);
	}
	rcu_read_unlock();
	if (!traced || error)
		return error;
	eventlog_payload_make_absolute(slot->event->layout, payload);
	eventlog_trace_event_fire(slot->event, payload, size);
	return 0;
}

/*
 * Returns the slot of a write_index, for a payload of `size` bytes; -ENOENT if
 * the file does not have it, -EINVAL or -E2BIG for a payload that is too short
 * or too long.
 */
const struct eventlog_slot *eventlog_find_slot(struct eventlog_file *file, u32 index,
					       size_t size)
{
	/* Pairs with the release in set_write_index(): the slot's event is visible, too. */
	const u32 count = smp_load_acquire(&file->event_count);
	const struct eventlog_slot *slot;

	if (index >= count)
		return ERR_PTR(-ENOENT);
	slot = eventlog_slot_of(file, array_index_nospec(index, count));
	if (size < slot->event->layout->size)
		return ERR_PTR(-EINVAL);
	return size > EVENTLOG_PAYLOAD_MAX ? ERR_PTR(-E2BIG) : slot;
}

/*
 * Copies a struct that user space passes with its size. `first_size` is its
 * size in the first version of the ABI: fields that an older program lacks are
 * 0. Fields that this module does not know have to be 0.
 */
int eventlog_copy_versioned_struct(void *known, size_t known_size, size_t first_size,
				   void __user *from)
{
	u32 size;

	if (get_user(size, (u32 __user *)from))
		return -EFAULT;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < first_size)
		return -EINVAL;
	return copy_struct_from_user(known, known_size, from, size);
}

/* For structs that have not grown since the first version. */
int eventlog_copy_struct(void *known, size_t known_size, void __user *from)
{
	return eventlog_copy_versioned_struct(known, known_size, known_size, from);
}
