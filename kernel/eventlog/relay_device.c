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

	return relay && opened->owns ? eventlog_relay_show(relay) : -EPERM;
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

/* Returns the end of the record with its padding, or 0 if it is invalid. */
static size_t end_of(const struct eventlog_relay *relay, const u8 *batch, size_t begin, size_t size)
{
	const struct eventlog_record *record = (const void *)(batch + begin);
	const size_t room = relay->options.subbuf_size - sizeof(struct eventlog_relay_header);
	size_t length;

	if (size - begin < sizeof(*record))
		return 0;
	if (record->size < sizeof(*record) || record->size > min(size - begin, room))
		return 0;
	length = ALIGN(record->size, EVENTLOG_RECORD_ALIGNMENT);
	if (length > size - begin || record->flags & ~EVENTLOG_RECORD_FLAGS)
		return 0;
	if (memchr_inv((const u8 *)record + record->size, 0, length - record->size))
		return 0;
	return begin + length;
}

static bool is_valid_batch(const struct eventlog_relay *relay, const u8 *batch, size_t size)
{
	size_t begin = 0;

	while (begin < size) {
		begin = end_of(relay, batch, begin, size);
		if (!begin)
			return false;
	}
	return true;
}

/* Each record is written or counted as lost, unless the channel was closed meanwhile. */
static int write_batch(struct eventlog_relay *relay, const u8 *batch, size_t size)
{
	size_t begin = 0;
	int error = 0;

	/* All records go to one buffer, in their order. */
	preempt_disable();
	while (begin < size && error != -ENODEV) {
		const struct eventlog_record *record = (const void *)(batch + begin);

		error = eventlog_relay_write(relay, record);
		begin += ALIGN(record->size, EVENTLOG_RECORD_ALIGNMENT);
	}
	preempt_enable();
	return error == -ENODEV ? error : 0;
}

static ssize_t relay_device_write(struct file *file, const char __user *from, size_t size,
				  loff_t *position)
{
	struct relay_file *opened = file->private_data;
	/* Pairs with the release in set_channel(). */
	struct eventlog_relay *relay = smp_load_acquire(&opened->relay);
	u8 *batch;
	int error;

	if (!relay)
		return -EBADF;
	if (size > EVENTLOG_RELAY_BATCH_MAX)
		return -E2BIG;
	batch = vmemdup_user(from, size);
	if (IS_ERR(batch))
		return PTR_ERR(batch);
	error = is_valid_batch(relay, batch, size) ? write_batch(relay, batch, size) : -EINVAL;
	kvfree(batch);
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
