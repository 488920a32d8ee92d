// SPDX-License-Identifier: GPL-2.0
/*
 * Prints an event in ftrace's files `trace` and `trace_pipe`:
 *
 *	tcp_loss: seq=4711 why=timeout
 *
 * The entry is in a buffer and may have been truncated: every access is checked
 * against its size.
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "eventlog.h"

/* How much of a field a line shows. The buffer has all of it. */
#define TEXT_MAX 3072
#define BYTES_MAX 64
#define ELEMENTS_MAX 32

/* Fields are packed: `at` may be unaligned. */
static u64 number_at(const void *at, u32 size, bool is_signed)
{
	u64 value = 0;

#ifdef __BIG_ENDIAN
	memcpy((u8 *)&value + sizeof(value) - size, at, size);
#else
	memcpy(&value, at, size);
#endif
	return is_signed ? (u64)sign_extend64(value, size * BITS_PER_BYTE - 1) : value;
}

/* Control characters are escaped: a text must not look like several lines. */
static void print_text(struct trace_seq *seq, const char *text, size_t length)
{
	const size_t end = strnlen(text, length);
	const size_t shown = min_t(size_t, end, TEXT_MAX);

	trace_seq_printf(seq, "%*pE%s", (int)shown, text, shown < end ? "..." : "");
}

static void print_bytes(struct trace_seq *seq, const void *bytes, size_t length)
{
	const size_t shown = min_t(size_t, length, BYTES_MAX);

	if (length)
		trace_seq_printf(seq, "%*ph%s", (int)shown, bytes, shown < length ? " ..." : "");
}

/* Floats are shown by their bits, as structs of their size are. */
static void print_sequence(struct trace_seq *seq, const struct eventlog_field *field,
			   const void *elements, size_t length)
{
	const char *format = field->is_float ? "%s0x%llx" : field->is_signed ? "%s%lld" : "%s%llu";
	const u32 count = length / field->element_size;
	u32 i;

	for (i = 0; i < count && i < ELEMENTS_MAX; i++)
		trace_seq_printf(seq, format, i ? " " : "",
				 number_at(elements + i * field->element_size, field->element_size,
					   field->is_signed));
	if (i < count)
		trace_seq_puts(seq, " ...");
}

static void print_dynamic(struct trace_iterator *iter, const struct eventlog_field *field,
			  const void *at)
{
	const void *bytes;
	u32 word, start, length;

	memcpy(&word, at, sizeof(word));
	start = word & 0xffff;
	length = word >> 16;
	bytes = (const void *)iter->ent + start;
	if (start + length > iter->ent_size)
		trace_seq_puts(&iter->seq, "<cut>");
	else if (field->kind == EVENTLOG_STRING)
		print_text(&iter->seq, bytes, length);
	else if (field->kind == EVENTLOG_SEQUENCE)
		print_sequence(&iter->seq, field, bytes, length);
	else
		print_bytes(&iter->seq, bytes, length);
}

static void print_field(struct trace_iterator *iter, const struct eventlog_field *field)
{
	const size_t offset = sizeof(struct trace_entry) + field->offset;
	const void *at = (const void *)iter->ent + offset;
	struct trace_seq *seq = &iter->seq;

	if (offset + field->size > iter->ent_size) {
		trace_seq_puts(seq, "<cut>");
		return;
	}
	switch (field->kind) {
	case EVENTLOG_INTEGER:
		trace_seq_printf(seq, field->is_signed ? "%lld" : "%llu",
				 number_at(at, field->size, field->is_signed));
		break;
	case EVENTLOG_CHAR_ARRAY:
		print_text(seq, at, field->size);
		break;
	case EVENTLOG_STRUCT:
		if (field->size <= sizeof(u64) && is_power_of_2(field->size))
			trace_seq_printf(seq, "0x%llx", number_at(at, field->size, false));
		else
			print_bytes(seq, at, field->size);
		break;
	case EVENTLOG_STRING:
	case EVENTLOG_BYTES:
	case EVENTLOG_SEQUENCE:
		print_dynamic(iter, field, at);
		break;
	}
}

static enum print_line_t print_event(struct trace_iterator *iter, int flags,
				     struct trace_event *trace_event)
{
	const struct eventlog_event *event =
		container_of(trace_event, struct eventlog_event, call.event);
	const struct eventlog_layout *layout = event->layout;
	int handled = trace_raw_output_prep(iter, trace_event);
	u32 i;

	if (handled != TRACE_TYPE_HANDLED)
		return handled;
	for (i = 0; i < layout->field_count; i++) {
		trace_seq_printf(&iter->seq, "%s%s=", i ? " " : "", layout->fields[i].name);
		print_field(iter, &layout->fields[i]);
	}
	trace_seq_putc(&iter->seq, '\n');
	return trace_handle_return(&iter->seq);
}

/* Not const: tracing fills in the remaining functions. */
struct trace_event_functions eventlog_print_functions = {
	.trace = print_event,
};
