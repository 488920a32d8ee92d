// SPDX-License-Identifier: GPL-2.0
/*
 * File operations of /dev/eventlog, whose protocol is in
 * uapi/linux/eventlog_device.h. A file is a producer, a subscription, or both.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "source.h"

static int device_open(struct inode *inode, struct file *opened)
{
	struct eventlog_file *file = eventlog_file_make();

	if (IS_ERR(file))
		return PTR_ERR(file);
	opened->private_data = file;
	return stream_open(inode, opened);
}

static int device_release(struct inode *inode, struct file *opened)
{
	eventlog_file_free(opened->private_data);
	return 0;
}

static long device_ioctl(struct file *opened, unsigned int command, unsigned long argument)
{
	switch (command) {
	case EVENTLOG_REGISTER:
		return eventlog_register(opened->private_data, (void __user *)argument);
	case EVENTLOG_DELETE:
		return eventlog_delete((const char __user *)argument);
	case EVENTLOG_UNREGISTER:
		return eventlog_unregister((void __user *)argument);
	case EVENTLOG_PUBLISH:
		return eventlog_publish(opened->private_data, (void __user *)argument);
	case EVENTLOG_UNPUBLISH:
		return eventlog_withdraw(opened->private_data, (void __user *)argument);
	case EVENTLOG_NEXT_LISTENER:
		return eventlog_next_listener(opened->private_data, (void __user *)argument);
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

/*
 * Writes one event. Fails as eventlog_find_slot() and eventlog_deliver() do,
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
	if (!eventlog_slot_is_enabled(slot))
		return -EBADF;
	if (size > sizeof(brief)) {
		payload = kmalloc(size, GFP_KERNEL);
		if (!payload)
			return -ENOMEM;
	}
	error = copy_from_iter_full(payload, size, from) ? 0 : -EFAULT;
	if (!error)
		error = eventlog_deliver(slot, payload, size, 0, 0);
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

struct miscdevice eventlog_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "eventlog",
	.mode = 0660,
	.fops = &device_operations,
};
