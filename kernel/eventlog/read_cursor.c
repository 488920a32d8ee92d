// SPDX-License-Identifier: GPL-2.0
/*
 * Finds what comes next in a ring: the record at the cursor, or the gap in front
 * of it. "Rules for readers" in uapi/linux/eventlog.h has the protocol; the
 * writers are the kernel's own and are trusted.
 *
 * The caller holds reading_lock, which protects the cursors.
 */
#include "reading.h"

/* Retries for a buffer that is overwritten while it is read. */
#define OVERTAKEN_RETRIES_MAX 64

enum find_result {
	NOTHING,
	ITEM,
	RETRY, /* the cursor moved to the next buffer, or the writer was faster */
};

/* Returns whether the cursor's buffer was not reused: then what was read of it is valid. */
static bool is_buffer_intact(const struct eventlog_read_cursor *cursor)
{
	const u64 generation = cursor->generation;
	u64 ahead;

	if (!eventlog_overwrites(cursor))
		return true;
	smp_rmb(); /* after everything that was read of the buffer */
	ahead = eventlog_generation_of(READ_ONCE(cursor->ring->control)) - generation;
	return READ_ONCE(eventlog_descriptor_of(cursor, generation)->generation) == generation &&
	       (ahead & EVENTLOG_GENERATION_MASK) < cursor->subscription->memory.head->buffer_count;
}

/*
 * In overwrite mode, moves the cursor to the oldest buffer that is left.
 * Returns false if a writer switched meanwhile.
 */
static bool skip_overwritten(struct eventlog_read_cursor *cursor, u64 control)
{
	const u64 count = cursor->subscription->memory.head->buffer_count;
	const u64 active = eventlog_generation_of(control);
	u64 newest;

	if (!eventlog_overwrites(cursor))
		return true;
	newest = READ_ONCE(eventlog_descriptor_of(cursor, active)->generation);
	if ((newest & EVENTLOG_GENERATION_MASK) != active)
		return false;
	if (cursor->generation + count <= newest)
		eventlog_cursor_move(cursor, newest + 1 - count);
	return true;
}

/*
 * Returns whether losses counted in `lost` may belong in front of a record that
 * this control word does not show: a nested writer may have filled the next
 * buffer already.
 */
static bool has_switched(const struct eventlog_read_cursor *cursor, u64 control)
{
	const u64 next = cursor->generation + 1;

	smp_rmb(); /* after `lost` */
	return READ_ONCE(eventlog_descriptor_of(cursor, next)->generation) == next ||
	       READ_ONCE(cursor->ring->control) != control;
}

/* Losses behind the last record of a full ring. They increase while the ring is full. */
static enum find_result find_last_gap(struct eventlog_read_cursor *cursor, u64 control, u64 now,
				      struct eventlog_read_item *item)
{
	const bool is_full = eventlog_is_sealed(control);
	const u64 lost = is_full ? READ_ONCE(cursor->ring->lost) : cursor->lost_reported;

	if (is_full && has_switched(cursor, control))
		return RETRY;
	item->record = NULL;
	item->size = 0;
	item->overwritten = 0;
	item->lost = lost - cursor->lost_reported;
	item->lost_reported = lost;
	/*
	 * Records that follow in this ring are written after `control` was loaded, so later
	 * than `now`. Records before the gap may be as late as that.
	 */
	item->time = max(now, cursor->last_time);
	if (item->lost)
		return ITEM;
	WRITE_ONCE(cursor->seen_lost, lost);
	WRITE_ONCE(cursor->seen_control, control);
	return NOTHING;
}

/*
 * Finds size and time of the record at the cursor. In overwrite mode its words
 * may be overwritten at any time: each is used only after the buffer was found
 * intact behind its load, so that no access is beyond the buffer.
 */
static enum find_result measure_record(const struct eventlog_read_cursor *cursor, const u64 *at,
				       struct eventlog_read_item *item)
{
	const u64 head = READ_ONCE(at[0]);
	u32 header = EVENTLOG_SHORT_HEADER_SIZE;
	u32 payload = eventlog_record_short_size(head);
	u64 extended = 0;

	item->context = cursor->context;
	if (!is_buffer_intact(cursor))
		return RETRY;
	item->time = item->context << 32 | (u32)head;
	switch (eventlog_record_kind(head)) {
	case EVENTLOG_KIND_SHORT:
		/* Its CONTEXT record has been read: a buffer can be read alone. */
		break;
	case EVENTLOG_KIND_CONTEXT:
		header = EVENTLOG_CONTEXT_HEADER_SIZE;
		item->context = READ_ONCE(at[1]);
		item->time = item->context << 32 | (u32)head;
		break;
	default:
		header = EVENTLOG_EXTENDED_HEADER_SIZE;
		item->time = READ_ONCE(at[1]) << 32 | (u32)head;
		extended = READ_ONCE(at[2]);
		payload = eventlog_record_extended_size(extended);
		break;
	}
	item->size = ALIGN(header + payload, EVENTLOG_RECORD_ALIGNMENT);
	/*
	 * A custom time may be any time. The record's position is behind the previous one's
	 * time.
	 */
	if (eventlog_record_flags(extended) & EVENTLOG_RECORD_CUSTOM_TIME)
		item->time = cursor->last_time;
	if (!is_buffer_intact(cursor))
		return RETRY;
	return WARN_ON_ONCE(item->size > EVENTLOG_RECORD_SIZE_MAX) ? NOTHING : ITEM;
}

/* The record at the cursor, with the gap in front of it. */
static enum find_result take_record(const struct eventlog_read_cursor *cursor,
				    struct eventlog_read_item *item)
{
	const struct eventlog_memory *memory = &cursor->subscription->memory;
	const u64 buffer = cursor->generation & (memory->head->buffer_count - 1);
	const u8 *at = memory->buffers[cursor->index] + buffer * memory->head->buffer_size +
		       cursor->offset;
	const enum find_result result = measure_record(cursor, (const u64 *)at, item);

	item->record = at;
	if (result == ITEM && eventlog_overwrites(cursor)) {
		memcpy(cursor->subscription->copy, at, item->size);
		item->record = cursor->subscription->copy;
		if (!is_buffer_intact(cursor))
			return RETRY;
	}
	return result;
}

/* The next item in the cursor's buffer. */
static enum find_result find_in_buffer(struct eventlog_read_cursor *cursor, u64 control, u64 now,
				       struct eventlog_read_item *item)
{
	const u64 generation = cursor->generation;
	const struct eventlog_buffer *descriptor = eventlog_descriptor_of(cursor, generation);
	const bool is_active = eventlog_generation_of(control) ==
			       (generation & EVENTLOG_GENERATION_MASK);
	u64 filled = control;
	u64 lost, before;

	if (!is_active || eventlog_is_sealed(control))
		filled = READ_ONCE(descriptor->sealed);
	before = READ_ONCE(descriptor->records_before);
	lost = READ_ONCE(descriptor->lost_before);
	if (!is_buffer_intact(cursor))
		return RETRY;
	if (cursor->offset < eventlog_position_of(filled) * EVENTLOG_RECORD_ALIGNMENT) {
		item->overwritten = before + cursor->records - cursor->records_reported;
		item->lost_reported = max(lost, cursor->lost_reported);
		item->lost = item->lost_reported - cursor->lost_reported;
		return take_record(cursor, item);
	}
	if (is_active)
		return find_last_gap(cursor, control, now, item);
	if (!eventlog_overwrites(cursor))
		/* After the buffer was read. Pairs with the acquire in may_switch() of ring.c. */
		smp_store_release(&cursor->ring->drained, generation + 1);
	eventlog_cursor_move(cursor, generation + 1);
	return RETRY;
}

/* The caller holds reading_lock. Finds the next item of a ring. Returns false if there is none. */
bool eventlog_find_item(struct eventlog_read_cursor *cursor, struct eventlog_read_item *item)
{
	const u8 clock = cursor->subscription->memory.head->clock;
	u32 tries = OVERTAKEN_RETRIES_MAX + EVENTLOG_BUFFERS_MAX;
	enum find_result result = RETRY;

	while (result == RETRY && tries--) {
		const u64 now = eventlog_clock_now(clock);
		/*
		 * Everything up to it is complete. Pairs with the release in
		 * eventlog_ring_commit().
		 */
		const u64 control = smp_load_acquire(&cursor->ring->control);

		if (skip_overwritten(cursor, control))
			result = find_in_buffer(cursor, control, now, item);
	}
	return result == ITEM;
}
