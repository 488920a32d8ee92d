// SPDX-License-Identifier: GPL-2.0
/*
 * read(2) of a relay buffer beside its writer. relay's own read() loads the
 * writer's position while that changes: it may return a sub-buffer twice, or
 * stale bytes.
 *
 * Locks: reset_lock for reading, then read_mutex of the buffer.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "relay.h"

/* A position of the writer between two records. */
struct writer_position {
	struct rchan_buf *buffer;
	size_t produced;
	size_t offset; /* in the next sub-buffer; larger than its size: there is none */
};

/* Runs on the buffer's CPU, or while that is offline. */
static void read_position(void *data)
{
	struct writer_position *writer_position = data;
	struct eventlog_relay *relay = writer_position->buffer->chan->private_data;
	unsigned long flags;

	if (WARN_ON_ONCE(!eventlog_relay_enter(relay, true, &flags)))
		return;
	writer_position->produced = writer_position->buffer->subbufs_produced;
	writer_position->offset = writer_position->buffer->offset;
	eventlog_relay_leave(relay, true, flags);
}

static void find_writer_position(struct writer_position *writer_position)
{
	cpus_read_lock();
	eventlog_relay_run_on_cpu(writer_position->buffer, read_position, writer_position);
	cpus_read_unlock();
}

/* Returns how much of the oldest sub-buffer is complete. Skips what was overwritten. */
static size_t end_of_oldest(const struct writer_position *writer_position)
{
	const struct rchan *channel = writer_position->buffer->chan;
	struct rchan_buf *buffer = writer_position->buffer;

	if (writer_position->produced - buffer->subbufs_consumed >= channel->n_subbufs &&
	    writer_position->offset <= channel->subbuf_size) {
		buffer->subbufs_consumed = writer_position->produced - channel->n_subbufs + 1;
		buffer->bytes_consumed = 0;
	}
	if (buffer->subbufs_consumed != writer_position->produced)
		return channel->subbuf_size -
		       buffer->padding[buffer->subbufs_consumed % channel->n_subbufs];
	return writer_position->offset <= channel->subbuf_size ? writer_position->offset : 0;
}

/* Releases a sub-buffer that was read completely. */
static void consume(const struct writer_position *writer_position, size_t end)
{
	struct rchan_buf *buffer = writer_position->buffer;

	if (buffer->bytes_consumed < end || buffer->subbufs_consumed == writer_position->produced)
		return;
	buffer->bytes_consumed = 0;
	/* The copy precedes the release of the sub-buffer to writers. */
	smp_mb();
	relay_subbufs_consumed(buffer->chan, buffer->cpu, 1);
}

static ssize_t read_to(const struct writer_position *writer_position, char __user *to, size_t size)
{
	struct rchan_buf *buffer = writer_position->buffer;
	size_t done = 0;

	while (done < size) {
		const size_t end = end_of_oldest(writer_position);
		const size_t begin = buffer->bytes_consumed;
		const size_t index = buffer->subbufs_consumed % buffer->chan->n_subbufs;
		const size_t part = begin < end ? min(size - done, end - begin) : 0;
		const void *from = buffer->start + index * buffer->chan->subbuf_size + begin;

		if (!part && buffer->subbufs_consumed == writer_position->produced)
			break;
		if (copy_to_user(to + done, from, part))
			return done ? done : -EFAULT;
		done += part;
		buffer->bytes_consumed += part;
		consume(writer_position, end);
	}
	return done;
}

/* Reads what is there, without padding. Returns 0 if there is nothing. */
ssize_t eventlog_relay_read(struct file *file, char __user *to, size_t size, loff_t *position)
{
	struct writer_position writer_position = { .buffer = file->private_data };
	struct eventlog_relay_buffer *relay_buffer =
		eventlog_relay_buffer_of(writer_position.buffer);
	struct eventlog_relay *relay = writer_position.buffer->chan->private_data;
	ssize_t done;

	/* Not the inode's lock: files of new CPUs are created with the CPUs locked. */
	if (down_read_killable(&relay->reset_lock))
		return -EINTR;
	done = -EINTR;
	if (!mutex_lock_killable(&relay_buffer->read_mutex)) {
		find_writer_position(&writer_position);
		done = read_to(&writer_position, to, size);
		mutex_unlock(&relay_buffer->read_mutex);
	}
	up_read(&relay->reset_lock);
	return done;
}
