// SPDX-License-Identifier: GPL-2.0
/*
 * Files `control` and `stats` of a relay channel.
 *
 * Locks: a command holds eventlog_relay.lock. `stats` reads counters without a
 * lock.
 */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "relay.h"

/* Without debugfs channels cannot be created; everything else works. */
struct dentry *eventlog_relay_root;

static int consume(struct eventlog_relay *relay, const char *text)
{
	unsigned int cpu, count;
	char rest;

	if (sscanf(text, "%u %u%c", &cpu, &count, &rest) != 2)
		return -EINVAL;
	return eventlog_relay_consume(relay, cpu, count);
}

static int run_command(struct eventlog_relay *relay, const char *command)
{
	static const char consumed[] = "consumed ";

	if (relay->state == EVENTLOG_RELAY_CLOSED)
		return -ENODEV;
	if (!strcmp(command, "flush"))
		eventlog_relay_buffers_flush(relay);
	else if (!strcmp(command, "reset"))
		return eventlog_relay_reset_locked(relay);
	else if (!strncmp(command, consumed, sizeof(consumed) - 1))
		return consume(relay, command + sizeof(consumed) - 1);
	else
		return -EINVAL;
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *from, size_t size,
			     loff_t *position)
{
	struct eventlog_relay *relay = file->private_data;
	char command[64];
	int error;

	if (size >= sizeof(command))
		return -EINVAL;
	if (copy_from_user(command, from, size))
		return -EFAULT;
	command[size] = '\0';
	if (size && command[size - 1] == '\n')
		command[size - 1] = '\0';
	if (mutex_lock_killable(&relay->lock))
		return -EINTR;
	error = run_command(relay, command);
	mutex_unlock(&relay->lock);
	return error ? error : size;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

/* A loss that moves from `lost_pending` to `lost` meanwhile is not counted twice. */
static u64 lost_of(const struct eventlog_relay_buffer *relay_buffer)
{
	const u64 lost = READ_ONCE(relay_buffer->lost);

	smp_rmb(); /* It is missing for a moment instead. */
	return lost + atomic64_read(&relay_buffer->lost_pending);
}

#ifdef EVENTLOG_HAS_RELAY_STATS
/* What relay itself counts, once for each write that found no room. */
static void show_relay_counts(struct seq_file *to, struct rchan *channel)
{
	seq_printf(to, "relay full %zu large %zu\n", relay_stats(channel, RELAY_STATS_BUF_FULL),
		   relay_stats(channel, RELAY_STATS_WRT_BIG));
}
#else
static void show_relay_counts(struct seq_file *to, struct rchan *channel)
{
}
#endif

static int stats_show(struct seq_file *to, void *unused)
{
	struct eventlog_relay *relay = to->private;
	const bool global = eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL);
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct eventlog_relay_buffer *relay_buffer = &relay->buffers[cpu];
		const struct rchan_buf *buffer = *per_cpu_ptr(relay->channel->buf, cpu);

		if (!buffer || (global && cpu))
			continue;
		if (global)
			seq_puts(to, "all");
		else
			seq_printf(to, "cpu%d", cpu);
		seq_printf(to,
			   " recorded %llu lost %llu overwritten %llu produced %zu consumed %zu mapped %d\n",
			   READ_ONCE(relay_buffer->recorded), lost_of(relay_buffer),
			   READ_ONCE(relay_buffer->overwritten),
			   READ_ONCE(buffer->subbufs_produced),
			   READ_ONCE(buffer->subbufs_consumed),
			   atomic_read(&relay_buffer->mappings));
	}
	show_relay_counts(to, relay->channel);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

int eventlog_relay_files_add(struct eventlog_relay *relay)
{
	const struct dentry *control, *stats;

	control = debugfs_create_file("control", 0200, relay->directory, relay,
				      &control_operations);
	stats = debugfs_create_file("stats", 0400, relay->directory, relay, &stats_fops);
	if (IS_ERR(control))
		return PTR_ERR(control);
	return IS_ERR(stats) ? PTR_ERR(stats) : 0;
}
