// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a buffer of a relay channel beside its writer.  relay's own read looks
 * at where the writer is while that moves on: it may then give a sub-buffer
 * twice, or what was in one before.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "relay.h"

/* Where a writer was that was at no record. */
struct place {
	struct rchan_buf *buffer;
	size_t produced;
	size_t offset; /* in the sub-buffer after those; more than its size: there is none */
};

/* On the buffer's CPU, or while that is off. */
static void look(void *data)
{
	struct place *place = data;
	struct eventlog_relay *relay = place->buffer->chan->private_data;
	unsigned long flags;

	if (WARN_ON_ONCE(!eventlog_relay_enter(relay, true, &flags)))
		return;
	place->produced = place->buffer->subbufs_produced;
	place->offset = place->buffer->offset;
	eventlog_relay_leave(relay, true, flags);
}

static void find(struct place *place)
{
	cpus_read_lock();
	eventlog_relay_run_beside(place->buffer, look, place);
	cpus_read_unlock();
}

/* How much of the oldest sub-buffer is there; what has been overwritten is passed over. */
static size_t end_of_oldest(const struct place *place)
{
	const struct rchan *channel = place->buffer->chan;
	struct rchan_buf *buffer = place->buffer;

	if (place->produced - buffer->subbufs_consumed >= channel->n_subbufs &&
	    place->offset <= channel->subbuf_size) {
		buffer->subbufs_consumed = place->produced - channel->n_subbufs + 1;
		buffer->bytes_consumed = 0;
	}
	if (buffer->subbufs_consumed != place->produced)
		return channel->subbuf_size -
		       buffer->padding[buffer->subbufs_consumed % channel->n_subbufs];
	return place->offset <= channel->subbuf_size ? place->offset : 0;
}

/* Gives back what has been read to its end. */
static void consume(const struct place *place, size_t end)
{
	struct rchan_buf *buffer = place->buffer;

	if (buffer->bytes_consumed < end || buffer->subbufs_consumed == place->produced)
		return;
	buffer->bytes_consumed = 0;
	/* It has been copied before its place is written to again. */
	smp_mb();
	relay_subbufs_consumed(buffer->chan, buffer->cpu, 1);
}

static ssize_t read_to(const struct place *place, char __user *to, size_t size)
{
	struct rchan_buf *buffer = place->buffer;
	size_t done = 0;

	while (done < size) {
		const size_t end = end_of_oldest(place);
		const size_t begin = buffer->bytes_consumed;
		const size_t index = buffer->subbufs_consumed % buffer->chan->n_subbufs;
		const size_t part = begin < end ? min(size - done, end - begin) : 0;
		const void *from = buffer->start + index * buffer->chan->subbuf_size + begin;

		if (!part && buffer->subbufs_consumed == place->produced)
			break;
		if (copy_to_user(to + done, from, part))
			return done ? done : -EFAULT;
		done += part;
		buffer->bytes_consumed += part;
		consume(place, end);
	}
	return done;
}

/* Takes what is there, without padding; 0 if there is nothing. */
ssize_t eventlog_relay_read(struct file *file, char __user *to, size_t size, loff_t *position)
{
	struct place place = { .buffer = file->private_data };
	struct eventlog_relay_buffer *kept = eventlog_relay_kept_of(place.buffer);
	struct eventlog_relay *relay = place.buffer->chan->private_data;
	ssize_t done;

	/* Not the inode's lock: files of CPUs that come are made with CPUs locked. */
	if (down_read_killable(&relay->resetting))
		return -EINTR;
	done = -EINTR;
	if (!mutex_lock_killable(&kept->reading)) {
		find(&place);
		done = read_to(&place, to, size);
		mutex_unlock(&kept->reading);
	}
	up_read(&relay->resetting);
	return done;
}
