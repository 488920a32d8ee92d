// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/eventlog_relay: creating channels, attaching to them, and writing
 * batches of records. The protocol is in uapi/linux/eventlog_relay.h.
 *
 * Lock: relay_file.lock serializes setting the channel. Writing takes no lock
 * of the file.
 */
#include <linux/capability.h>
#include <linux/debugfs.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "eventlog.h"
#include "record.h"
#include "relay.h"

struct relay_file {
	struct eventlog_user *user;
	struct mutex lock; /* serializes setting the channel */
	struct eventlog_relay *relay; /* set once, with release, after `owns` */
	bool owns;
};

static int relay_device_open(struct inode *inode, struct file *file)
{
	struct eventlog_user *user = eventlog_user_get_for_file();
	struct relay_file *opened;

	if (IS_ERR(user))
		return PTR_ERR(user);
	opened = kzalloc(sizeof(*opened), GFP_KERNEL_ACCOUNT);
	if (!opened) {
		eventlog_user_put_for_file(user);
		return -ENOMEM;
	}
	mutex_init(&opened->lock);
	opened->user = user;
	file->private_data = opened;
	return stream_open(inode, file);
}

static int relay_device_release(struct inode *inode, struct file *file)
{
	struct relay_file *opened = file->private_data;

	if (opened->relay && opened->owns)
		eventlog_relay_close(opened->relay);
	else if (opened->relay)
		eventlog_relay_put(opened->relay);
	eventlog_user_put_for_file(opened->user);
	kfree(opened);
	return 0;
}

/* The caller holds the lock. Sets the file's channel for good. */
static void set_channel(struct relay_file *opened, struct eventlog_relay *relay, bool owns)
{
	opened->owns = owns;
	/* Pairs with the acquires of `relay`: a writer sees the channel and `owns`. */
	smp_store_release(&opened->relay, relay);
}

static long do_create(struct relay_file *opened, const void __user *from)
{
	struct eventlog_relay_options options;
	struct eventlog_relay *relay;
	long error = -EBUSY;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (copy_from_user(&options, from, sizeof(options)))
		return -EFAULT;
	if (options.size != sizeof(options))
		return -EINVAL;
	if (mutex_lock_killable(&opened->lock))
		return -EINTR;
	if (!opened->relay) {
		relay = eventlog_relay_open(&options);
		error = PTR_ERR_OR_ZERO(relay);
		if (!error)
			set_channel(opened, relay, true);
	}
	mutex_unlock(&opened->lock);
	return error;
}

static long do_attach(struct relay_file *opened, const void __user *from)
{
	char name[EVENTLOG_RELAY_NAME_SIZE];
	struct eventlog_relay *relay;
	long error = -EBUSY;

	if (copy_from_user(name, from, sizeof(name)))
		return -EFAULT;
	if (strnlen(name, sizeof(name)) == sizeof(name))
		return -EINVAL;
	if (mutex_lock_killable(&opened->lock))
		return -EINTR;
	if (!opened->relay) {
		relay = eventlog_relay_find(name);
		error = relay ? 0 : -ENOENT;
		if (relay && eventlog_relay_has_flag(relay, EVENTLOG_RELAY_PRIVATE)) {
			eventlog_relay_put(relay);
			error = -EPERM;
		} else if (relay) {
			set_channel(opened, relay, false);
		}
	}
	mutex_unlock(&opened->lock);
	return error;
}

static long do_show(struct relay_file *opened)
{
	/* Pairs with the release in set_channel(): `owns` is visible, too. */
	struct eventlog_relay *relay = smp_load_acquire(&opened->relay);

	return relay && opened->owns ? eventlog_relay_create_files(relay) : -EPERM;
}

static long relay_device_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct relay_file *opened = file->private_data;
	void __user *from = (void __user *)argument;

	switch (command) {
	case EVENTLOG_RELAY_CREATE:
		return do_create(opened, from);
	case EVENTLOG_RELAY_ATTACH:
		return do_attach(opened, from);
	case EVENTLOG_RELAY_CREATE_FILES:
		return do_show(opened);
	default:
		return -ENOTTY;
	}
}

/* A batch while it is read from its beginning. */
struct batch {
	const u8 *bytes;
	size_t size;
	size_t at;
	u64 context; /* of the last CONTEXT record; 0: none */
};

/* Reads an EXTENDED record behind its first word. Returns the size of its header, or 0. */
static size_t read_extended(const struct batch *batch, u64 head,
			    struct eventlog_relay_record *record)
{
	const u64 *words = (const u64 *)(batch->bytes + batch->at);
	u64 last;

	if (batch->size - batch->at < EVENTLOG_EXTENDED_HEADER_SIZE)
		return 0;
	last = words[2];
	record->thread = words[1] >> EVENTLOG_THREAD_SHIFT;
	record->time = words[1] << 32 | (u32)head;
	record->flags = eventlog_record_flags(last);
	record->size = eventlog_record_extended_size(last);
	/* No extension words. */
	if (eventlog_record_short_size(head) || last >> EVENTLOG_EXTENSION_SHIFT ||
	    record->flags & ~EVENTLOG_RECORD_FLAGS)
		return 0;
	return EVENTLOG_EXTENDED_HEADER_SIZE;
}

/* Returns the size of the header of the next record, or 0 if it is invalid. */
static size_t read_header(struct batch *batch, struct eventlog_relay_record *record)
{
	const u64 *words = (const u64 *)(batch->bytes + batch->at);
	size_t header = EVENTLOG_SHORT_HEADER_SIZE;

	if (batch->size - batch->at < EVENTLOG_SHORT_HEADER_SIZE)
		return 0;
	record->event = words[0] >> EVENTLOG_EVENT_SHIFT;
	switch (eventlog_record_kind(words[0])) {
	case EVENTLOG_KIND_SHORT:
		break;
	case EVENTLOG_KIND_CONTEXT:
		header = EVENTLOG_CONTEXT_HEADER_SIZE;
		if (batch->size - batch->at < header)
			return 0;
		batch->context = words[1];
		break;
	case EVENTLOG_KIND_EXTENDED:
		return read_extended(batch, words[0], record);
	default:
		return 0;
	}
	record->thread = batch->context >> EVENTLOG_THREAD_SHIFT;
	record->time = batch->context << 32 | (u32)words[0];
	record->flags = 0;
	record->size = eventlog_record_short_size(words[0]);
	/* Context 0 is none: only the record that has it can be read. */
	return batch->context || header != EVENTLOG_SHORT_HEADER_SIZE ? header : 0;
}

/*
 * Reads the next record, with its padding. Returns false if it is invalid. Both
 * passes over a batch find the same, because it is a copy.
 */
static bool read_record(struct batch *batch, struct eventlog_relay_record *record)
{
	const size_t header = read_header(batch, record);
	const size_t padded = ALIGN(record->size, EVENTLOG_RECORD_ALIGNMENT);
	const u8 *payload = batch->bytes + batch->at + header;

	if (!header || !record->event || padded > batch->size - batch->at - header ||
	    memchr_inv(payload + record->size, 0, padded - record->size))
		return false;
	record->payload = payload;
	batch->at += header + padded;
	return true;
}

static bool is_valid_batch(const struct eventlog_relay *relay, struct batch batch)
{
	const size_t room = relay->options.subbuf_size - sizeof(struct eventlog_relay_header);
	struct eventlog_relay_record record = { };

	while (batch.at < batch.size)
		if (!read_record(&batch, &record) ||
		    EVENTLOG_EXTENDED_HEADER_SIZE + record.size > room)
			return false;
	return true;
}

/* Each record is written or counted as lost, unless the channel was closed meanwhile. */
static int write_batch(struct eventlog_relay *relay, struct batch batch)
{
	struct eventlog_relay_record record = { };
	int error = 0;

	/* All records go to one buffer, in their order. */
	preempt_disable();
	while (batch.at < batch.size && error != -ENODEV && read_record(&batch, &record))
		error = eventlog_relay_write(relay, &record);
	preempt_enable();
	return error == -ENODEV ? error : 0;
}

static ssize_t relay_device_write(struct file *file, const char __user *from, size_t size,
				  loff_t *position)
{
	struct relay_file *opened = file->private_data;
	/* Pairs with the release in set_channel(). */
	struct eventlog_relay *relay = smp_load_acquire(&opened->relay);
	struct batch batch = { .size = size };
	void *copy;
	int error;

	if (!relay)
		return -EBADF;
	if (size > EVENTLOG_RELAY_BATCH_MAX)
		return -E2BIG;
	copy = vmemdup_user(from, size);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	batch.bytes = copy;
	error = is_valid_batch(relay, batch) ? write_batch(relay, batch) : -EINVAL;
	kvfree(copy);
	return error ? error : size;
}

static const struct file_operations relay_device_operations = {
	.owner = THIS_MODULE,
	.open = relay_device_open,
	.release = relay_device_release,
	.unlocked_ioctl = relay_device_ioctl,
	.write = relay_device_write,
};

/*
 * Returns the channel that an open file of the caller has created, until
 * eventlog_relay_put(). Having such a file permits everything. Returns -EBADF
 * or -EINVAL for any other file.
 */
struct eventlog_relay *eventlog_relay_from_fd(int number)
{
	struct file *file = fget(number);
	struct eventlog_relay *relay = ERR_PTR(-EINVAL);

	if (!file)
		return ERR_PTR(-EBADF);
	if (file->f_op == &relay_device_operations) {
		const struct relay_file *opened = file->private_data;
		/* Pairs with the release in set_channel(): `owns` is visible, too. */
		struct eventlog_relay *made = smp_load_acquire(&opened->relay);

		if (made && opened->owns) {
			kref_get(&made->references);
			relay = made;
		}
	}
	fput(file);
	return relay;
}

static struct miscdevice relay_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog_relay",
	.mode = 0660,
	.fops = &relay_device_operations,
};

int eventlog_relay_init(void)
{
	int error;

	eventlog_relay_root = debugfs_create_dir("eventlog", NULL);
	error = misc_register(&relay_device);
	if (error)
		debugfs_remove(eventlog_relay_root);
	return error;
}

void eventlog_relay_exit(void)
{
	misc_deregister(&relay_device);
	debugfs_remove(eventlog_relay_root);
}
