// SPDX-License-Identifier: GPL-2.0
/*
 * Control of a relay channel by clients in the kernel, and what it shares with the
 * channel's file `control`.
 *
 * Locks: the exported functions take eventlog_relay.lock; consuming takes read_mutex
 * of the buffer.
 */
#include <linux/cpumask.h>
#include <linux/module.h>

#include "relay.h"

/* Returns 0 with the lock held. */
static int lock_open_channel(struct eventlog_relay *relay)
{
	if (IS_ERR_OR_NULL(relay))
		return -ENODEV;
	if (mutex_lock_killable(&relay->lock))
		return -EINTR;
	if (relay->state != EVENTLOG_RELAY_CLOSED)
		return 0;
	mutex_unlock(&relay->lock);
	return -ENODEV;
}

int eventlog_relay_flush(struct eventlog_relay *relay)
{
	const int error = lock_open_channel(relay);

	if (error)
		return error;
	eventlog_relay_buffers_flush(relay);
	mutex_unlock(&relay->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(eventlog_relay_flush);

int eventlog_relay_reset(struct eventlog_relay *relay)
{
	int error = lock_open_channel(relay);

	if (error)
		return error;
	error = eventlog_relay_reset_locked(relay);
	mutex_unlock(&relay->lock);
	return error;
}
EXPORT_SYMBOL_GPL(eventlog_relay_reset);

/* Releases the oldest sub-buffers of a mapped buffer. The caller holds relay->lock. */
int eventlog_relay_consume(struct eventlog_relay *relay, unsigned int cpu, unsigned int count)
{
	struct eventlog_relay_buffer *relay_buffer;
	struct rchan_buf *buffer;

	if (cpu >= nr_cpu_ids || !cpu_possible(cpu) || count > relay->options.subbuf_count)
		return -EINVAL;
	/* In overwrite mode writers do not wait for readers. */
	if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_OVERWRITE))
		return 0;
	relay_buffer = &relay->buffers[eventlog_relay_index(relay, cpu)];
	if (mutex_lock_killable(&relay_buffer->read_mutex))
		return -EINTR;
	/* The reader's accesses to the mapping precede the release of the sub-buffers. */
	smp_mb();
	buffer = *per_cpu_ptr(relay->channel->buf, cpu);
	/* A sub-buffer that read(2) has begun is released as a whole. */
	if (buffer && count && READ_ONCE(buffer->subbufs_produced) != buffer->subbufs_consumed) {
		buffer->bytes_consumed = 0;
		relay_subbufs_consumed(relay->channel, cpu, count);
	}
	mutex_unlock(&relay_buffer->read_mutex);
	return 0;
}

int eventlog_relay_consumed(struct eventlog_relay *relay, unsigned int cpu, unsigned int count)
{
	int error = lock_open_channel(relay);

	if (error)
		return error;
	error = eventlog_relay_consume(relay, cpu, count);
	mutex_unlock(&relay->lock);
	return error;
}
EXPORT_SYMBOL_GPL(eventlog_relay_consumed);

/* After another error than -EEXIST it can be called again. */
int eventlog_relay_create_files(struct eventlog_relay *relay)
{
	int error = lock_open_channel(relay);

	if (error)
		return error;
	error = eventlog_relay_buffers_show(relay);
	mutex_unlock(&relay->lock);
	return error;
}
EXPORT_SYMBOL_GPL(eventlog_relay_create_files);
