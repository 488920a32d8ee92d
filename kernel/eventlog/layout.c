// SPDX-License-Identifier: GPL-2.0
/*
 * Parses the description of an event:
 *
 *	NAME [TYPE FIELD[; TYPE FIELD]...]
 *
 *	u8 u16 u32 u64 s8 s16 s32 s64 char int short, unsigned int, ...
 *	char[N]				characters, perhaps ended by NUL
 *	struct NAME FIELD SIZE		SIZE bytes
 *	__rel_loc TYPE[]		a word: size << 16 | offset from its end
 *	__data_loc TYPE[]		a word: size << 16 | offset from the entry
 *
 * TYPE[] is a string of char, bytes of u8, or a sequence of another integer type,
 * f32 or f64.
 *
 * Every type is built from known words, and everything else is rejected: the
 * kernel searches types for __data_loc and "char" to decide what it may
 * dereference, and shows them unchanged.
 */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <uapi/linux/eventlog_device.h>

#include "layout.h"

static const struct {
	const char *name;
	u8 size;
	bool is_signed;
} integers[] = {
	{ "s64", 8, true },	  { "u64", 8, false },
	{ "s32", 4, true },	  { "u32", 4, false },
	{ "int", 4, true },	  { "unsigned int", 4, false },
	{ "s16", 2, true },	  { "u16", 2, false },
	{ "short", 2, true },	  { "unsigned short", 2, false },
	{ "s8", 1, true },	  { "u8", 1, false },
	{ "char", 1, true },	  { "unsigned char", 1, false },
};

/* Only elements of sequences. Tracing has no such type; elsewhere they are structs. */
static const struct {
	const char *name;
	u8 size;
} floats[] = {
	{ "f32", 4 },
	{ "f64", 8 },
};

static const char *const common_fields[] = {
	"common_type", "common_flags", "common_preempt_count", "common_pid",
};

/* isalpha() of the kernel accepts letters of Latin-1, which user space does not. */
static bool is_letter(char c)
{
	return (isascii(c) && isalpha(c)) || c == '_';
}

static bool is_identifier(const char *text)
{
	if (!is_letter(*text))
		return false;
	while (is_letter(*text) || isdigit(*text))
		text++;
	return !*text;
}

/* Returns an index into integers, or -1. */
static int find_integer(const char *type, size_t length)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(integers); i++)
		if (strlen(integers[i].name) == length && !strncmp(type, integers[i].name, length))
			return i;
	return -1;
}

/* Accepts digits only, without a leading zero: each number has one spelling. */
static int parse_number(const char *text, u32 *number)
{
	const char *at;

	if (*text == '0')
		return -EINVAL;
	for (at = text; *at; at++)
		if (!isdigit(*at))
			return -EINVAL;
	return kstrtou32(text, 10, number);
}

/* char[N], unsigned char[N] */
static int parse_array(struct eventlog_field *field, const char *bracket)
{
	char number[8];
	size_t length;
	u32 count;
	int i = find_integer(field->type, bracket - field->type);

	if (i < 0 || !strstr(integers[i].name, "char"))
		return -EINVAL;
	if (strscpy(number, bracket + 1, sizeof(number)) <= 0)
		return -EINVAL;
	length = strlen(number);
	if (number[length - 1] != ']')
		return -EINVAL;
	number[length - 1] = '\0';
	if (parse_number(number, &count) || count > EVENTLOG_ARRAY_MAX)
		return -EINVAL;
	field->kind = EVENTLOG_CHAR_ARRAY;
	field->is_signed = integers[i].is_signed;
	field->size = count;
	field->count = count;
	return 0;
}

/* Sets kind and elements of a dynamic field from TYPE, which has this length. */
static int parse_element(struct eventlog_field *field, const char *type, size_t length)
{
	int i = find_integer(type, length);

	if (i >= 0 && strstr(integers[i].name, "char")) {
		field->kind = EVENTLOG_STRING;
		return 0;
	}
	if (i >= 0 && integers[i].size == 1 && !integers[i].is_signed) {
		field->kind = EVENTLOG_BYTES;
		return 0;
	}
	field->kind = EVENTLOG_SEQUENCE;
	if (i >= 0) {
		field->element_size = integers[i].size;
		field->is_signed = integers[i].is_signed;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(floats); i++) {
		if (strlen(floats[i].name) != length || strncmp(type, floats[i].name, length))
			continue;
		field->element_size = floats[i].size;
		field->is_float = true;
		return 0;
	}
	return -EINVAL;
}

/* Parses TYPE[] behind __rel_loc or __data_loc. tracefs shows both as __data_loc. */
static int parse_dynamic(struct eventlog_field *field, const char *element, bool is_relative,
			 char **shown)
{
	const char *bracket = strchr(element, '[');

	if (!bracket || strcmp(bracket, "[]"))
		return -EINVAL;
	if (parse_element(field, element, bracket - element))
		return -EINVAL;
	field->size = sizeof(u32);
	field->is_relative = is_relative;
	field->type = *shown;
	*shown += sprintf(*shown, "__data_loc %s", element) + 1;
	return 0;
}

static int parse_type(struct eventlog_field *field, const char *size, char **shown)
{
	const char *bracket = strchr(field->type, '[');
	size_t prefix;
	int i;

	if (size) {
		prefix = str_has_prefix(field->type, "struct ");
		if (!prefix || !is_identifier(field->type + prefix))
			return -EINVAL;
		if (strstr(field->type, "__data_loc") || strstr(field->type, "__rel_loc"))
			return -EINVAL;
		if (parse_number(size, &field->size))
			return -EINVAL;
		field->kind = EVENTLOG_STRUCT;
		return field->size > EVENTLOG_PAYLOAD_MAX ? -EINVAL : 0;
	}
	prefix = str_has_prefix(field->type, "__rel_loc ");
	if (prefix)
		return parse_dynamic(field, field->type + prefix, true, shown);
	prefix = str_has_prefix(field->type, "__data_loc ");
	if (prefix)
		return parse_dynamic(field, field->type + prefix, false, shown);
	if (bracket)
		return parse_array(field, bracket);
	i = find_integer(field->type, strlen(field->type));
	if (i < 0)
		return -EINVAL;
	field->kind = EVENTLOG_INTEGER;
	field->size = integers[i].size;
	field->is_signed = integers[i].is_signed;
	return 0;
}

/* Parses TYPE FIELD, or struct TYPE FIELD SIZE. A type may have several words. */
static int parse_field(struct eventlog_field *field, char *text, char **shown)
{
	char *size = NULL;
	char *name;

	text = strim(text);
	if (str_has_prefix(text, "struct ")) {
		size = strrchr(text, ' ');
		*size++ = '\0';
	}
	name = strrchr(text, ' ');
	if (!name)
		return -EINVAL;
	*name++ = '\0';
	field->type = text;
	field->name = name;
	if (!is_identifier(name))
		return -EINVAL;
	if (match_string(common_fields, ARRAY_SIZE(common_fields), name) >= 0)
		return -EINVAL;
	return parse_type(field, size, shown);
}

static bool has_field(const struct eventlog_layout *layout, const char *name)
{
	u32 i;

	for (i = 0; i < layout->field_count; i++)
		if (!strcmp(layout->fields[i].name, name))
			return true;
	return false;
}

static int parse_fields(struct eventlog_layout *layout, char *fields, char *shown)
{
	char *text;

	while ((text = strsep(&fields, ";")) != NULL) {
		struct eventlog_field *field = &layout->fields[layout->field_count];
		int error;

		if (!*skip_spaces(text))
			continue;
		if (layout->field_count == EVENTLOG_FIELDS_MAX)
			return -EINVAL;
		error = parse_field(field, text, &shown);
		if (error)
			return error;
		if (has_field(layout, field->name))
			return -EINVAL;
		field->offset = layout->size;
		layout->size += field->size;
		if (layout->size > EVENTLOG_PAYLOAD_MAX)
			return -EINVAL;
		layout->hash = jhash(field->type, strlen(field->type), layout->hash);
		layout->hash = jhash(field->name, strlen(field->name), layout->hash);
		layout->hash = jhash_1word(field->size, layout->hash);
		layout->field_count++;
	}
	return 0;
}

/* The event's directory is a sibling of the files of its system. */
static bool is_event_name(const char *name)
{
	return strlen(name) <= EVENTLOG_NAME_MAX && is_identifier(name) && strcmp(name, "enable") &&
	       strcmp(name, "filter");
}

/* Returns a layout, -EINVAL for an invalid description, or -ENOMEM. */
struct eventlog_layout *eventlog_layout_parse(const char *description)
{
	const size_t length = strlen(description);
	struct eventlog_layout *layout;
	char *fields;
	int error = -EINVAL;
	u32 count = 1;
	size_t i;

	for (i = 0; i < length; i++)
		count += description[i] == ';';
	count = min_t(u32, count, EVENTLOG_FIELDS_MAX);
	layout = kzalloc(struct_size(layout, fields, count), GFP_KERNEL_ACCOUNT);
	if (!layout)
		return ERR_PTR(-ENOMEM);
	/*
	 * Behind the description: the types as tracefs shows them, each at most as long as
	 * its field.
	 */
	layout->text = kmalloc(2 * (length + 1), GFP_KERNEL_ACCOUNT);
	if (!layout->text) {
		error = -ENOMEM;
		goto failed;
	}
	memcpy(layout->text, description, length + 1);
	fields = strim(layout->text);
	layout->name = strsep(&fields, " ");
	if (!is_event_name(layout->name))
		goto failed;
	error = parse_fields(layout, fields, layout->text + length + 1);
	if (error)
		goto failed;
	return layout;

failed:
	eventlog_layout_free(layout);
	return ERR_PTR(error);
}

void eventlog_layout_free(struct eventlog_layout *layout)
{
	kfree(layout->text);
	kfree(layout);
}

bool eventlog_layout_has_same_fields(const struct eventlog_layout *one,
				     const struct eventlog_layout *other)
{
	u32 i;

	if (one->field_count != other->field_count || one->hash != other->hash)
		return false;
	for (i = 0; i < one->field_count; i++) {
		const struct eventlog_field *a = &one->fields[i];
		const struct eventlog_field *b = &other->fields[i];

		if (strcmp(a->type, b->type) || strcmp(a->name, b->name) || a->size != b->size ||
		    a->is_relative != b->is_relative)
			return false;
	}
	return true;
}
