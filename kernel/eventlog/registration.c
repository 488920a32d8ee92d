// SPDX-License-Identifier: GPL-2.0
/*
 * Registers events of programs with an open file, each with an enable word: see
 * EVENTLOG_REGISTER in uapi/linux/eventlog_device.h.
 *
 * Everything that allocates memory or touches the caller's memory runs before
 * eventlog_registry_lock is taken.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"

/*
 * What a registration needs, allocated before any lock is taken: a process with
 * little memory may wait in the allocator. A part that was used is NULL
 * afterwards.
 */
struct registration_parts {
	struct eventlog_event *event;
	struct eventlog_slot *chunk;
	struct eventlog_enable_word *word;
};

/* Returns the event's write_index, the next free one if the file lacks the event, or an error. */
static int find_write_index(struct eventlog_file *file, const struct eventlog_event *event,
			    struct registration_parts *parts)
{
	const u32 count = file->event_count;
	struct eventlog_slot **chunk;
	u32 i;

	for (i = 0; i < count; i++)
		if (eventlog_slot_of(file, i)->event == event)
			return i;
	if (count == EVENTLOG_EVENTS_PER_FILE)
		return -EMFILE;
	chunk = &file->chunks[count / EVENTLOG_EVENTS_PER_CHUNK];
	if (!*chunk) {
		*chunk = parts->chunk;
		parts->chunk = NULL;
	}
	return count;
}

/* Takes over the caller's reference to the event. */
static void set_write_index(struct eventlog_file *file, struct eventlog_event *event, u32 number)
{
	if (number < file->event_count) {
		eventlog_event_put(event);
		return;
	}
	/*
	 * Pairs with the acquire in eventlog_find_slot(): a reader of the count sees the
	 * slot's event.
	 */
	smp_store_release(&file->event_count, number + 1);
}

/* The caller holds eventlog_registry_lock. Returns the event's write_index, or an error. */
static int add_locked(struct eventlog_file *file, u16 flags, struct registration_parts *parts,
		      struct list_head *unused)
{
	struct eventlog_event *event = eventlog_event_get(parts->event, flags, file->user);
	int number, error;

	if (IS_ERR(event))
		return PTR_ERR(event);
	if (event == parts->event)
		parts->event = NULL;
	number = find_write_index(file, event, parts);
	error = number;
	if (number >= 0) {
		struct eventlog_slot *slot = eventlog_slot_of(file, number);

		slot->event = event;
		error = eventlog_enable_word_add(parts->word, file, event, slot, unused);
	}
	if (error) {
		eventlog_event_put(event);
		return error;
	}
	parts->word = NULL;
	set_write_index(file, event, number);
	return number;
}

static void free_parts(struct registration_parts *parts)
{
	if (parts->word)
		eventlog_enable_word_discard(parts->word);
	kfree(parts->chunk);
	if (parts->event)
		eventlog_event_free(parts->event);
}

/* Takes over layout and word in any case. */
static int add_event(struct eventlog_file *file, struct eventlog_layout *layout, u16 flags,
		     struct eventlog_enable_word *word)
{
	struct registration_parts parts = { .word = word };
	LIST_HEAD(unused);
	int number = -ENOMEM;

	parts.event = eventlog_event_prepare(layout);
	if (IS_ERR(parts.event))
		parts.event = NULL;
	parts.chunk = kcalloc(EVENTLOG_EVENTS_PER_CHUNK, sizeof(*parts.chunk), GFP_KERNEL_ACCOUNT);
	if (parts.event && parts.chunk) {
		number = -EINTR;
		if (!mutex_lock_killable(&eventlog_registry_lock)) {
			number = add_locked(file, flags, &parts, &unused);
			mutex_unlock(&eventlog_registry_lock);
		}
	}
	eventlog_pinned_pages_free(&unused);
	free_parts(&parts);
	return number;
}

static struct eventlog_layout *get_layout(u64 address)
{
	struct eventlog_layout *layout;
	char *description;

	description = strndup_user(u64_to_user_ptr(address), EVENTLOG_DESCRIPTION_MAX);
	if (IS_ERR(description))
		return ERR_CAST(description);
	layout = eventlog_layout_parse(description);
	kfree(description);
	return layout;
}

/* EVENTLOG_REGISTER */
long eventlog_register(struct eventlog_file *file, struct eventlog_registration __user *from)
{
	struct eventlog_registration wanted;
	struct eventlog_layout *layout;
	struct eventlog_enable_word *word;
	int number;
	int error;

	error = eventlog_copy_struct(&wanted, sizeof(wanted), from);
	if (error)
		return error;
	if (wanted.flags & ~EVENTLOG_REGISTER_MULTI_FORMAT)
		return -EINVAL;
	if (wanted.enable_addr != (unsigned long)wanted.enable_addr)
		return -EFAULT;
	if (eventlog_enable_word_exists(wanted.enable_addr, wanted.enable_bit))
		return -EADDRINUSE;
	layout = get_layout(wanted.name_args);
	if (IS_ERR(layout))
		return PTR_ERR(layout);
	word = eventlog_enable_word_prepare(wanted.enable_addr, wanted.enable_size,
					    wanted.enable_bit);
	if (IS_ERR(word)) {
		eventlog_layout_free(layout);
		return PTR_ERR(word);
	}
	number = add_event(file, layout, wanted.flags, word);
	if (number < 0)
		return number;
	error = put_user((u32)number, &from->write_index);
	/* The caller does not know of this word. The event stays until the file is closed. */
	if (error)
		eventlog_enable_word_remove(wanted.enable_addr, wanted.enable_bit);
	return error;
}

/* EVENTLOG_UNREGISTER */
long eventlog_unregister(struct eventlog_unregistration __user *from)
{
	struct eventlog_unregistration wanted;
	const int error = eventlog_copy_struct(&wanted, sizeof(wanted), from);

	if (error)
		return error;
	if (wanted.reserved_byte || wanted.reserved)
		return -EINVAL;
	if (wanted.disable_addr != (unsigned long)wanted.disable_addr)
		return -ENOENT;
	return eventlog_enable_word_remove(wanted.disable_addr, wanted.disable_bit);
}

/* EVENTLOG_DELETE */
long eventlog_delete(const char __user *from)
{
	char *name = strndup_user(from, EVENTLOG_DESCRIPTION_MAX);
	long error;

	if (IS_ERR(name))
		return PTR_ERR(name);
	error = eventlog_event_delete(name);
	kfree(name);
	return error;
}
