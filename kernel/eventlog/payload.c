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
#define NUL_OFFSET_IN_WORD 0
#else
#define NUL_OFFSET_IN_WORD 3
#endif

/* Where something lies in the payload, by the word that points to it. */
struct data_loc {
	u32 start;
	u32 length;
};

/* Returns false if that is in front of the payload. */
static bool read_data_loc(const struct eventlog_field *field, const u8 *payload,
			  struct data_loc *data_loc)
{
	u32 word;

	memcpy(&word, payload + field->offset, sizeof(word)); /* it may lie anywhere */
	data_loc->length = word >> 16;
	data_loc->start = word & 0xffff;
	if (field->is_relative) {
		data_loc->start += field->offset + sizeof(word);
		return true;
	}
	if (data_loc->start < sizeof(struct trace_entry))
		return false;
	data_loc->start -= sizeof(struct trace_entry);
	return true;
}

/* A null pointer, whose word is 0; one that points from the entry's beginning cannot be. */
static bool is_null(const struct eventlog_field *field, const u8 *payload)
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
	struct data_loc data_loc;
	u32 i;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];

		if (!eventlog_field_is_dynamic(field) || is_null(field, payload))
			continue;
		if (!read_data_loc(field, payload, &data_loc) || data_loc.start < layout->size ||
		    data_loc.start + data_loc.length > size)
			return -EFAULT;
		if (field->kind == EVENTLOG_STRING &&
		    (!data_loc.length || payload[data_loc.start + data_loc.length - 1]))
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
	struct data_loc data_loc;
	u32 i, word;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];

		if (!eventlog_field_is_dynamic(field))
			continue;
		if (is_null(field, payload)) {
			data_loc.length = field->kind == EVENTLOG_STRING;
			data_loc.start = field->offset + NUL_OFFSET_IN_WORD;
		} else {
			read_data_loc(field, payload, &data_loc);
		}
		word = data_loc.length << 16 | (u32)(data_loc.start + sizeof(struct trace_entry));
		memcpy(payload + field->offset, &word, sizeof(word));
	}
}
