// SPDX-License-Identifier: GPL-2.0
/*
 * Checks what an application has written, in the kernel's copy of it, before
 * anybody else sees it.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "eventlog.h"

/*
 * Turns words that point from where they stand into such that point from the
 * beginning of the trace's entry, whose header stands in front of the payload.
 *
 * What they point to lies behind all fields, so that no word is changed that
 * another one points to; a text ends with NUL, whatever follows it.
 * Returns 0, or -EFAULT if that is not so, as user_events do.
 */
int eventlog_payload_make_absolute(const struct eventlog_layout *layout, u8 *payload, size_t size)
{
	u32 i;

	for (i = 0; i < layout->field_count; i++) {
		const struct eventlog_field *field = &layout->fields[i];
		u8 *const at = payload + field->offset;
		u32 word, length, start;

		if (!eventlog_is_elsewhere(field))
			continue;
		memcpy(&word, at, sizeof(word)); /* it may lie anywhere */
		length = word >> 16;
		start = word & 0xffff;
		if (field->is_relative)
			start += field->offset + sizeof(word);
		else if (start >= sizeof(struct trace_entry))
			start -= sizeof(struct trace_entry);
		else
			return -EFAULT;
		if (start < layout->size || start + length > size)
			return -EFAULT;
		if (field->kind == EVENTLOG_TEXT && (!length || payload[start + length - 1]))
			return -EFAULT;
		word = length << 16 | (u32)(start + sizeof(struct trace_entry));
		memcpy(at, &word, sizeof(word));
	}
	return 0;
}
