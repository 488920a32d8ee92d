// SPDX-License-Identifier: GPL-2.0
/*
 * Measures an event of the kernel beside ftrace's ring buffer and relay, for
 * bench/kernel.py.
 *
 *	echo "emit 4000" > /sys/module/eventlog_measure/parameters/turn
 *	cat /sys/module/eventlog_measure/parameters/turn
 *
 * prints the nanoseconds of 4000 events and the number of losses. In a machine
 * whose clock advances by one for each instruction, these are instructions.
 */
#include <linux/debugfs.h>
#include <linux/eventlog.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/ring_buffer.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/version.h>

#define TURN_MAX 100000U
/*
 * Of relay and of ftrace; the measuring program's subscription has the same
 * size.
 */
#define BUFFER_SIZE (128U << 10)
#define BUFFER_COUNT 4U

#define PAYLOAD(value)								\
	.first = (value), .second = (value) + 1, .third = (value) + 2, .fourth = (value) + 3
#define FIELDS_OF(event)							\
	EVENTLOG_FIELDS(EVENTLOG_FIELD(event, first), EVENTLOG_FIELD(event, second),	\
			EVENTLOG_FIELD(event, third), EVENTLOG_FIELD(event, fourth))

struct recorded_event {
	u64 first;
	u64 second;
	u64 third;
	u64 fourth;
};

struct disabled_event {
	u64 first;
	u64 second;
	u64 third;
	u64 fourth;
};

/* The record for relay, of the size of a record in eventlog's ring. */
struct relay_record {
	u64 head;
	struct recorded_event payload;
};

static_assert(sizeof(struct recorded_event) == 32);
static_assert(sizeof(struct relay_record) == 40);

EVENTLOG_EVENT(recorded, FIELDS_OF(recorded));
EVENTLOG_EVENT(disabled, FIELDS_OF(disabled));
EVENTLOG_PROVIDER(measure, EVENTLOG_PROVIDES(&event_recorded, &event_disabled));

static struct trace_buffer *entries;
static struct rchan *channel;

static struct dentry *create_buf_file(const char *name, struct dentry *parent, umode_t mode,
				      struct rchan_buf *buffer, int *is_global)
{
	return debugfs_create_file(name, mode, parent, buffer, &relay_file_operations);
}

static int remove_buf_file(struct dentry *entry)
{
	debugfs_remove(entry);
	return 0;
}

/* Overwrites the oldest records, as ftrace and eventlog do here. */
static int subbuf_start(struct rchan_buf *buffer, void *begin, void *before, size_t padding)
{
	return 1;
}

static const struct rchan_callbacks callbacks = {
	.create_buf_file = create_buf_file,
	.remove_buf_file = remove_buf_file,
	.subbuf_start = subbuf_start,
};

/*
 * For inspection of its machine code, which is that of any function that emits.
 */
noinline void eventlog_measure_disabled(u64 value);
noinline void eventlog_measure_disabled(u64 value)
{
	EVENTLOG_EMIT(disabled, PAYLOAD(value));
}

static void do_nothing(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		barrier();
}

static void emit_disabled(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		EVENTLOG_EMIT(disabled, PAYLOAD(1));
}

static void emit(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		EVENTLOG_EMIT(recorded, PAYLOAD(i));
}

static void read_clock(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		ktime_get_mono_fast_ns();
}

static void commit_entry(struct ring_buffer_event *entry)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	ring_buffer_unlock_commit(entries, entry);
#else
	ring_buffer_unlock_commit(entries);
#endif
}

static void write_entries(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct recorded_event payload = { PAYLOAD(i) };
		struct ring_buffer_event *entry =
			ring_buffer_lock_reserve(entries, sizeof(payload));

		if (!entry)
			continue;
		memcpy(ring_buffer_event_data(entry), &payload, sizeof(payload));
		commit_entry(entry);
	}
}

static void write_relay(u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		const struct relay_record record = {
			.head = (u32)ktime_get_mono_fast_ns() | (u64)current->pid << 32,
			.payload = { PAYLOAD(i) },
		};

		relay_write(channel, &record, sizeof(record));
	}
}

static u64 no_entries(void)
{
	return 0;
}

static u64 entries_written(void)
{
	return ring_buffer_entries(entries) + ring_buffer_overruns(entries);
}

/* All records have the same size. */
static u64 relay_written(void)
{
	const struct rchan_buf *buffer = *this_cpu_ptr(channel->buf);

	return buffer->subbufs_produced * (u64)(BUFFER_SIZE / sizeof(struct relay_record)) +
	       buffer->offset / sizeof(struct relay_record);
}

static const struct kind {
	const char *name;
	void (*run)(u32 count);
	u64 (*written)(void); /* total so far */
} kinds[] = {
	{ "nothing", do_nothing, no_entries },
	{ "clock", read_clock, no_entries },
	{ "disabled", emit_disabled, no_entries },
	/* The subscriber counts the losses. */
	{ "emit", emit, no_entries },
	{ "ftrace", write_entries, entries_written },
	{ "relay", write_relay, relay_written },
};

/* Results of the last turn. */
static u64 taken;
static u64 lost;

static void measure(const struct kind *kind, u32 count)
{
	unsigned long flags;
	u64 before, begin;

	/* No interrupts during the turn. */
	local_irq_save(flags);
	before = kind->written();
	begin = ktime_get_mono_fast_ns();
	kind->run(count);
	taken = ktime_get_mono_fast_ns() - begin;
	lost = kind->written == no_entries ? 0 : count - (kind->written() - before);
	local_irq_restore(flags);
}

static int set_turn(const char *text, const struct kernel_param *unused)
{
	char name[16];
	u32 count, i;

	if (sscanf(text, "%15s %u", name, &count) != 2 || !count || count > TURN_MAX)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		if (!channel)
			return -EAGAIN;
		measure(&kinds[i], count);
		return 0;
	}
	return -EINVAL;
}

static int get_turn(char *text, const struct kernel_param *unused)
{
	return scnprintf(text, PAGE_SIZE, "%llu %llu\n", taken, lost);
}

static const struct kernel_param_ops turn_ops = { .set = set_turn, .get = get_turn };
module_param_cb(turn, &turn_ops, NULL, 0600);
MODULE_PARM_DESC(turn, "nothing, clock, disabled, emit, ftrace or relay, and how often");

static void free_buffers(void)
{
	if (channel)
		relay_close(channel);
	if (entries)
		ring_buffer_free(entries);
}

static int __init eventlog_measure_init(void)
{
	int error = -ENOMEM;

	entries = ring_buffer_alloc(BUFFER_SIZE * BUFFER_COUNT, RB_FL_OVERWRITE);
	if (entries)
		channel = relay_open("eventlog_measure", NULL, BUFFER_SIZE, BUFFER_COUNT,
				     &callbacks, NULL);
	if (channel)
		error = eventlog_provider_register(&measure_provider);
	if (error)
		free_buffers();
	return error;
}

static void __exit eventlog_measure_exit(void)
{
	eventlog_provider_unregister(&measure_provider);
	free_buffers();
}

module_init(eventlog_measure_init);
module_exit(eventlog_measure_exit);

MODULE_DESCRIPTION("What events of the kernel cost beside ftrace and relay");
MODULE_LICENSE("GPL");
