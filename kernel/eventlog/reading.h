/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading subscriptions: shared functions of reading.c, read_cursor.c and
 * read_wait.c.
 */
#ifndef EVENTLOG_READING_H
#define EVENTLOG_READING_H

#include "record.h"
#include "source.h"

/* The next item of a ring: a gap, a record, or both. */
struct eventlog_read_item {
	const void *record; /* NULL: only a gap */
	u32 size; /* with padding; 0: only a gap */
	u64 lost; /* the gap in front of the record */
	u64 overwritten;
	u64 time; /* of the marker of a run that begins here */
	u64 lost_reported; /* the cursor's value once the item has been read */
	u64 context; /* the same, of a record */
};

static inline bool eventlog_is_sealed(u64 control)
{
	return eventlog_position_of(control) == EVENTLOG_SEALED;
}

static inline bool eventlog_overwrites(const struct eventlog_read_cursor *cursor)
{
	return cursor->subscription->memory.head->features & EVENTLOG_FEATURE_OVERWRITE;
}

static inline struct eventlog_buffer *
eventlog_descriptor_of(const struct eventlog_read_cursor *cursor, u64 generation)
{
	struct eventlog_buffer *descriptors = (void *)(cursor->ring + 1);

	return &descriptors[generation & (cursor->subscription->memory.head->buffer_count - 1)];
}

static inline void eventlog_cursor_move(struct eventlog_read_cursor *cursor, u64 generation)
{
	cursor->generation = generation;
	cursor->offset = 0;
	cursor->records = 0;
	cursor->context = 0;
}

static inline bool eventlog_item_has_gap(const struct eventlog_read_item *item)
{
	return item->lost || item->overwritten;
}

/* Bytes that a read returns for it. `in_run`: the item before it was of the same ring and read. */
static inline u32 eventlog_item_size(const struct eventlog_read_item *item, bool in_run)
{
	const bool begins_run = !in_run || eventlog_item_has_gap(item);

	return (begins_run ? EVENTLOG_RUN_MARKER_SIZE : 0) + item->size;
}

/* read_cursor.c */
bool eventlog_find_item(struct eventlog_read_cursor *cursor, struct eventlog_read_item *item);

/* read_wait.c */
void eventlog_waiting_init(struct eventlog_subscription *subscription);
void eventlog_waiting_exit(struct eventlog_subscription *subscription);
bool eventlog_has_ended(const struct eventlog_subscription *subscription);
bool eventlog_is_ready(struct eventlog_subscription *subscription);

#endif /* EVENTLOG_READING_H */
