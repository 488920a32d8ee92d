// SPDX-License-Identifier: GPL-2.0
/*
 * Validates payloads of applications, in the kernel's copy, before any listener
 * sees them.
 *
 * Pure functions of a layout and a payload; any context.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "eventlog.h"

/* Offset of the byte 0 in a word with a length of 1. */
#ifdef __BIG_ENDIAN
#define NUL_OFFSET_IN_WORD 0
#else
#define NUL_OFFSET_IN_WORD 3
#endif

/* What a word in the payload points to. */
struct data_loc {
	u32 start;
	u32 length;
};

/* Returns false if the word points in front of the payload. */
static bool read_data_loc(const struct eventlog_field *field, const u8 *payload,
			  struct data_loc *data_loc)
{
	u32 word;

	memcpy(&word, payload + field->offset, sizeof(word)); /* may be unaligned */
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

/* A null pointer is a relative word of 0. An absolute word of 0 points to the entry's header. */
static bool is_null(const struct eventlog_field *field, const u8 *payload)
{
	u32 word;

	memcpy(&word, payload + field->offset, sizeof(word));
	return !word && field->is_relative;
}

/*
 * Checks the words of a payload. Their bytes lie behind all fields, so that
 * changing a word changes nothing that another word points to. A string ends
 * with NUL, whatever follows it. A sequence has whole elements. A relative word
 * of 0 is a null pointer, or a sequence without elements.
 * Returns 0, or -EFAULT as user_events does.
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
		if (field->kind == EVENTLOG_SEQUENCE && data_loc.length % field->element_size)
			return -EFAULT;
	}
	return 0;
}

/*
 * Makes relative words relative to the beginning of the trace entry, whose
 * header precedes the payload. The payload has been checked. A null pointer
 * becomes an empty array; for a string, which needs its NUL, that is a 0 byte
 * of the word itself.
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
