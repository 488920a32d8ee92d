/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers of records, as laid out in uapi/linux/eventlog.h, for writers and for
 * readers of what the kernel itself has written.
 */
#ifndef EVENTLOG_RECORD_H
#define EVENTLOG_RECORD_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>

/* Returns whether a record can do with the context of the record before it. */
static __always_inline bool eventlog_record_is_short(unsigned long size, u32 flags)
{
	return size <= EVENTLOG_SHORT_SIZE_MAX && !flags;
}

/* Word 1. */
static __always_inline u64 eventlog_record_context(u32 thread, u64 time)
{
	return (u64)thread << EVENTLOG_THREAD_SHIFT | time >> 32;
}

static __always_inline u64 eventlog_record_word(u32 event, u64 kind, u64 size, u64 time)
{
	return (u64)event << EVENTLOG_EVENT_SHIFT | kind << EVENTLOG_KIND_SHIFT |
	       size << EVENTLOG_SHORT_SIZE_SHIFT | (u32)time;
}

/*
 * Stores the header of a SHORT record, or with `begins` that of a CONTEXT
 * record. Returns where the payload goes.
 */
static __always_inline u8 *eventlog_record_put_short(u64 *to, u32 event, unsigned long size,
						     u64 time, u32 thread, bool begins)
{
	to[0] = eventlog_record_word(event, begins ? EVENTLOG_KIND_CONTEXT : EVENTLOG_KIND_SHORT,
				     size, time);
	if (begins)
		to[1] = eventlog_record_context(thread, time);
	return (u8 *)(to + 1 + begins);
}

/* Stores the header of an EXTENDED record. Returns where the payload goes. */
static __always_inline u8 *eventlog_record_put_extended(u64 *to, u32 event, unsigned long size,
							u64 time, u32 thread, u32 cpu, u32 flags)
{
	to[0] = eventlog_record_word(event, EVENTLOG_KIND_EXTENDED, 0, time);
	to[1] = eventlog_record_context(thread, time);
	to[2] = (u64)cpu << EVENTLOG_CPU_SHIFT | (u64)flags << EVENTLOG_FLAGS_SHIFT | size;
	return (u8 *)(to + 3);
}

static inline u32 eventlog_record_kind(u64 word)
{
	return word >> EVENTLOG_KIND_SHIFT & EVENTLOG_KIND_MASK;
}

/* Of any record but an EXTENDED one. */
static inline u32 eventlog_record_short_size(u64 word)
{
	return word >> EVENTLOG_SHORT_SIZE_SHIFT & EVENTLOG_SHORT_SIZE_MAX;
}

/* Of word 2. */
static inline u32 eventlog_record_flags(u64 word)
{
	return word >> EVENTLOG_FLAGS_SHIFT & 0xffff;
}

static inline u32 eventlog_record_extended_size(u64 word)
{
	return word & 0xffff;
}

#endif /* EVENTLOG_RECORD_H */
