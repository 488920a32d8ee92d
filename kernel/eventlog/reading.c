// SPDX-License-Identifier: GPL-2.0
/*
 * Reads subscriptions: complete records, with a gap record in front of those
 * behind a loss, and waiting for records. The protocol is "Rules for readers"
 * in uapi/linux/eventlog.h; the writers are the kernel's own and are trusted.
 *
 * Lock: reading_lock protects the cursors. Waiting takes arm_lock only.
 */
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "source.h"

/* Retries for a buffer that is overwritten while it is read. */
#define OVERTAKEN_RETRIES_MAX 64

/* The next item of a ring. */
struct item {
	const struct eventlog_record *record; /* NULL: only a gap */
	u32 size; /* with padding */
	struct eventlog_lost_payload missing; /* the gap in front of the record */
	u64 time; /* of the gap */
	u64 lost_reported; /* the cursor's value once the gap has been reported */
};

enum find_result {
	NOTHING,
	ITEM,
	RETRY, /* the cursor moved to the next buffer, or the writer was faster */
};

static bool is_sealed(u64 control)
{
	return eventlog_position_of(control) == EVENTLOG_SEALED;
}

/* Called without reading_lock. Returns whether a reader would find anything, or a full buffer. */
static bool ring_has_data(const struct eventlog_subscription *subscription, u32 index,
			  bool wake_at_switch)
{
	const struct eventlog_read_cursor *cursor = &subscription->cursor[index];
	const struct eventlog_ring *ring = eventlog_region_ring(&subscription->memory, index);
	/* Before `lost`. Pairs with the release in eventlog_ring_commit(). */
	const u64 control = smp_load_acquire(&ring->control);
	const u64 seen_control = READ_ONCE(cursor->seen_control);

	if (is_sealed(control) && READ_ONCE(ring->lost) != READ_ONCE(cursor->seen_lost))
		return true;
	if (control == seen_control)
		return false;
	if (!wake_at_switch)
		return control;
	return is_sealed(control) ||
	       eventlog_generation_of(control) != eventlog_generation_of(seen_control);
}

static bool any_ring_has_data(const struct eventlog_subscription *subscription, bool wake_at_switch)
{
	u32 i;

	for (i = 0; i + 1 < subscription->memory.head->ring_count; i++)
		if (ring_has_data(subscription, i, wake_at_switch))
			return true;
	return false;
}

/*
 * A value that changes with every record or loss, or with every switch if
 * readers wait for switches.
 */
static u64 state_of_rings(const struct eventlog_subscription *subscription)
{
	u64 state = 0;
	u32 i;

	for (i = 0; i + 1 < subscription->memory.head->ring_count; i++) {
		const struct eventlog_ring *ring =
			eventlog_region_ring(&subscription->memory, i);
		u64 control = READ_ONCE(ring->control);

		if (subscription->wake_at_switch && !is_sealed(control))
			control &= ~0ULL << EVENTLOG_GENERATION_SHIFT;
		state += control + READ_ONCE(ring->lost);
	}
	return state;
}

/* Returns whether everything that will ever be in the rings can be read now. */
static bool has_ended(const struct eventlog_subscription *subscription)
{
	/* Pairs with the release in eventlog_reading_end(). */
	return smp_load_acquire(&subscription->has_ended);
}

/*
 * Announces to writers that a reader waits. Returns whether there is something
 * to read already. Writers check `waiting` without a fence, so one that has not
 * seen it may have written what this check has not seen. The timer checks again
 * two ticks later, when both are visible.
 */
static bool arm_and_check(struct eventlog_subscription *subscription)
{
	unsigned long flags;

	WRITE_ONCE(subscription->waiting, true);
	smp_mb(); /* `waiting` before the loads of the rings */
	raw_spin_lock_irqsave(&subscription->arm_lock, flags);
	/*
	 * Everything since the first reader began to wait is news, also for readers that
	 * join later.
	 */
	if (!subscription->is_armed)
		subscription->state_reported = state_of_rings(subscription);
	subscription->is_armed = true;
	mod_timer(&subscription->recheck, jiffies + 2);
	raw_spin_unlock_irqrestore(&subscription->arm_lock, flags);
	return any_ring_has_data(subscription, subscription->wake_at_switch);
}

/* Wait condition of a reader that reads everything before it waits again. */
static bool is_ready(struct eventlog_subscription *subscription)
{
	return has_ended(subscription) ||
	       any_ring_has_data(subscription, subscription->wake_at_switch) ||
	       arm_and_check(subscription);
}

static void wake_readers(struct eventlog_subscription *subscription)
{
	wake_up_interruptible_poll(&subscription->readers, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

/*
 * Returns whether there is anything that waiting readers were not woken for. A
 * reader that begins to wait after this checks the rings itself and finds it:
 * queueing the work was a full barrier.
 */
static bool note_reported_state(struct eventlog_subscription *subscription)
{
	unsigned long flags;
	bool is_news;
	u64 state;

	raw_spin_lock_irqsave(&subscription->arm_lock, flags);
	state = state_of_rings(subscription);
	is_news = state != subscription->state_reported;
	subscription->state_reported = state;
	/* In the timer, a reader may have armed it again. */
	subscription->is_armed = timer_pending(&subscription->recheck);
	raw_spin_unlock_irqrestore(&subscription->arm_lock, flags);
	return is_news;
}

static void wake(struct irq_work *work)
{
	struct eventlog_subscription *subscription =
		container_of(work, struct eventlog_subscription, wake);

	note_reported_state(subscription);
	wake_readers(subscription);
}

static void recheck(struct timer_list *timer)
{
	struct eventlog_subscription *subscription =
		container_of(timer, struct eventlog_subscription, recheck);

	/*
	 * Otherwise a reader that waits for edges, and does not read, would be woken again
	 * and again.
	 */
	if (note_reported_state(subscription) &&
	    any_ring_has_data(subscription, subscription->wake_at_switch))
		wake_readers(subscription);
}

int eventlog_reading_init(struct eventlog_subscription *subscription)
{
	const struct eventlog_region *region = subscription->memory.head;
	u32 i;

	mutex_init(&subscription->reading_lock);
	raw_spin_lock_init(&subscription->arm_lock);
	init_waitqueue_head(&subscription->readers);
	init_irq_work(&subscription->wake, wake);
	timer_setup(&subscription->recheck, recheck, 0);
	subscription->cursor =
		kvcalloc(region->ring_count, sizeof(*subscription->cursor), GFP_KERNEL_ACCOUNT);
	if (!subscription->cursor)
		return -ENOMEM;
	for (i = 0; i < region->ring_count; i++)
		subscription->cursor[i].seen_control = EVENTLOG_SEALED;
	if (!(region->features & EVENTLOG_FEATURE_OVERWRITE))
		return 0;
	subscription->copy = kvmalloc(EVENTLOG_RECORD_SIZE_MAX, GFP_KERNEL_ACCOUNT);
	return subscription->copy ? 0 : -ENOMEM;
}

/* The caller guarantees that there are no writers. Ends waiting; the rings can be read. */
void eventlog_reading_end(struct eventlog_subscription *subscription)
{
	/* For readers of the mapping: with it, everything that was written. */
	smp_store_release(&subscription->memory.head->state, EVENTLOG_REGION_ENDED);
	/* For read(2): see has_ended(). */
	smp_store_release(&subscription->has_ended, true);
	wake_readers(subscription);
}

/* There are neither writers nor waiting readers. */
void eventlog_reading_exit(struct eventlog_subscription *subscription)
{
	if (!subscription->cursor)
		return;
	irq_work_sync(&subscription->wake);
	del_timer_sync(&subscription->recheck);
	kvfree(subscription->cursor);
	kvfree(subscription->copy);
}

static bool overwrites(const struct eventlog_subscription *subscription)
{
	return subscription->memory.head->features & EVENTLOG_FEATURE_OVERWRITE;
}

static struct eventlog_buffer *descriptor_of(const struct eventlog_subscription *subscription,
					     struct eventlog_ring *ring, u64 generation)
{
	struct eventlog_buffer *descriptors = (void *)(ring + 1);

	return &descriptors[generation & (subscription->memory.head->buffer_count - 1)];
}

static void move_to(struct eventlog_read_cursor *cursor, u64 generation)
{
	cursor->generation = generation;
	cursor->offset = 0;
	cursor->records = 0;
}

/* Returns whether the buffer still has this generation: then what was read of it is valid. */
static bool is_buffer_intact(const struct eventlog_subscription *subscription,
			     struct eventlog_ring *ring, u64 generation)
{
	u64 ahead;

	if (!overwrites(subscription))
		return true;
	smp_rmb(); /* after everything that was read of the buffer */
	ahead = eventlog_generation_of(READ_ONCE(ring->control)) - generation;
	return READ_ONCE(descriptor_of(subscription, ring, generation)->generation) ==
		       generation &&
	       (ahead & EVENTLOG_GENERATION_MASK) < subscription->memory.head->buffer_count;
}

/*
 * In overwrite mode, moves the cursor to the oldest buffer that is left.
 * Returns false if a writer switched meanwhile.
 */
static bool skip_overwritten(const struct eventlog_subscription *subscription,
			     struct eventlog_ring *ring, struct eventlog_read_cursor *cursor,
			     u64 control)
{
	const u64 count = subscription->memory.head->buffer_count;
	u64 newest;

	if (!overwrites(subscription))
		return true;
	newest = READ_ONCE(descriptor_of(subscription, ring,
					 eventlog_generation_of(control))->generation);
	if ((newest & EVENTLOG_GENERATION_MASK) != eventlog_generation_of(control))
		return false;
	if (cursor->generation + count <= newest)
		move_to(cursor, newest + 1 - count);
	return true;
}

/*
 * Returns whether losses counted in `lost` may belong in front of a record that
 * this control word does not show: a nested writer may have filled the next
 * buffer already.
 */
static bool has_switched(const struct eventlog_subscription *subscription,
			 struct eventlog_ring *ring, u64 generation, u64 control)
{
	smp_rmb(); /* after `lost` */
	return READ_ONCE(descriptor_of(subscription, ring, generation + 1)->generation) ==
		       generation + 1 ||
	       READ_ONCE(ring->control) != control;
}

/* Losses behind the last record of a full ring. They increase while the ring is full. */
static enum find_result find_last_gap(struct eventlog_subscription *subscription,
				      struct eventlog_ring *ring,
				      struct eventlog_read_cursor *cursor, u64 control, u64 now,
				      struct item *item)
{
	const u64 lost = is_sealed(control) ? READ_ONCE(ring->lost) : cursor->lost_reported;

	if (is_sealed(control) && has_switched(subscription, ring, cursor->generation, control))
		return RETRY;
	item->record = NULL;
	item->missing.overwritten = 0;
	item->missing.lost = lost - cursor->lost_reported;
	item->lost_reported = lost;
	/*
	 * Records that follow in this ring are written after `control` was loaded, so later
	 * than `now`. Records before the gap may be as late as that.
	 */
	item->time = max(now, cursor->last_time);
	if (item->missing.lost)
		return ITEM;
	WRITE_ONCE(cursor->seen_lost, lost);
	WRITE_ONCE(cursor->seen_control, control);
	return NOTHING;
}

/* The record at the cursor, with the gap in front of it. */
static enum find_result take_record(struct eventlog_subscription *subscription, u32 index,
				    struct eventlog_ring *ring, struct item *item)
{
	const struct eventlog_read_cursor *cursor = &subscription->cursor[index];
	const struct eventlog_memory *memory = &subscription->memory;
	const u64 buffer = cursor->generation & (memory->head->buffer_count - 1);
	const u8 *at = memory->buffers[index] + buffer * memory->head->buffer_size +
		       cursor->offset;
	u32 size;

	item->record = (const struct eventlog_record *)at;
	size = READ_ONCE(item->record->size);
	item->size = ALIGN(size, EVENTLOG_RECORD_ALIGNMENT);
	if (!is_buffer_intact(subscription, ring, cursor->generation))
		return RETRY;
	if (WARN_ON_ONCE(size < sizeof(*item->record) || size > EVENTLOG_RECORD_SIZE_MAX))
		return NOTHING;
	if (overwrites(subscription)) {
		memcpy(subscription->copy, at, item->size);
		item->record = (const struct eventlog_record *)subscription->copy;
		if (!is_buffer_intact(subscription, ring, cursor->generation))
			return RETRY;
	}
	/*
	 * A custom time may be any time. The record's position is behind the previous one's
	 * time.
	 */
	item->time = item->record->flags & EVENTLOG_RECORD_CUSTOM_TIME ? cursor->last_time :
								       item->record->time;
	return ITEM;
}

/* The next item in the cursor's buffer. */
static enum find_result find_in_buffer(struct eventlog_subscription *subscription, u32 index,
				       struct eventlog_ring *ring, u64 control, u64 now,
				       struct item *item)
{
	struct eventlog_read_cursor *cursor = &subscription->cursor[index];
	const u64 generation = cursor->generation;
	const struct eventlog_buffer *descriptor = descriptor_of(subscription, ring, generation);
	const bool is_active = eventlog_generation_of(control) ==
			       (generation & EVENTLOG_GENERATION_MASK);
	u64 filled = control;
	u64 lost, before;

	if (!is_active || is_sealed(control))
		filled = READ_ONCE(descriptor->sealed);
	before = READ_ONCE(descriptor->records_before);
	lost = READ_ONCE(descriptor->lost_before);
	if (!is_buffer_intact(subscription, ring, generation))
		return RETRY;
	if (cursor->offset < eventlog_position_of(filled) * EVENTLOG_RECORD_ALIGNMENT) {
		item->missing.overwritten =
			before + cursor->records - cursor->records_reported;
		item->lost_reported = max(lost, cursor->lost_reported);
		item->missing.lost = item->lost_reported - cursor->lost_reported;
		return take_record(subscription, index, ring, item);
	}
	if (is_active)
		return find_last_gap(subscription, ring, cursor, control, now, item);
	/* after the buffer was read; pairs with the acquire in may_switch() of ring.c */
	if (!overwrites(subscription))
		smp_store_release(&ring->drained, generation + 1);
	move_to(cursor, generation + 1);
	return RETRY;
}

/* The caller holds reading_lock. Finds the next item of a ring. Returns false if there is none. */
static bool find_item(struct eventlog_subscription *subscription, u32 index, struct item *item)
{
	struct eventlog_ring *ring = eventlog_region_ring(&subscription->memory, index);
	struct eventlog_read_cursor *cursor = &subscription->cursor[index];
	const u8 clock = subscription->memory.head->clock;
	enum find_result find_result = RETRY;
	u32 tries;

	for (tries = 0;
	     find_result == RETRY && tries < OVERTAKEN_RETRIES_MAX + EVENTLOG_BUFFERS_MAX;
	     tries++) {
		const u64 now = eventlog_clock_now(clock);
		/*
		 * Everything up to it is complete. Pairs with the release in
		 * eventlog_ring_commit().
		 */
		const u64 control = smp_load_acquire(&ring->control);

		if (skip_overwritten(subscription, ring, cursor, control))
			find_result = find_in_buffer(subscription, index, ring, control, now, item);
	}
	return find_result == ITEM;
}

static u32 size_of(const struct item *item)
{
	if (item->missing.lost || item->missing.overwritten)
		return sizeof(struct eventlog_record) + sizeof(item->missing);
	return item->size;
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

static bool put_missing(const struct item *item, u32 index, struct iov_iter *to)
{
	struct {
		struct eventlog_record record;
		struct eventlog_lost_payload missing;
	} gap = {
		.record = {
			.size = sizeof(gap),
			.provider = EVENTLOG_LOST_PROVIDER,
			.time = item->time,
			.cpu = index,
		},
		.missing = item->missing,
	};

	return copy_whole(&gap, sizeof(gap), to);
}

/* Copies the gap, or the record if there is no gap, and moves the cursor behind it. */
static bool put_item(struct eventlog_subscription *subscription, u32 index,
		     const struct item *item, struct iov_iter *to)
{
	struct eventlog_read_cursor *cursor = &subscription->cursor[index];

	if (item->missing.lost || item->missing.overwritten) {
		if (!put_missing(item, index, to))
			return false;
		cursor->lost_reported = item->lost_reported;
		cursor->records_reported += item->missing.overwritten;
		subscription->overwritten += item->missing.overwritten;
		cursor->last_time = item->time;
		return true;
	}
	if (!copy_whole(item->record, item->size, to))
		return false;
	cursor->offset += item->size;
	cursor->records++;
	cursor->records_reported++;
	cursor->last_time = item->time;
	subscription->read++;
	return true;
}

/* Returns 0, or why it stopped before the ring was empty: -EMSGSIZE or -EFAULT. */
static int read_ring(struct eventlog_subscription *subscription, u32 index, struct iov_iter *to)
{
	struct item item;

	while (find_item(subscription, index, &item)) {
		if (size_of(&item) > iov_iter_count(to))
			return -EMSGSIZE;
		if (!put_item(subscription, index, &item, to))
			return -EFAULT;
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
		const int failed = read_ring(subscription, (first + i) % count, to);

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
								is_ready(subscription), left);
		if (left < 0)
			return left;
		/* Before reading: otherwise it may end after the last record was read. */
		over = has_ended(subscription);
		got = read_once(subscription, to);
	} while (!got && !over && may_wait && left > 0);
	return got || over ? got : -EAGAIN;
}

__poll_t eventlog_poll(struct eventlog_subscription *subscription, struct file *file,
		       struct poll_table_struct *table)
{
	const __poll_t readable = EPOLLIN | EPOLLRDNORM;

	poll_wait(file, &subscription->readers, table);
	if (has_ended(subscription))
		return readable | EPOLLHUP;
	/*
	 * Also arms if there is something to read: edge-triggered readers wait for the next
	 * event.
	 */
	return arm_and_check(subscription) ? readable : 0;
}

/*
 * The caller holds reading_lock. Skips buffers that the owner of the mapping
 * has released: it has reported their records and losses.
 */
static void skip_released(struct eventlog_subscription *subscription, struct eventlog_ring *ring,
			  struct eventlog_read_cursor *cursor, u64 drained)
{
	const struct eventlog_buffer *descriptor = descriptor_of(subscription, ring, drained);

	if (drained <= cursor->generation)
		return;
	move_to(cursor, drained);
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
	u32 index;

	if (given->ring >= count)
		return -EINVAL;
	index = array_index_nospec(given->ring, count);
	cursor = &subscription->cursor[index];
	ring = eventlog_region_ring(&subscription->memory, index);
	if (mutex_lock_interruptible(&subscription->reading_lock))
		return -ERESTARTSYS;
	/* Before the descriptor that it names. */
	control = smp_load_acquire(&ring->control);
	active = descriptor_of(subscription, ring, eventlog_generation_of(control))->generation;
	if (given->drained < ring->drained || given->drained > active)
		goto unlock;
	if (!overwrites(subscription)) {
		skip_released(subscription, ring, cursor, given->drained);
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
static u64 ring_recorded(const struct eventlog_subscription *subscription,
			 struct eventlog_ring *ring)
{
	u64 control, again, generation, before;

	do {
		const struct eventlog_buffer *descriptor;

		/* Before the descriptor that it names. */
		control = smp_load_acquire(&ring->control);
		descriptor = descriptor_of(subscription, ring, eventlog_generation_of(control));
		before = READ_ONCE(descriptor->records_before);
		smp_rmb(); /* Validates that the descriptor had this generation. */
		generation = READ_ONCE(descriptor->generation) & EVENTLOG_GENERATION_MASK;
		again = READ_ONCE(ring->control);
	} while (generation != eventlog_generation_of(control) ||
		 generation != eventlog_generation_of(again));
	return before + eventlog_count_of(control);
}

static void add_ring(struct eventlog_subscription *subscription, u32 index,
		     struct eventlog_statistics *counts)
{
	struct eventlog_ring *ring = eventlog_region_ring(&subscription->memory, index);
	struct item item;

	counts->recorded += ring_recorded(subscription, ring);
	counts->lost += READ_ONCE(ring->lost);
	counts->lost_reported += subscription->cursor[index].lost_reported;
	if (!counts->next_size && find_item(subscription, index, &item))
		counts->next_size = size_of(&item);
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
		add_ring(subscription, array_index_nospec(counts->ring, count), counts);
	else
		for (i = 0; i < count; i++)
			add_ring(subscription, (subscription->next_ring + i) % count, counts);
	counts->read = subscription->read;
	counts->overwritten = subscription->overwritten;
	counts->providers_refused = READ_ONCE(region->providers_refused);
	counts->memory = (u64)atomic_long_read(&subscription->memory.charged) << PAGE_SHIFT;
	mutex_unlock(&subscription->reading_lock);
	return 0;
}
