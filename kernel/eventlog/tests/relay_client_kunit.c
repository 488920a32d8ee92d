// SPDX-License-Identifier: GPL-2.0
/* Tests of relay channels as clients in the kernel use them: linux/eventlog_relay.h. */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/string.h>

#include "../record.h"
#include "../relay.h"

#include "kunit.h"

static const struct eventlog_relay_options trial = {
	.size = sizeof(trial),
	.subbuf_size = 4096,
	.subbuf_count = 2,
	.name = { "eventlog_client" },
};

/* Short records, so that the context in front of them matters. */
static const struct eventlog_relay_record record = { .event = 1, .thread = 7, .size = 8 };

KUNIT_DEFINE_ACTION_WRAPPER(close_relay, eventlog_relay_close, struct eventlog_relay *);

static struct eventlog_relay *open_with(struct kunit *test, u32 flags)
{
	struct eventlog_relay_options options = trial;
	struct eventlog_relay *relay;

	options.flags = flags;
	relay = eventlog_relay_open(&options);
	KUNIT_ASSERT_FALSE(test, IS_ERR(relay));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, close_relay, relay));
	return relay;
}

static u64 recorded_in(const struct eventlog_relay *relay)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nr_cpu_ids; i++)
		sum += relay->buffers[i].recorded;
	return sum;
}

/* What is in the buffer of this CPU behind the header. The caller cannot migrate. */
static const u64 *words_here(struct eventlog_relay *relay)
{
	const struct rchan_buf *buffer = *this_cpu_ptr(relay->channel->buf);

	return buffer->start + sizeof(struct eventlog_relay_header);
}

static bool write_in_place(struct eventlog_relay *relay, u64 payload)
{
	struct eventlog_relay_reservation room;

	if (eventlog_relay_reserve(relay, &record, &room))
		return false;
	*(u64 *)room.payload = payload;
	eventlog_relay_commit(&room);
	return true;
}

static void writes_in_place(struct kunit *test)
{
	struct eventlog_relay *relay = open_with(test, 0);
	u64 first[2], second;
	bool is_written;

	preempt_disable();
	is_written = write_in_place(relay, 11) && write_in_place(relay, 12);
	/* A CONTEXT record of two words, then a SHORT one. */
	first[0] = eventlog_record_kind(words_here(relay)[0]);
	first[1] = words_here(relay)[2];
	second = words_here(relay)[4];
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, is_written);
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_CONTEXT, first[0]);
	KUNIT_EXPECT_EQ(test, 11, first[1]);
	KUNIT_EXPECT_EQ(test, 12, second);
	KUNIT_EXPECT_EQ(test, 2, recorded_in(relay));
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void discards_without_a_trace(struct kunit *test)
{
	struct eventlog_relay *relay = open_with(test, 0);
	struct eventlog_relay_reservation room;
	u64 kind, payload;
	int error;

	preempt_disable();
	error = eventlog_relay_reserve(relay, &record, &room);
	if (!error)
		eventlog_relay_discard(&room);
	/* The context of the discarded record is not in the buffer. */
	write_in_place(relay, 13);
	kind = eventlog_record_kind(words_here(relay)[0]);
	payload = words_here(relay)[2];
	preempt_enable();
	KUNIT_EXPECT_EQ(test, 0, error);
	KUNIT_EXPECT_EQ(test, EVENTLOG_KIND_CONTEXT, kind);
	KUNIT_EXPECT_EQ(test, 13, payload);
	KUNIT_EXPECT_EQ(test, 1, recorded_in(relay));
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void counts_writes_while_room_is_reserved(struct kunit *test)
{
	struct eventlog_relay *relay = open_with(test, EVENTLOG_RELAY_GLOBAL);
	struct eventlog_relay_reservation room;
	int error, nested;

	error = eventlog_relay_reserve(relay, &record, &room);
	KUNIT_ASSERT_EQ(test, 0, error);
	nested = eventlog_relay_write(relay, &record);
	memset(room.payload, 0, record.size);
	eventlog_relay_commit(&room);
	KUNIT_EXPECT_EQ(test, -ENOSPC, nested);
	KUNIT_EXPECT_EQ(test, 1, atomic64_read(&relay->buffers[0].lost_pending));
	KUNIT_EXPECT_EQ(test, 1, recorded_in(relay));
}

static void counts_reservations_without_room(struct kunit *test)
{
	const struct eventlog_relay_record large = { .event = 1, .size = 4000 };
	struct eventlog_relay *relay = open_with(test, EVENTLOG_RELAY_GLOBAL);
	struct eventlog_relay_reservation room;
	int errors[3], i;

	for (i = 0; i < 3; i++) {
		errors[i] = eventlog_relay_reserve(relay, &large, &room);
		if (!errors[i]) {
			memset(room.payload, 0, large.size);
			eventlog_relay_commit(&room);
		}
	}
	KUNIT_EXPECT_EQ(test, 0, errors[1]);
	KUNIT_EXPECT_EQ(test, -ENOSPC, errors[2]);
	KUNIT_EXPECT_EQ(test, 1, relay->buffers[0].lost);
	KUNIT_EXPECT_FALSE(test, irqs_disabled());
}

static void ignores_missing_channels(struct kunit *test)
{
	struct eventlog_relay *const missing[] = { NULL, ERR_PTR(-EMFILE) };
	struct eventlog_relay_reservation room;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(missing); i++) {
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_write(missing[i], &record));
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_reserve(missing[i], &record, &room));
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_flush(missing[i]));
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_reset(missing[i]));
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_consumed(missing[i], 0, 1));
		KUNIT_EXPECT_EQ(test, -ENODEV, eventlog_relay_create_files(missing[i]));
		eventlog_relay_put(missing[i]);
		eventlog_relay_close(missing[i]);
	}
}

static void flushes_consumes_and_resets(struct kunit *test)
{
	struct eventlog_relay *relay = open_with(test, EVENTLOG_RELAY_GLOBAL);
	const struct rchan_buf *buffer = *per_cpu_ptr(relay->channel->buf, 0);

	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_flush(relay));
	KUNIT_EXPECT_EQ(test, 0, buffer->subbufs_produced);
	KUNIT_EXPECT_TRUE(test, write_in_place(relay, 1));
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_flush(relay));
	KUNIT_EXPECT_EQ(test, 1, buffer->subbufs_produced);
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_relay_consumed(relay, nr_cpu_ids, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_relay_consumed(relay, 0, 3));
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_consumed(relay, 0, 1));
	KUNIT_EXPECT_EQ(test, 1, buffer->subbufs_consumed);
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_reset(relay));
	KUNIT_EXPECT_EQ(test, 0, buffer->subbufs_produced);
	KUNIT_EXPECT_EQ(test, 1, recorded_in(relay));
}

static void creates_files_once(struct kunit *test)
{
	struct eventlog_relay *relay = open_with(test, EVENTLOG_RELAY_DEFER_FILES);
	struct dentry *early, *late;

	early = debugfs_lookup("cpu0", relay->directory);
	KUNIT_EXPECT_NULL(test, early);
	KUNIT_EXPECT_EQ(test, 0, eventlog_relay_create_files(relay));
	late = debugfs_lookup("cpu0", relay->directory);
	KUNIT_EXPECT_NOT_NULL(test, late);
	KUNIT_EXPECT_EQ(test, -EEXIST, eventlog_relay_create_files(relay));
	dput(early);
	dput(late);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(writes_in_place),
	KUNIT_CASE(discards_without_a_trace),
	KUNIT_CASE(counts_writes_while_room_is_reserved),
	KUNIT_CASE(counts_reservations_without_room),
	KUNIT_CASE(ignores_missing_channels),
	KUNIT_CASE(flushes_consumes_and_resets),
	KUNIT_CASE(creates_files_once),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_relay_client", .test_cases = cases };

kunit_test_suite(suite);
