// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/eventlog: file operations, registration of events, and writing them.
 *
 * The protocol is in uapi/linux/eventlog_device.h. A file is a producer, a
 * subscription, or both.
 *
 * Locks: registering takes eventlog_registry_lock; everything that allocates
 * memory or touches the caller's memory runs before it. Writing an event takes
 * no lock.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "source.h"

static int device_open(struct inode *inode, struct file *opened)
{
	struct eventlog_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return -ENOMEM;
	file->user = eventlog_user_get();
	if (!file->user) {
		kfree(file);
		return -ENOMEM;
	}
	if (!eventlog_charge(file->user, EVENTLOG_FILES, 1)) {
		eventlog_user_put(file->user);
		kfree(file);
		return -EMFILE;
	}
	INIT_LIST_HEAD(&file->pages);
	INIT_LIST_HEAD(&file->publications);
	mutex_init(&file->lock);
	opened->private_data = file;
	return stream_open(inode, opened);
}

/* The caller has checked that the file has this event. */
struct eventlog_slot *eventlog_slot_of(struct eventlog_file *file, u32 index)
{
	return &file->chunks[index / EVENTLOG_EVENTS_PER_CHUNK][index % EVENTLOG_EVENTS_PER_CHUNK];
}

static int device_release(struct inode *inode, struct file *opened)
{
	struct eventlog_file *file = opened->private_data;
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
	eventlog_uncharge(file->user, EVENTLOG_FILES, 1);
	eventlog_user_put(file->user);
	kfree(file);
	return 0;
}

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
			    struct registration_parts *registration_parts)
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
		*chunk = registration_parts->chunk;
		registration_parts->chunk = NULL;
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
static int add_locked(struct eventlog_file *file, u16 flags,
		      struct registration_parts *registration_parts, struct list_head *unused)
{
	struct eventlog_event *event =
		eventlog_event_get(registration_parts->event, flags, file->user);
	int number, error;

	if (IS_ERR(event))
		return PTR_ERR(event);
	if (event == registration_parts->event)
		registration_parts->event = NULL;
	number = find_write_index(file, event, registration_parts);
	error = number;
	if (number >= 0) {
		struct eventlog_slot *slot = eventlog_slot_of(file, number);

		slot->event = event;
		error = eventlog_enable_word_add(registration_parts->word, file, event, slot,
						 unused);
	}
	if (error) {
		eventlog_event_put(event);
		return error;
	}
	registration_parts->word = NULL;
	set_write_index(file, event, number);
	return number;
}

static void free_parts(struct registration_parts *registration_parts)
{
	if (registration_parts->word)
		eventlog_enable_word_discard(registration_parts->word);
	kfree(registration_parts->chunk);
	if (registration_parts->event)
		eventlog_event_free(registration_parts->event);
}

/* Takes over layout and word in any case. */
static int add_event(struct eventlog_file *file, struct eventlog_layout *layout, u16 flags,
		     struct eventlog_enable_word *word)
{
	struct registration_parts registration_parts = { .word = word };
	LIST_HEAD(unused);
	int number = -ENOMEM;

	registration_parts.event = eventlog_event_prepare(layout);
	if (IS_ERR(registration_parts.event))
		registration_parts.event = NULL;
	registration_parts.chunk = kcalloc(EVENTLOG_EVENTS_PER_CHUNK,
					   sizeof(*registration_parts.chunk), GFP_KERNEL_ACCOUNT);
	if (registration_parts.event && registration_parts.chunk) {
		number = -EINTR;
		if (!mutex_lock_killable(&eventlog_registry_lock)) {
			number = add_locked(file, flags, &registration_parts, &unused);
			mutex_unlock(&eventlog_registry_lock);
		}
	}
	eventlog_pinned_pages_free(&unused);
	free_parts(&registration_parts);
	return number;
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

static long do_register(struct eventlog_file *file, struct eventlog_registration __user *from)
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

static long do_unregister(struct eventlog_unregistration __user *from)
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

static long do_delete(const char __user *from)
{
	char *name = strndup_user(from, EVENTLOG_DESCRIPTION_MAX);
	long error;

	if (IS_ERR(name))
		return PTR_ERR(name);
	error = eventlog_event_delete(name);
	kfree(name);
	return error;
}

static long device_ioctl(struct file *opened, unsigned int command, unsigned long argument)
{
	switch (command) {
	case EVENTLOG_REGISTER:
		return do_register(opened->private_data, (void __user *)argument);
	case EVENTLOG_DELETE:
		return do_delete((const char __user *)argument);
	case EVENTLOG_UNREGISTER:
		return do_unregister((void __user *)argument);
	case EVENTLOG_PUBLISH:
		return eventlog_publish(opened->private_data, (void __user *)argument);
	case EVENTLOG_UNPUBLISH:
		return eventlog_withdraw(opened->private_data, (void __user *)argument);
	case EVENTLOG_SUBSCRIBE:
		if (!(opened->f_mode & FMODE_READ))
			return -EBADF;
		return eventlog_subscribe(opened->private_data, (void __user *)argument);
	case EVENTLOG_STOP:
		return eventlog_end(opened->private_data);
	case EVENTLOG_RELEASE_BUFFERS:
		return eventlog_ioctl_release_buffers(opened->private_data,
						      (void __user *)argument);
	case EVENTLOG_STATISTICS:
		return eventlog_statistics(opened->private_data, (void __user *)argument);
	case EVENTLOG_NEXT_PROVIDER:
		return eventlog_next_provider((void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static bool is_enabled(const struct eventlog_slot *slot)
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
 * Delivers a payload to tracing and to subscriptions. Returns -EFAULT if a word
 * in the payload points outside; without listeners the payload is not checked.
 * May modify the payload.
 */
int eventlog_hand_over(const struct eventlog_slot *slot, u8 *payload, size_t size, u64 time)
{
	const bool traced = READ_ONCE(slot->event->enabled);
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
 * Writes one event. Fails as eventlog_find_slot() and eventlog_hand_over() do,
 * and with -EBADF if the event has no listeners.
 */
static int write_event(struct eventlog_file *file, u32 index, size_t size, struct iov_iter *from)
{
	const struct eventlog_slot *slot = eventlog_find_slot(file, index, size);
	u8 brief[256] __aligned(8);
	u8 *payload = brief;
	int error;

	if (IS_ERR(slot))
		return PTR_ERR(slot);
	if (!is_enabled(slot))
		return -EBADF;
	if (size > sizeof(brief)) {
		payload = kmalloc(size, GFP_KERNEL);
		if (!payload)
			return -ENOMEM;
	}
	error = copy_from_iter_full(payload, size, from) ? 0 : -EFAULT;
	if (!error)
		error = eventlog_hand_over(slot, payload, size, 0);
	if (payload != brief)
		kfree(payload);
	return error;
}

/* One event, as write_index and payload; or EVENTLOG_BATCH and many events. */
static ssize_t device_write(struct kiocb *kiocb, struct iov_iter *from)
{
	struct eventlog_file *file = kiocb->ki_filp->private_data;
	const size_t total = iov_iter_count(from);
	u32 index;
	int error;

	if (!copy_from_iter_full(&index, sizeof(index), from))
		return -EFAULT;
	if (index == EVENTLOG_BATCH)
		return eventlog_write_batch(file, from, total);
	error = write_event(file, index, iov_iter_count(from), from);
	return error ? error : total;
}

static ssize_t device_read(struct kiocb *kiocb, struct iov_iter *to)
{
	struct file *opened = kiocb->ki_filp;
	struct eventlog_subscription *subscription = eventlog_subscription_of(opened);
	const bool may_wait = !(opened->f_flags & O_NONBLOCK) &&
			      !(kiocb->ki_flags & IOCB_NOWAIT);

	if (!subscription)
		return -EINVAL;
	return iov_iter_count(to) ? eventlog_read(subscription, to, may_wait) : 0;
}

/* A file that is no subscription is always writable. */
static __poll_t device_poll(struct file *opened, struct poll_table_struct *table)
{
	struct eventlog_subscription *subscription = eventlog_subscription_of(opened);
	const __poll_t writable = EPOLLOUT | EPOLLWRNORM;

	return subscription ? writable | eventlog_poll(subscription, opened, table) : writable;
}

static int device_mmap(struct file *opened, struct vm_area_struct *area)
{
	struct eventlog_subscription *subscription = eventlog_subscription_of(opened);

	return subscription ? eventlog_region_map(&subscription->memory, area) : -EINVAL;
}

static const struct file_operations device_operations = {
	.owner = THIS_MODULE,
	.open = device_open,
	.release = device_release,
	.unlocked_ioctl = device_ioctl,
	.write_iter = device_write,
	.read_iter = device_read,
	.poll = device_poll,
	.mmap = device_mmap,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog",
	.mode = 0660,
	.fops = &device_operations,
};

int eventlog_device_init(void)
{
	return misc_register(&device);
}

void eventlog_device_exit(void)
{
	misc_deregister(&device);
}
