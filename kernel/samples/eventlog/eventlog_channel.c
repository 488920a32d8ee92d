// SPDX-License-Identifier: GPL-2.0
/*
 * A relay channel of a client in the kernel: the progress of jiffies, written in place
 * by a timer, from before the channel has files.
 *
 *	insmod eventlog_channel.ko
 *	echo create_files > /sys/module/eventlog_channel/parameters/command
 *	cat /sys/kernel/debug/eventlog/jiffies/cpu0
 *
 * Other commands are flush, reset, "consumed CPU COUNT", and "mark NAME", which writes a
 * record to the channel of that name, also of another client. If the channel cannot be
 * created, for example because its name is taken, the module works without it.
 */
#include <linux/eventlog_relay.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/timer.h>

/* The payload of event 1. */
struct progress {
	u64 jiffies;
	u64 count;
};

/* The payload of event 2. */
static const char mark[] = "a mark";

static char *name = "jiffies";
module_param(name, charp, 0444);
MODULE_PARM_DESC(name, "the name of the channel");

static unsigned long written;
module_param(written, ulong, 0444);
MODULE_PARM_DESC(written, "the number of records that were written");

static unsigned long discarded;
module_param(discarded, ulong, 0444);
MODULE_PARM_DESC(discarded, "the number of records that were begun and discarded");

static struct eventlog_relay *channel;

static void on_time(struct timer_list *timer);
static DEFINE_TIMER(timer, on_time);

static void write_progress(void)
{
	const struct eventlog_relay_record record = {
		.event = 1,
		.thread = current->pid,
		.time = ktime_get_ns(),
		.size = sizeof(struct progress),
	};
	struct eventlog_relay_reservation room;
	static u64 count;

	if (eventlog_relay_reserve(channel, &record, &room))
		return;
	count++;
	/* Only to show it: every tenth record is not wanted after all. */
	if (count % 10 == 0) {
		eventlog_relay_discard(&room);
		discarded++;
		return;
	}
	*(struct progress *)room.payload = (struct progress){ get_jiffies_64(), count };
	eventlog_relay_commit(&room);
	written++;
}

static void on_time(struct timer_list *unused)
{
	write_progress();
	mod_timer(&timer, jiffies + 1);
}

/* Copies a record to a channel that another client may own, and close meanwhile. */
static int write_mark(const char *to)
{
	const struct eventlog_relay_record record = {
		.event = 2,
		.thread = current->pid,
		.time = ktime_get_ns(),
		.size = sizeof(mark) - 1,
		.payload = mark,
	};
	struct eventlog_relay *found = eventlog_relay_find(to);
	int error;

	if (!found)
		return -ENOENT;
	error = eventlog_relay_write(found, &record);
	eventlog_relay_put(found);
	return error;
}

static int run_command(const char *text, const struct kernel_param *parameter)
{
	char to[EVENTLOG_RELAY_NAME_SIZE];
	unsigned int cpu, count;

	if (sysfs_streq(text, "create_files"))
		return eventlog_relay_create_files(channel);
	if (sysfs_streq(text, "flush"))
		return eventlog_relay_flush(channel);
	if (sysfs_streq(text, "reset"))
		return eventlog_relay_reset(channel);
	if (sscanf(text, "consumed %u %u", &cpu, &count) == 2)
		return eventlog_relay_consumed(channel, cpu, count);
	if (sscanf(text, "mark %31s", to) == 1)
		return write_mark(to);
	return -EINVAL;
}

static const struct kernel_param_ops command_operations = { .set = run_command };
module_param_cb(command, &command_operations, NULL, 0200);
MODULE_PARM_DESC(command, "create_files, flush, reset, consumed CPU COUNT or mark NAME");

static int __init channel_init(void)
{
	struct eventlog_relay_options options = {
		.size = sizeof(options),
		.flags = EVENTLOG_RELAY_DEFER_FILES,
		.subbuf_size = 4096,
		.subbuf_count = 64,
	};

	strscpy(options.name, name, sizeof(options.name));
	channel = eventlog_relay_open(&options);
	/* Not fatal: all functions accept an ERR_PTR. */
	if (IS_ERR(channel))
		pr_warn("channel %s: error %ld\n", name, PTR_ERR(channel));
	mod_timer(&timer, jiffies + 1);
	return 0;
}

static void __exit channel_exit(void)
{
	del_timer_sync(&timer);
	eventlog_relay_close(channel);
}

module_init(channel_init);
module_exit(channel_exit);

MODULE_DESCRIPTION("A relay channel of a client in the kernel");
MODULE_LICENSE("GPL");
