// SPDX-License-Identifier: GPL-2.0
/*
 * Makes the "print fmt" of an event's file `format`, by which perf and
 * trace-cmd show it:
 *
 *	"number=%u text=%s", REC->number, __get_str(text)
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include "eventlog.h"

/* The kernel examines 63 arguments and warns about more. */
#define ARGUMENTS_MAX 60
/* Room for the text around names and types, per field. */
#define ROOM_PER_FIELD 96

struct text {
	char *start;
	size_t size;
	size_t used;
};

static __printf(2, 3) void add(struct text *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	text->used += vscnprintf(text->start + text->used, text->size - text->used, format,
				 arguments);
	va_end(arguments);
}

static bool is_number(const struct eventlog_field *field)
{
	return field->kind == EVENTLOG_INTEGER ||
	       (field->kind == EVENTLOG_STRUCT && field->size <= sizeof(u64) &&
		is_power_of_2(field->size));
}

static const char *conversion_of(const struct eventlog_field *field)
{
	if (field->kind == EVENTLOG_STRUCT && is_number(field))
		return field->size == sizeof(u64) ? "0x%llx" : "0x%x";
	if (field->kind != EVENTLOG_INTEGER)
		return "%s";
	if (field->size == sizeof(u64))
		return field->is_signed ? "%lld" : "%llu";
	/* perf and trace-cmd read as many bytes as the conversion says, not as the field has. */
	if (field->size == sizeof(u16) && field->is_signed)
		return "%hd";
	if (field->size == sizeof(u8) && field->is_signed)
		return "%hhd";
	return field->is_signed ? "%d" : "%u";
}

/* perf and trace-cmd take the elements of __print_array for unsigned integers. */
static bool is_print_array(const struct eventlog_field *field)
{
	return field->kind == EVENTLOG_SEQUENCE && !field->is_signed && !field->is_float;
}

static void add_array(struct text *text, const struct eventlog_field *field)
{
	add(text, ", __print_array(__get_dynamic_array(%s), ", field->name);
	add(text, "__get_dynamic_array_len(%s) / %u, %u)", field->name, field->element_size,
	    field->element_size);
}

static void add_argument(struct text *text, const struct eventlog_field *field)
{
	if (field->kind == EVENTLOG_STRING)
		add(text, ", __get_str(%s)", field->name);
	else if (is_print_array(field))
		add_array(text, field);
	else if (eventlog_field_is_dynamic(field))
		add(text, ", __print_hex(__get_dynamic_array(%s), __get_dynamic_array_len(%s))",
		    field->name, field->name);
	else if (field->kind == EVENTLOG_STRUCT && !is_number(field))
		add(text, ", __print_hex(REC->%s, %u)", field->name, field->size);
	else
		add(text, ", REC->%s", field->name);
}

/* Returns the text, which the caller frees, or NULL without memory. */
char *eventlog_print_format(const struct eventlog_layout *layout)
{
	const u32 shown = min_t(u32, layout->field_count, ARGUMENTS_MAX);
	struct text text = { .size = ROOM_PER_FIELD };
	char *copy;
	u32 i;

	for (i = 0; i < shown; i++)
		text.size += ROOM_PER_FIELD + 3 * strlen(layout->fields[i].name);
	text.start = kmalloc(text.size, GFP_KERNEL);
	if (!text.start)
		return NULL;
	add(&text, "\"");
	for (i = 0; i < shown; i++)
		add(&text, "%s%s=%s", i ? " " : "", layout->fields[i].name,
		    conversion_of(&layout->fields[i]));
	add(&text, "%s\"", shown < layout->field_count ? " ..." : "");
	for (i = 0; i < shown; i++)
		add_argument(&text, &layout->fields[i]);
	copy = kstrdup(text.start, GFP_KERNEL_ACCOUNT);
	kfree(text.start);
	return copy;
}
