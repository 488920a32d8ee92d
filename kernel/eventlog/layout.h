/* SPDX-License-Identifier: GPL-2.0 */
/* Layout of a payload, parsed from an event's description. */
#ifndef EVENTLOG_LAYOUT_H
#define EVENTLOG_LAYOUT_H

#include <linux/types.h>

#define EVENTLOG_FIELDS_MAX 128
/* Of an event's name. Leaves room for a hash behind it. */
#define EVENTLOG_NAME_MAX 160

enum eventlog_field_kind {
	EVENTLOG_INTEGER,
	EVENTLOG_CHAR_ARRAY, /* char[N] */
	EVENTLOG_STRUCT, /* struct NAME, of any size */
	EVENTLOG_STRING, /* bytes behind the fields, ended by NUL */
	EVENTLOG_BYTES, /* bytes behind the fields */
	EVENTLOG_SEQUENCE, /* numbers behind the fields, of any count */
};

struct eventlog_field {
	const char *type; /* as tracefs shows it */
	const char *name;
	u32 offset; /* in the payload */
	u32 size;
	u32 count; /* N of char[N], else 0 */
	enum eventlog_field_kind kind;
	u8 element_size; /* of a SEQUENCE, else 0 */
	bool is_signed; /* integer or elements */
	bool is_float; /* elements of a SEQUENCE */
	bool is_relative; /* of dynamic fields: the word is relative to its own end */
};

struct eventlog_layout {
	const char *name;
	u32 size; /* of all fields, without what their words point to */
	u32 hash; /* of types, names and sizes of all fields */
	u32 field_count;
	char *text; /* storage of names and types */
	struct eventlog_field fields[];
};

static inline bool eventlog_field_is_dynamic(const struct eventlog_field *field)
{
	return field->kind == EVENTLOG_STRING || field->kind == EVENTLOG_BYTES ||
	       field->kind == EVENTLOG_SEQUENCE;
}

struct eventlog_layout *eventlog_layout_parse(const char *description);
void eventlog_layout_free(struct eventlog_layout *layout);
bool eventlog_layout_has_same_fields(const struct eventlog_layout *one,
				     const struct eventlog_layout *other);

#endif /* EVENTLOG_LAYOUT_H */
