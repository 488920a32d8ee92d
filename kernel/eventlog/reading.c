// SPDX-License-Identifier: GPL-2.0
/*
 * Reads subscriptions: runs of complete records of one ring, each behind a marker
 * with what is missing in front of it; releases buffers; and counts.
 *
 * Lock: reading_lock protects the cursors and counts of a subscription.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "reading.h"

int eventlog_reading_init(struct eventlog_subscription *subscription)
{
	const struct eventlog_region *region = subscription->memory.head;
	u32 i;

	mutex_init(&subscription->reading_lock);
	eventlog_waiting_init(subscription);
	subscription->cursor =
		kvcalloc(region->ring_count, sizeof(*subscription->cursor), GFP_KERNEL_ACCOUNT);
	if (!subscription->cursor)
		return -ENOMEM;
	for (i = 0; i < region->ring_count; i++) {
		struct eventlog_read_cursor *cursor = &subscription->cursor[i];

		cursor->subscription = subscription;
		cursor->ring = eventlog_region_ring(&subscription->memory, i);
		cursor->index = i;
		cursor->seen_control = EVENTLOG_SEALED;
	}
	if (!(region->features & EVENTLOG_FEATURE_OVERWRITE))
		return 0;
	subscription->copy = kvmalloc(EVENTLOG_RECORD_SIZE_MAX, GFP_KERNEL_ACCOUNT);
	return subscription->copy ? 0 : -ENOMEM;
}

/* There are neither writers nor waiting readers. */
void eventlog_reading_exit(struct eventlog_subscription *subscription)
{
	if (!subscription->cursor)
		return;
	eventlog_waiting_exit(subscription);
	kvfree(subscription->cursor);
	kvfree(subscription->copy);
}

/* Copies all or nothing: the reader's memory may end within a record. */
static bool copy_whole(const void *from, size_t size, struct iov_iter *to)
{
	const size_t put = copy_to_iter(from, size, to);

	if (put == size)
		return true;
	iov_iter_revert(to, put);
	return false;
}

/* The marker of a run that begins with the item. */
static bool put_marker(const struct eventlog_read_cursor *cursor,
		       const struct eventlog_read_item *item, struct iov_iter *to)
{
	const struct {
		u64 words[2];
		struct eventlog_run run;
	} marker = {
		/* The context in front of the run: that of its first records, if they are SHORT. */
		.words = {
			eventlog_record_word(EVENTLOG_MARKER_RUN, EVENTLOG_KIND_MARKER,
					     sizeof(marker.run), item->time),
			cursor->context,
		},
		.run = {
			.ring = cursor->index,
			.lost = item->lost,
			.overwritten = item->overwritten,
			.time = item->time,
		},
	};

	static_assert(sizeof(marker) == EVENTLOG_RUN_MARKER_SIZE);
	return copy_whole(&marker, sizeof(marker), to);
}

/* Copies a marker if there has to be one, and the record if there is one; all or nothing. */
static bool copy_item(const struct eventlog_read_cursor *cursor,
		      const struct eventlog_read_item *item, bool in_run, struct iov_iter *to)
{
	const bool begins_run = !in_run || eventlog_item_has_gap(item);

	if (begins_run && !put_marker(cursor, item, to))
		return false;
	if (!item->size || copy_whole(item->record, item->size, to))
		return true;
	if (begins_run)
		iov_iter_revert(to, EVENTLOG_RUN_MARKER_SIZE);
	return false;
}

/* Moves the cursor behind an item that was copied. */
static void pass_item(struct eventlog_read_cursor *cursor, const struct eventlog_read_item *item)
{
	cursor->lost_reported = item->lost_reported;
	cursor->records_reported += item->overwritten;
	cursor->subscription->overwritten += item->overwritten;
	cursor->last_time = item->time;
	if (!item->size)
		return;
	cursor->context = item->context;
	cursor->offset += item->size;
	cursor->records++;
	cursor->records_reported++;
	cursor->subscription->read++;
}

/* Returns 0, or why it stopped before the ring was empty: -EMSGSIZE or -EFAULT. */
static int read_ring(struct eventlog_read_cursor *cursor, struct iov_iter *to)
{
	struct eventlog_read_item item;
	bool in_run = false;

	while (eventlog_find_item(cursor, &item)) {
		if (eventlog_item_size(&item, in_run) > iov_iter_count(to))
			return -EMSGSIZE;
		if (!copy_item(cursor, &item, in_run, to))
			return -EFAULT;
		pass_item(cursor, &item);
		in_run = true;
		cond_resched();
		if (signal_pending(current))
			break;
	}
	return 0;
}

/*
 * Reads all rings, each time beginning with another one. So each ring has the
 * whole buffer once in ring_count calls, and a record that does not fit does
 * not block other rings.
 */
static ssize_t read_rings(struct eventlog_subscription *subscription, struct iov_iter *to)
{
	const u32 count = subscription->memory.head->ring_count - 1;
	const size_t room = iov_iter_count(to);
	const u32 first = subscription->next_ring;
	int error = 0;
	u32 i;

	subscription->next_ring = (first + 1) % count;
	for (i = 0; i < count && error != -EFAULT; i++) {
		const int failed = read_ring(&subscription->cursor[(first + i) % count], to);

		error = failed ? failed : error;
	}
	return room - iov_iter_count(to) ? room - iov_iter_count(to) : error;
}

static ssize_t read_once(struct eventlog_subscription *subscription, struct iov_iter *to)
{
	ssize_t got;

	if (mutex_lock_interruptible(&subscription->reading_lock))
		return -ERESTARTSYS;
	got = read_rings(subscription, to);
	mutex_unlock(&subscription->reading_lock);
	return got;
}

/*
 * Reads as many complete records as fit. Returns their bytes; -EMSGSIZE if the
 * next record does not fit, which stays; 0 at the end of the subscription;
 * -EAGAIN if there is none and the caller may not wait, or has waited for its
 * timeout.
 */
ssize_t eventlog_read(struct eventlog_subscription *subscription, struct iov_iter *to,
		      bool may_wait)
{
	/* The current tick is not a whole one. */
	long left = subscription->timeout ? msecs_to_jiffies(subscription->timeout) + 1 :
					    MAX_SCHEDULE_TIMEOUT;
	ssize_t got;
	bool over;

	do {
		if (may_wait)
			left = wait_event_interruptible_timeout(subscription->readers,
								eventlog_is_ready(subscription),
								left);
		if (left < 0)
			return left;
		/* Before reading: otherwise it may end after the last record was read. */
		over = eventlog_has_ended(subscription);
		got = read_once(subscription, to);
	} while (!got && !over && may_wait && left > 0);
	return got || over ? got : -EAGAIN;
}

/*
 * The caller holds reading_lock. Skips buffers that the owner of the mapping
 * has released: it has reported their records and losses.
 */
static void skip_released(struct eventlog_read_cursor *cursor, u64 drained)
{
	const struct eventlog_buffer *descriptor = eventlog_descriptor_of(cursor, drained);

	if (drained <= cursor->generation)
		return;
	eventlog_cursor_move(cursor, drained);
	cursor->records_reported = descriptor->records_before;
	cursor->lost_reported = max(cursor->lost_reported, descriptor->lost_before);
}

/*
 * Releases buffers below a generation to writers. Returns 0, or -EINVAL if
 * there is no such ring, or if the generation has not begun or was released
 * before.
 */
int eventlog_release_buffers(struct eventlog_subscription *subscription,
			     const struct eventlog_buffer_release *given)
{
	const u32 count = subscription->memory.head->ring_count - 1;
	struct eventlog_read_cursor *cursor;
	struct eventlog_ring *ring;
	u64 control, active;
	int error = -EINVAL;

	if (given->ring >= count)
		return -EINVAL;
	cursor = &subscription->cursor[array_index_nospec(given->ring, count)];
	ring = cursor->ring;
	if (mutex_lock_interruptible(&subscription->reading_lock))
		return -ERESTARTSYS;
	/* Before the descriptor that it names. */
	control = smp_load_acquire(&ring->control);
	active = eventlog_descriptor_of(cursor, eventlog_generation_of(control))->generation;
	if (given->drained < ring->drained || given->drained > active)
		goto unlock;
	if (!eventlog_overwrites(cursor)) {
		skip_released(cursor, given->drained);
		/* After the caller's reads of the mapping, which precede this system call. */
		smp_store_release(&ring->drained, given->drained);
	}
	WRITE_ONCE(cursor->seen_control, given->seen);
	WRITE_ONCE(cursor->seen_lost, given->lost_seen);
	error = 0;
unlock:
	mutex_unlock(&subscription->reading_lock);
	return error;
}

/* Number of records that a ring has recorded, ever. */
static u64 ring_recorded(const struct eventlog_read_cursor *cursor)
{
	u64 control, again, generation, before;

	do {
		const struct eventlog_buffer *descriptor;

		/* Before the descriptor that it names. */
		control = smp_load_acquire(&cursor->ring->control);
		descriptor = eventlog_descriptor_of(cursor, eventlog_generation_of(control));
		before = READ_ONCE(descriptor->records_before);
		smp_rmb(); /* Validates that the descriptor had this generation. */
		generation = READ_ONCE(descriptor->generation) & EVENTLOG_GENERATION_MASK;
		again = READ_ONCE(cursor->ring->control);
	} while (generation != eventlog_generation_of(control) ||
		 generation != eventlog_generation_of(again));
	return before + eventlog_count_of(control);
}

static void add_ring(struct eventlog_read_cursor *cursor, struct eventlog_statistics *counts)
{
	struct eventlog_read_item item;

	counts->recorded += ring_recorded(cursor);
	counts->lost += READ_ONCE(cursor->ring->lost);
	counts->lost_reported += cursor->lost_reported;
	if (!counts->next_size && eventlog_find_item(cursor, &item))
		counts->next_size = eventlog_item_size(&item, false);
}

/* Fills in the statistics. Returns 0, or -EINVAL if there is no such ring. */
int eventlog_count(struct eventlog_subscription *subscription, struct eventlog_statistics *counts)
{
	const struct eventlog_region *region = subscription->memory.head;
	const u32 count = region->ring_count - 1;
	u32 i;

	if (counts->ring != EVENTLOG_ALL_RINGS && counts->ring >= count)
		return -EINVAL;
	if (mutex_lock_interruptible(&subscription->reading_lock))
		return -ERESTARTSYS;
	if (counts->ring != EVENTLOG_ALL_RINGS)
		add_ring(&subscription->cursor[array_index_nospec(counts->ring, count)], counts);
	else
		for (i = 0; i < count; i++)
			add_ring(&subscription->cursor[(subscription->next_ring + i) % count],
				 counts);
	counts->read = subscription->read;
	counts->overwritten = subscription->overwritten;
	counts->providers_refused = READ_ONCE(region->providers_refused);
	counts->memory = (u64)atomic_long_read(&subscription->memory.charged) << PAGE_SHIFT;
	mutex_unlock(&subscription->reading_lock);
	return 0;
}
