// SPDX-License-Identifier: GPL-2.0
/*
 * Checks what an application has written, in the kernel's copy of it, before
 * anybody else sees it.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "eventlog.h"

/* Of a word that says a length of 1, the byte that is 0. */
#ifdef __BIG_ENDIAN
#define ZERO_OF_WORD 0
#else
#define ZERO_OF_WORD 3
#endif

/* Where something lies in the payload, by the word that points to it. */
struct place {
	u32 start;
	u32 length;
};

/* Returns false if that is in front of the payload. */
static bool find_place(const struct eventlog_field *field, const u8 *payload, struct place *place)
{
	u32 word;

	memcpy(&word, payload + field->offset, sizeof(word)); /* it may lie anywhere */
	place->length = word >> 16;
	place->start = word & 0xffff;
	if (field->is_relative) {
		place->start += field->offset + sizeof(word);
		return true;
	}
	if (place->start < sizeof(struct trace_entry))
		return false;
	place->start -= sizeof(struct trace_entry);
	return true;
}

/* A null pointer, whose word is 0; one that points from the entry's beginning cannot be. */
static bool is_absent(const struct eventlog_field *field, const u8 *payload)
{
	u32 word;

	memcpy(&word, payload + field->offset, sizeof(word));
	return !word && field->is_relative;
}

/*
 * What words point to lies behind all fields, so that no word is changed that
 * another one points to; a text ends with NUL, whatever follows it.  A relative
 * word that is 0 points to nothing.
 * Returns 0, or -EFAULT if that is not so, as user_events do.
 */
int eventlog_payload_check(const struct eventlog_layout *layout, const u8 *payload, size_t size)
{
	struct place place;
	u32 i;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];

		if (!eventlog_is_elsewhere(field) || is_absent(field, payload))
			continue;
		if (!find_place(field, payload, &place) || place.start < layout->size ||
		    place.start + place.length > size)
			return -EFAULT;
		if (field->kind == EVENTLOG_TEXT &&
		    (!place.length || payload[place.start + place.length - 1]))
			return -EFAULT;
	}
	return 0;
}

/*
 * Turns words that point from where they stand into such that point from the
 * beginning of the trace's entry, whose header stands in front of the payload.
 * That has been checked.  What is not there is shown without bytes; as a text
 * has to end, its end is in the word itself.
 */
void eventlog_payload_make_absolute(const struct eventlog_layout *layout, u8 *payload)
{
	struct place place;
	u32 i, word;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];

		if (!eventlog_is_elsewhere(field))
			continue;
		if (is_absent(field, payload)) {
			place.length = field->kind == EVENTLOG_TEXT;
			place.start = field->offset + ZERO_OF_WORD;
		} else {
			find_place(field, payload, &place);
		}
		word = place.length << 16 | (u32)(place.start + sizeof(struct trace_entry));
		memcpy(payload + field->offset, &word, sizeof(word));
	}
}
