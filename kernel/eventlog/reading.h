/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading subscriptions: shared functions of reading.c, read_cursor.c and
 * read_wait.c.
 */
#ifndef EVENTLOG_READING_H
#define EVENTLOG_READING_H

#include "source.h"

/* The next item of a ring. */
struct eventlog_read_item {
	const struct eventlog_record *record; /* NULL: only a gap */
	u32 size; /* with padding */
	struct eventlog_lost_payload missing; /* the gap in front of the record */
	u64 time; /* of the gap */
	u64 lost_reported; /* the cursor's value once the gap has been reported */
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
}

/* Bytes that the next read returns for it: of the gap, or of the record. */
static inline u32 eventlog_item_size(const struct eventlog_read_item *item)
{
	if (item->missing.lost || item->missing.overwritten)
		return sizeof(struct eventlog_record) + sizeof(item->missing);
	return item->size;
}

/* read_cursor.c */
bool eventlog_find_item(struct eventlog_read_cursor *cursor, struct eventlog_read_item *item);

/* read_wait.c */
void eventlog_waiting_init(struct eventlog_subscription *subscription);
void eventlog_waiting_exit(struct eventlog_subscription *subscription);
bool eventlog_has_ended(const struct eventlog_subscription *subscription);
bool eventlog_is_ready(struct eventlog_subscription *subscription);

#endif /* EVENTLOG_READING_H */
