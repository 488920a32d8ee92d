/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes a record of a ring, from the beginning of its buffer on, for ring_nest.c. */
#ifndef DECODED_RECORD_H
#define DECODED_RECORD_H

#include "../../eventlog/record.h"

/* A record, decoded. */
struct decoded {
	u32 kind;
	u32 event;
	u32 thread;
	u64 time;
	u32 cpu; /* of an EXTENDED record */
	u32 flags;
	u32 header;
	u32 size; /* of the payload */
	u64 number; /* the first word of the payload */
};

/*
 * Returns what is wrong, or NULL. `context` is word 1 of the last CONTEXT record in
 * the buffer, or 0.
 */
static inline const char *decode(const u8 *at, u64 left, u64 *context, struct decoded *record)
{
	u64 words[3] = { 0 };

	memcpy(words, at, left < sizeof(words) ? left : sizeof(words));
	record->kind = eventlog_record_kind(words[0]);
	record->event = words[0] >> EVENTLOG_EVENT_SHIFT;
	record->size = eventlog_record_short_size(words[0]);
	record->header = (record->kind + 1) * sizeof(u64);
	record->cpu = 0;
	record->flags = 0;
	if (record->kind == EVENTLOG_KIND_SHORT && !*context)
		return "a short record has no context in its buffer";
	if (record->kind == EVENTLOG_KIND_SHORT)
		words[1] = *context;
	else if (record->kind == EVENTLOG_KIND_CONTEXT)
		*context = words[1];
	else if (record->kind != EVENTLOG_KIND_EXTENDED || record->size)
		return "a record has an invalid header";
	if (record->kind == EVENTLOG_KIND_EXTENDED) {
		record->cpu = words[2] >> EVENTLOG_CPU_SHIFT & 0xffff;
		record->flags = eventlog_record_flags(words[2]);
		record->size = eventlog_record_extended_size(words[2]);
	}
	record->thread = words[1] >> EVENTLOG_THREAD_SHIFT;
	record->time = words[1] << 32 | (u32)words[0];
	if (record->header + record->size > left || record->size < sizeof(record->number))
		return "a record has an invalid size";
	memcpy(&record->number, at + record->header, sizeof(record->number));
	return NULL;
}

#endif /* DECODED_RECORD_H */
