// SPDX-License-Identifier: GPL-2.0
/* Tests of relay_channel.c: producers in the kernel, in interrupts, too. */
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/relay.h>
#include <linux/string.h>

#include "../record.h"
#include "../relay.h"
#include "../ring.h"

#include "kunit.h"

static const struct eventlog_relay_options trial = {
	.size = sizeof(trial),
	.flags = EVENTLOG_RELAY_GLOBAL,
	.subbuf_size = 4096,
	.subbuf_count = 2,
	.name = { "eventlog_trial" },
};

static const struct eventlog_relay_record record = { .event = 1 };

/* In the buffer of all CPUs a record has three words. */
#define IN_SUBBUF							\
	((4096 - sizeof(struct eventlog_relay_header)) / EVENTLOG_EXTENDED_HEADER_SIZE)

KUNIT_DEFINE_ACTION_WRAPPER(close_relay, eventlog_relay_close, struct eventlog_relay *);

static struct eventlog_relay *open_with(struct kunit *test,
					const struct eventlog_relay_options *options)
{
	struct eventlog_relay *relay = eventlog_relay_open(options);

	KUNIT_ASSERT_FALSE(test, IS_ERR(relay));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_relay, relay));
	return relay;
}

static struct eventlog_relay *open_relay(struct kunit *test)
{
	return open_with(test, &trial);
}

static void counts_records_without_room(struct kunit *test)
{
	struct eventlog_relay *relay = open_relay(test);
	int i;

	for (i = 0; i < 2 * IN_SUBBUF; i++)
		KUNIT_EXPECT_EQ(test, 0, eventlog_relay_write(relay, &record));
	KUNIT_EXPECT_EQ(test, -ENOSPC, eventlog_relay_write(relay, &record));
	KUNIT_EXPECT_EQ(test, -ENOSPC, eventlog_relay_write(relay, &record));
	KUNIT_EXPECT_EQ(test, 2 * IN_SUBBUF, relay->buffers[0].recorded);
	KUNIT_EXPECT_EQ(test, 2, relay->buffers[0].lost);
}

static void counts_records_that_are_too_large(struct kunit *test)
{
	/* With its header, 8 bytes more than a sub-buffer. */
	const struct eventlog_relay_record large = {
		.event = 1,
		.size = 4096 - sizeof(struct eventlog_relay_header) -
			EVENTLOG_EXTENDED_HEADER_SIZE + 8,
	};
	struct eventlog_relay *relay = open_relay(test);

	KUNIT_EXPECT_EQ(test, -E2BIG, eventlog_relay_write(relay, &large));
	KUNIT_EXPECT_EQ(test, 1, relay->buffers[0].lost);
}

static void stamps_records_with_separate_payload(struct kunit *test)
{
	static const char payload[] = "elsewhere";
	struct eventlog_relay_record stamped = {
		.event = 1, .thread = 7, .size = sizeof(payload), .payload = payload,
	};
	struct eventlog_relay *relay = open_relay(test);
	const u64 begin = eventlog_clock_now(EVENTLOG_CLOCK_MONOTONIC);
	const struct rchan_buf *buffer = *per_cpu_ptr(relay->channel->buf, 0);
	const u64 *written = buffer->start + sizeof(struct eventlog_relay_header);
	u64 time;

	KUNIT_EXPECT_EQ(test, 0,
			eventlog_relay_write_stamped(relay, &stamped, EVENTLOG_CLOCK_MONOTONIC));
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_EXTENDED, eventlog_record_kind(written[0]));
	KUNIT_EXPECT_EQ(test, 1, written[0] >> EVENTLOG_EVENT_SHIFT);
	KUNIT_EXPECT_EQ(test, 7, written[1] >> EVENTLOG_THREAD_SHIFT);
	KUNIT_EXPECT_EQ(test, sizeof(payload), eventlog_record_extended_size(written[2]));
	time = written[1] << 32 | (u32)written[0];
	KUNIT_EXPECT_GE(test, time, begin);
	KUNIT_EXPECT_LE(test, time, eventlog_clock_now(EVENTLOG_CLOCK_MONOTONIC));
	KUNIT_EXPECT_STREQ(test, payload, (const char *)(written + 3));
	/* "elsewhere" and its NUL have 10 bytes; the rest of the words is zero. */
	KUNIT_EXPECT_EQ(test, 0, written[4] >> 16);
}

/* What was written to the buffer of this CPU behind `from` words. The caller cannot migrate. */
static const u64 *words_here(struct eventlog_relay *relay, u32 subbuf, u32 from)
{
	const struct rchan_buf *buffer = *this_cpu_ptr(relay->channel->buf);

	return buffer->start + (size_t)subbuf * relay->options.subbuf_size +
	       sizeof(struct eventlog_relay_header) + from * sizeof(u64);
}

static struct eventlog_relay *open_per_cpu(struct kunit *test)
{
	struct eventlog_relay_options options = trial;

	options.flags = 0;
	return open_with(test, &options);
}

/* Events with these threads and times, one after another, and the kinds that they need. */
static const struct {
	u32 thread;
	u64 time;
	u32 flags;
	u32 size;
	u32 kind;
} context_steps[] = {
	{ 5, 1, 0, 8, EVENTLOG_KIND_CONTEXT }, /* the first one */
	{ 5, 2, 0, 8, EVENTLOG_KIND_SHORT },
	{ 6, 3, 0, 8, EVENTLOG_KIND_CONTEXT }, /* another thread */
	{ 6, 4, EVENTLOG_RECORD_CUSTOM_TIME, 8, EVENTLOG_KIND_EXTENDED },
	{ 6, 5, 0, 256, EVENTLOG_KIND_EXTENDED }, /* too large */
	{ 6, 6, 0, 255, EVENTLOG_KIND_SHORT },
	{ 6, 1ULL << 32, 0, 8, EVENTLOG_KIND_CONTEXT }, /* another upper half */
	{ 6, (1ULL << 32) + 1, 0, 0, EVENTLOG_KIND_SHORT },
	{ 0, 7, 0, 8, EVENTLOG_KIND_CONTEXT }, /* context 0 is none */
	{ 0, 8, 0, 8, EVENTLOG_KIND_CONTEXT },
	/* A program can write any context, also one that is no kernel's. */
	{ U32_MAX, U64_MAX, 0, 8, EVENTLOG_KIND_CONTEXT },
	{ U32_MAX, U64_MAX, 0, 8, EVENTLOG_KIND_SHORT },
};

static void leaves_out_the_context(struct kunit *test)
{
	static const u8 payload[256];
	static const u32 header_words[] = { 1, 2, 3 };
	struct eventlog_relay *relay = open_per_cpu(test);
	u64 words[ARRAY_SIZE(context_steps)][3] = { };
	int errors[ARRAY_SIZE(context_steps)];
	u32 i, at = 0;

	preempt_disable();
	for (i = 0; i < ARRAY_SIZE(context_steps); i++) {
		const struct eventlog_relay_record step = {
			.event = i + 1,
			.thread = context_steps[i].thread,
			.time = context_steps[i].time,
			.flags = context_steps[i].flags,
			.size = context_steps[i].size,
			.payload = payload,
		};

		errors[i] = eventlog_relay_write(relay, &step);
		memcpy(words[i], words_here(relay, 0, at), sizeof(words[i]));
		at += header_words[context_steps[i].kind] + DIV_ROUND_UP(step.size, 8);
	}
	preempt_enable();
	for (i = 0; i < ARRAY_SIZE(context_steps); i++) {
		KUNIT_EXPECT_EQ_MSG(test, 0, errors[i], "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, i + 1, words[i][0] >> EVENTLOG_EVENT_SHIFT, "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, context_steps[i].kind, eventlog_record_kind(words[i][0]),
				    "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (u32)context_steps[i].time, (u32)words[i][0], "step %u",
				    i);
		if (context_steps[i].kind != EVENTLOG_KIND_SHORT)
			KUNIT_EXPECT_EQ_MSG(test,
					    eventlog_record_context(context_steps[i].thread,
								    context_steps[i].time),
					    words[i][1], "step %u", i);
	}
}

static void begins_sub_buffers_with_a_context(struct kunit *test)
{
	static const u8 payload[248];
	const struct eventlog_relay_record step = {
		.event = 1, .thread = 5, .time = 9, .size = sizeof(payload), .payload = payload,
	};
	/* One CONTEXT record of 264 bytes, then as many SHORT ones of 256 as fit. */
	const u32 in_subbuf = 1 + (4096 - sizeof(struct eventlog_relay_header) - 264) / 256;
	struct eventlog_relay *relay = open_per_cpu(test);
	u32 i, kinds[2], last;
	int errors = 0;

	preempt_disable();
	for (i = 0; i < in_subbuf; i++)
		errors |= eventlog_relay_write(relay, &step);
	kinds[0] = eventlog_record_kind(*words_here(relay, 0, 0));
	last = eventlog_record_kind(*words_here(relay, 0, 33 + (in_subbuf - 2) * 32));
	errors |= eventlog_relay_write(relay, &step);
	kinds[1] = eventlog_record_kind(*words_here(relay, 1, 0));
	preempt_enable();
	KUNIT_EXPECT_EQ(test, 0, errors);
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_CONTEXT, kinds[0]);
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_SHORT, last);
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_CONTEXT, kinds[1]);
}

static void rejects_writes_to_a_closed_channel(struct kunit *test)
{
	struct eventlog_relay *relay = eventlog_relay_open(&trial);
	struct eventlog_relay_record late = record;
	struct eventlog_relay *found;

	KUNIT_ASSERT_FALSE(test, IS_ERR(relay));
	found = eventlog_relay_find(trial.name);
	eventlog_relay_close(relay);
	KUNIT_ASSERT_NOT_NULL(test, found);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			eventlog_relay_write_stamped(found, &late, EVENTLOG_CLOCK_MONOTONIC));
	eventlog_relay_put_optional(found);
	eventlog_relay_put_optional(NULL);
}

struct interrupt {
	struct irq_work work;
	struct eventlog_relay *relay;
	int error;
};

static void write_in_interrupt(struct irq_work *work)
{
	struct interrupt *interrupt = container_of(work, struct interrupt, work);

	interrupt->error = in_hardirq() ? eventlog_relay_write(interrupt->relay, &record) : -EPERM;
}

static void accepts_records_in_interrupts(struct kunit *test)
{
	struct interrupt interrupt = {
		.work = IRQ_WORK_INIT_HARD(write_in_interrupt),
		.relay = open_relay(test),
		.error = -EAGAIN,
	};

	irq_work_queue(&interrupt.work);
	irq_work_sync(&interrupt.work);
	KUNIT_EXPECT_EQ(test, 0, interrupt.error);
	KUNIT_EXPECT_EQ(test, 1, interrupt.relay->buffers[0].recorded);
}

/* Like a tracepoint that fires while a record is written: nested access is rejected. */
static void rejects_nested_writes(struct kunit *test)
{
	struct eventlog_relay *relay = open_relay(test);
	unsigned long flags;
	int error, other;

	if (!eventlog_relay_enter(relay, true, &flags)) {
		KUNIT_FAIL(test, "the channel is busy");
		return;
	}
	error = eventlog_relay_write(relay, &record);
	other = eventlog_relay_write(relay, &record);
	eventlog_relay_leave(relay, true, flags);
	KUNIT_EXPECT_EQ(test, -ENOSPC, error);
	KUNIT_EXPECT_EQ(test, -ENOSPC, other);
	KUNIT_EXPECT_EQ(test, 0, relay->buffers[0].lost);
	KUNIT_EXPECT_EQ(test, 2, atomic64_read(&relay->buffers[0].lost_pending));
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_write(relay, &record));
	eventlog_relay_buffers_flush(relay);
	KUNIT_EXPECT_EQ(test, 2, relay->buffers[0].lost);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&relay->buffers[0].lost_pending));
}

/* Two CPUs could take the locks of two channels in opposite order, and deadlock. */
static void takes_one_lock_at_a_time(struct kunit *test)
{
	struct eventlog_relay_options options = trial;
	struct eventlog_relay *relay = open_relay(test);
	struct eventlog_relay *other, *per_cpu;
	unsigned long flags;
	int error, written;

	strscpy(options.name, "eventlog_other", sizeof(options.name));
	other = open_with(test, &options);
	strscpy(options.name, "eventlog_each", sizeof(options.name));
	options.flags = 0;
	per_cpu = open_with(test, &options);
	if (!eventlog_relay_enter(relay, true, &flags)) {
		KUNIT_FAIL(test, "the channel is busy");
		return;
	}
	error = eventlog_relay_write(other, &record);
	written = eventlog_relay_write(per_cpu, &record);
	eventlog_relay_leave(relay, true, flags);
	KUNIT_EXPECT_EQ(test, -ENOSPC, error);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&other->buffers[0].lost_pending));
	KUNIT_EXPECT_EQ(test, 0, written);
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_write(other, &record));
}

static const struct eventlog_relay_header *header_of(struct eventlog_relay *relay, u32 index)
{
	const struct rchan_buf *buffer = *per_cpu_ptr(relay->channel->buf, 0);

	return buffer->start + (size_t)index * relay->options.subbuf_size;
}

/* The next sub-buffer has the loss, in the buffer where it occurred. */
static void counts_writes_during_a_reset(struct kunit *test)
{
	struct eventlog_relay *relay = open_relay(test);

	WRITE_ONCE(relay->state, EVENTLOG_RELAY_PAUSED);
	KUNIT_EXPECT_EQ(test, -ENOSPC, eventlog_relay_write(relay, &record));
	WRITE_ONCE(relay->state, EVENTLOG_RELAY_OPEN);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&relay->buffers[0].lost_pending));
	eventlog_relay_buffers_flush(relay);
	KUNIT_EXPECT_EQ(test, 1, header_of(relay, 1)->lost_before);
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_reset(relay));
	KUNIT_EXPECT_EQ(test, 1, header_of(relay, 0)->lost_before);
}

static void finds_channels_by_name(struct kunit *test)
{
	struct eventlog_relay *relay = eventlog_relay_open(&trial);
	struct eventlog_relay *found;

	KUNIT_ASSERT_FALSE(test, IS_ERR(relay));
	found = eventlog_relay_find(trial.name);
	KUNIT_EXPECT_PTR_EQ(test, relay, found);
	KUNIT_EXPECT_NULL(test, eventlog_relay_find("eventlog_tria"));
	eventlog_relay_close(relay);
	KUNIT_EXPECT_NULL(test, eventlog_relay_find(trial.name));
	if (found) {
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_write(found, &record));
		eventlog_relay_put(found);
	}
}

static struct dentry *create_no_file(const char *filename, struct dentry *parent, umode_t mode,
				     struct rchan_buf *buf, int *is_global)
{
	return (struct dentry *)buf; /* not used by relay, which only checks for errors */
}

static int remove_no_file(struct dentry *file)
{
	return 0;
}

static const struct rchan_callbacks defaults = {
	.create_buf_file = create_no_file,
	.remove_buf_file = remove_no_file,
};

KUNIT_DEFINE_ACTION_WRAPPER(close_channel, relay_close, struct rchan *);

/*
 * relay's documentation states that the default subbuf_start returns 0, which would end logging
 * with the first sub-buffer. It returns whether there is room.
 */
static void default_of_relay_fills_all_sub_buffers(struct kunit *test)
{
	struct rchan *channel = relay_open(NULL, NULL, 64, 2, &defaults, NULL);
	struct rchan_buf *buf;
	bool fills_second, is_full;
	u64 first, i;

	KUNIT_ASSERT_NOT_NULL(test, channel);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_channel, channel));
	buf = *get_cpu_ptr(channel->buf);
	for (i = 1; i <= 2 * 64 / sizeof(i); i++)
		__relay_write(channel, &i, sizeof(i));
	fills_second = buf->subbufs_produced == 1 && buf->offset == 64;
	__relay_write(channel, &i, sizeof(i));
	is_full = relay_buf_full(buf);
	first = *(const u64 *)buf->start;
	put_cpu_ptr(channel->buf);
	KUNIT_EXPECT_TRUE(test, fills_second && is_full);
	KUNIT_EXPECT_EQ(test, 1, first);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(counts_records_without_room),
	KUNIT_CASE(counts_records_that_are_too_large),
	KUNIT_CASE(stamps_records_with_separate_payload),
	KUNIT_CASE(leaves_out_the_context),
	KUNIT_CASE(begins_sub_buffers_with_a_context),
	KUNIT_CASE(rejects_writes_to_a_closed_channel),
	KUNIT_CASE(accepts_records_in_interrupts),
	KUNIT_CASE(rejects_nested_writes),
	KUNIT_CASE(takes_one_lock_at_a_time),
	KUNIT_CASE(counts_writes_during_a_reset),
	KUNIT_CASE(finds_channels_by_name),
	KUNIT_CASE(default_of_relay_fills_all_sub_buffers),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_relay", .test_cases = cases };

kunit_test_suite(suite);
