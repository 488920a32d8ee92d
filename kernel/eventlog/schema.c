// SPDX-License-Identifier: GPL-2.0
/*
 * Encodes the declarations of a kernel provider as a schema in the binary form
 * that all consumers read, documented in elog(5). Little-endian, without
 * padding; names and texts are a length byte and their bytes.
 *
 * What a consumer would reject is rejected here, and the log says why. May
 * sleep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "provider.h"
#include "schema_header.h"

#define NAME_LENGTH_MAX 63
#define TEXT_LENGTH_MAX 255
#define FIELDS_MAX 100
#define KEYWORDS_MAX 64
#define ENUMERATIONS_MAX 1024
#define PAYLOAD_MAX 4048 /* as that of programs */
#define FNV_START 0xcbf29ce484222325ULL
#define FNV_FACTOR 0x100000001b3ULL

/* Code in the schema and size of each type. */
static const struct {
	u8 code;
	u8 size;
} types[] = {
	[EVENTLOG_TYPE_NONE] = { 0, 1 },
	[EVENTLOG_TYPE_BOOL] = { 1, 1 },
	[EVENTLOG_TYPE_CHAR] = { 2, 1 },
	[EVENTLOG_TYPE_S8] = { 3, 1 },
	[EVENTLOG_TYPE_S16] = { 4, 2 },
	[EVENTLOG_TYPE_S32] = { 5, 4 },
	[EVENTLOG_TYPE_S64] = { 6, 8 },
	[EVENTLOG_TYPE_U8] = { 7, 1 },
	[EVENTLOG_TYPE_U16] = { 8, 2 },
	[EVENTLOG_TYPE_U32] = { 9, 4 },
	[EVENTLOG_TYPE_U64] = { 10, 8 },
};

static const char not_a_name[] =
	"its name is invalid: use 1 to 63 letters, digits and _, no digit first";
static const char not_in_order[] =
	"list all of its members, and order them by size: 8 bytes, 4, 2, 1";

static u16 count_of(const struct eventlog_provider_field *field)
{
	return field->size / types[field->type].size;
}

static bool is_integer(enum eventlog_type type)
{
	return type >= EVENTLOG_TYPE_S8 && type <= EVENTLOG_TYPE_U64;
}

static bool is_name(const char *name)
{
	size_t i;

	if (!name || !name[0] || isdigit(name[0]))
		return false;
	for (i = 0; name[i]; i++)
		if (i == NAME_LENGTH_MAX || !isascii(name[i]) ||
		    (!isalnum(name[i]) && name[i] != '_'))
			return false;
	return true;
}

static bool is_text(const char *text)
{
	return !text || strlen(text) <= TEXT_LENGTH_MAX;
}

static bool format_fits(const struct eventlog_provider_field *field)
{
	const u16 count = count_of(field);

	switch (field->format) {
	case EVENTLOG_FORMAT_PLAIN:
		return true;
	case EVENTLOG_FORMAT_DECIMAL:
	case EVENTLOG_FORMAT_HEXADECIMAL:
	case EVENTLOG_FORMAT_ERROR_NUMBER:
	case EVENTLOG_FORMAT_BYTE_SIZE:
		return is_integer(field->type);
	case EVENTLOG_FORMAT_IP_ADDRESS:
		return (field->type == EVENTLOG_TYPE_U32 && count == 1) ||
		       (field->type == EVENTLOG_TYPE_U8 && (count == 4 || count == 16));
	case EVENTLOG_FORMAT_MAC_ADDRESS:
		return field->type == EVENTLOG_TYPE_U8 && count == 6;
	case EVENTLOG_FORMAT_DURATION:
	case EVENTLOG_FORMAT_REALTIME:
	case EVENTLOG_FORMAT_MONOTONIC:
		return is_integer(field->type) && types[field->type].size == 8;
	case EVENTLOG_FORMAT_CHARACTERS:
		return field->type == EVENTLOG_TYPE_CHAR;
	}
	return false;
}

/* Returns what is wrong, or NULL. */
static const char *enumeration_error(const struct eventlog_enumeration *enumeration)
{
	u16 i;

	if (!is_name(enumeration->name))
		return "its enumeration has an invalid name";
	for (i = 0; i < enumeration->value_count; i++)
		if (!is_name(enumeration->values[i].name))
			return "a value of its enumeration has an invalid name";
	return NULL;
}

static const char *field_error(const struct eventlog_provider_field *field)
{
	if (!is_name(field->name))
		return not_a_name;
	if (field->type <= EVENTLOG_TYPE_NONE || field->type > EVENTLOG_TYPE_U64)
		return "its type is not supported: use u8 to u64, s8 to s64, bool or char";
	if (!field->size)
		return "it is an array without elements";
	if (field->offset % types[field->type].size)
		return not_in_order;
	if (!format_fits(field))
		return "its format does not fit its type";
	if (field->unit && !is_integer(field->type))
		return "only integers can have a unit";
	if (field->enumeration && !is_integer(field->type))
		return "only integers can have an enumeration";
	if (!is_text(field->text) || !is_text(field->unit))
		return "its text or its unit is longer than 255 bytes";
	return field->enumeration ? enumeration_error(field->enumeration) : NULL;
}

static size_t end_of_fields(const struct eventlog_provider_event *event)
{
	size_t end = 0;
	u16 i;

	for (i = 0; i < event->field_count; i++)
		end = max(end, event->fields[i].offset + event->fields[i].size);
	return end;
}

static bool overlap(const struct eventlog_provider_field *one,
		    const struct eventlog_provider_field *other)
{
	return one->offset < other->offset + other->size &&
	       other->offset < one->offset + one->size;
}

static bool any_overlap(const struct eventlog_provider_event *event)
{
	u16 i, k;

	for (i = 0; i < event->field_count; i++)
		for (k = 0; k < i; k++)
			if (overlap(&event->fields[i], &event->fields[k]))
				return true;
	return false;
}

/* There are no holes if the fields cover the whole struct. */
static const char *layout_error(const struct eventlog_provider_event *event)
{
	const size_t end = end_of_fields(event);
	size_t used = 0;
	size_t alignment = 1;
	u16 i;

	for (i = 0; i < event->field_count; i++) {
		used += event->fields[i].size;
		alignment = max_t(size_t, alignment, types[event->fields[i].type].size);
	}
	if (any_overlap(event))
		return "a member is listed twice";
	if (used != end)
		return not_in_order;
	if (ALIGN(end, alignment) != event->struct_size)
		return "its struct has members that are not listed";
	if (end > PAYLOAD_MAX)
		return "it has more than 4048 bytes";
	return NULL;
}

static const char *event_error(const struct eventlog_provider_event *event)
{
	const struct eventlog_provider_field *first = event->fields;

	if (!is_name(event->name))
		return not_a_name;
	if (event->level > EVENTLOG_LEVEL_TRACE || event->kind > EVENTLOG_EVENT_STATE_COMPLETE)
		return "its level or its kind is invalid";
	if (event->field_count > FIELDS_MAX)
		return "it has more than 100 fields";
	if (!is_text(event->text) || !is_text(event->when))
		return "its text or its `when` is longer than 255 bytes";
	if (event->session && (!event->field_count || first->type != EVENTLOG_TYPE_U64 ||
			       first->size != sizeof(u64) || first->offset))
		return "its first field has to be its session, a u64";
	return NULL;
}

static int check_event(const struct eventlog_provider *provider,
		       struct eventlog_provider_event *event)
{
	const char *mistake = event_error(event);
	u16 i;

	for (i = 0; i < event->field_count && !mistake; i++) {
		mistake = field_error(&event->fields[i]);
		if (mistake) {
			pr_err("%s:%s, field %s: %s\n", provider->name, event->name,
			       event->fields[i].name, mistake);
			return -EINVAL;
		}
	}
	if (!mistake)
		mistake = layout_error(event);
	if (mistake) {
		pr_err("%s:%s: %s\n", provider->name, event->name, mistake);
		return -EINVAL;
	}
	event->payload_size = end_of_fields(event);
	return 0;
}

/* Returns whether there is one event that can end dumps: it has no payload. */
static bool can_end_dump(const struct eventlog_provider *provider)
{
	u32 field_count = 0;
	u32 count = 0;
	u16 i;

	for (i = 0; i < provider->event_count; i++) {
		if (provider->events[i]->kind != EVENTLOG_EVENT_STATE_COMPLETE)
			continue;
		field_count += provider->events[i]->field_count;
		count++;
	}
	return count == 1 && !field_count;
}

static const char *provider_error(const struct eventlog_provider *provider)
{
	u16 i;

	if (!is_name(provider->name))
		return not_a_name;
	if (!is_text(provider->text))
		return "its text is longer than 255 bytes";
	if (!provider->event_count || provider->event_count > EVENTLOG_EVENTS_MAX)
		return "it has no events, or more than 1024";
	if (provider->keyword_count > KEYWORDS_MAX)
		return "it has more than 64 keywords";
	for (i = 0; i < provider->keyword_count; i++)
		if (!is_name(provider->keywords[i].name) ||
		    provider->keywords[i].bit >= KEYWORDS_MAX ||
		    (i && provider->keywords[i].bit <= provider->keywords[i - 1].bit))
			return "its keywords need names and bits from 0 to 63 in ascending order";
	if (provider->dump && !can_end_dump(provider))
		return "with `dump` it needs one event of EVENTLOG_STATE_COMPLETE";
	return NULL;
}

/*
 * Checks that all consumers can read the provider, and computes the size of
 * each payload. Returns 0, or -EINVAL with the reason in the log.
 */
int eventlog_schema_check(struct eventlog_provider *provider)
{
	const char *mistake = provider_error(provider);
	int error = 0;
	u16 i;

	if (mistake) {
		pr_err("provider %s: %s\n", provider->name, mistake);
		return -EINVAL;
	}
	for (i = 0; i < provider->event_count && !error; i++)
		error = check_event(provider, provider->events[i]);
	return error;
}

/* Encoder state. Without `bytes` it only measures. */
struct builder {
	u8 *bytes;
	size_t used;
	u32 enumeration_count;
	const struct eventlog_enumeration **enumerations;
};

static void put(struct builder *builder, const void *data, size_t size)
{
	if (builder->bytes)
		memcpy(builder->bytes + builder->used, data, size);
	builder->used += size;
}

static void put_number(struct builder *builder, u64 value, size_t size)
{
	const __le64 bytes = cpu_to_le64(value);

	put(builder, &bytes, size);
}

static void put_text(struct builder *builder, const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	put_number(builder, length, 1);
	put(builder, text, length);
}

/* The name of a source file, as a schema has it; NULL if there is none. */
static const char *source_name(const char *file, u32 line)
{
	const char *name = file ? kbasename(file) : "";

	return line && name[0] && strlen(name) <= TEXT_LENGTH_MAX ? name : NULL;
}

/* The attribute that names the declaration. */
static void put_source(struct builder *builder, const char *file, u32 line)
{
	const char *name = source_name(file, line);

	if (!name)
		return;
	put_number(builder, EVENTLOG_SCHEMA_ATTRIBUTE_SOURCE, 1);
	put_number(builder, 4 + 1 + strlen(name), 2);
	put_number(builder, line, 4);
	put_text(builder, name);
}

static void put_enumeration(struct builder *builder, const struct eventlog_enumeration *enumeration)
{
	u16 i;

	put_number(builder, enumeration->is_bitmask ? EVENTLOG_SCHEMA_ENUMERATION_COMBINES : 0, 1);
	put_number(builder, enumeration->value_count, 2);
	put_text(builder, enumeration->name);
	for (i = 0; i < enumeration->value_count; i++) {
		put_number(builder, enumeration->values[i].value, 8);
		put_text(builder, enumeration->values[i].name);
	}
}

/* Enumerations are numbered in the order in which fields refer to them; NULL has no number. */
static u16 index_of(const struct builder *builder, const struct eventlog_enumeration *enumeration)
{
	u32 i;

	for (i = 0; i < builder->enumeration_count; i++)
		if (builder->enumerations[i] == enumeration)
			return i;
	return EVENTLOG_SCHEMA_NO_INDEX;
}

static int find_enumerations(struct builder *builder, const struct eventlog_provider *provider)
{
	u16 i, f;

	builder->enumerations = kcalloc(ENUMERATIONS_MAX, sizeof(*builder->enumerations),
					GFP_KERNEL);
	if (!builder->enumerations)
		return -ENOMEM;
	for (i = 0; i < provider->event_count; i++) {
		const struct eventlog_provider_event *event = provider->events[i];

		for (f = 0; f < event->field_count; f++) {
			const struct eventlog_enumeration *found = event->fields[f].enumeration;

			if (!found || index_of(builder, found) != EVENTLOG_SCHEMA_NO_INDEX)
				continue;
			if (builder->enumeration_count == ENUMERATIONS_MAX) {
				pr_err("provider %s: it has more than %u enumerations\n",
				       provider->name, ENUMERATIONS_MAX);
				return -EINVAL;
			}
			builder->enumerations[builder->enumeration_count++] = found;
		}
	}
	return 0;
}

static void put_field(struct builder *builder, const struct eventlog_provider_field *field)
{
	put_number(builder, types[field->type].code, 1);
	put_number(builder, field->format, 1);
	put_number(builder, count_of(field), 2);
	put_number(builder, field->offset, 2);
	put_number(builder, EVENTLOG_SCHEMA_NO_INDEX, 2); /* the field always has a value */
	put_number(builder, index_of(builder, field->enumeration), 2);
	put_text(builder, field->name);
	put_text(builder, field->unit);
	put_text(builder, field->text);
}

static void put_event(struct builder *builder, const struct eventlog_provider_event *event)
{
	u16 i;

	put_number(builder, event->level ?: EVENTLOG_LEVEL_INFO, 1);
	put_number(builder, event->kind, 1);
	put_number(builder, event->session ? EVENTLOG_SCHEMA_EVENT_OF_SESSION : 0, 1);
	put_number(builder, source_name(event->file, event->line) ? 1 : 0, 1);
	put_number(builder, event->payload_size, 2);
	put_number(builder, event->field_count, 2);
	put_number(builder, event->keywords, 8);
	put_text(builder, event->name);
	put_text(builder, event->text);
	put_text(builder, event->when);
	put_source(builder, event->file, event->line);
	for (i = 0; i < event->field_count; i++)
		put_field(builder, &event->fields[i]);
}

static void put_schema(struct builder *builder, const struct eventlog_provider *provider, u32 size)
{
	u32 i;

	builder->used = 0;
	put_number(builder, EVENTLOG_SCHEMA_MAGIC, 4);
	put_number(builder, EVENTLOG_SCHEMA_VERSION, 2);
	put_number(builder, provider->event_count, 2);
	put_number(builder, size, 4);
	put_number(builder, builder->enumeration_count, 2);
	put_number(builder, provider->keyword_count, 1);
	put_number(builder, source_name(provider->file, provider->line) ? 1 : 0, 1);
	put_number(builder, 0, 8); /* the hash is computed with this field 0 */
	put_text(builder, provider->name);
	put_text(builder, provider->text);
	put_source(builder, provider->file, provider->line);
	for (i = 0; i < provider->keyword_count; i++) {
		put_number(builder, provider->keywords[i].bit, 1);
		put_text(builder, provider->keywords[i].name);
	}
	for (i = 0; i < builder->enumeration_count; i++)
		put_enumeration(builder, builder->enumerations[i]);
	for (i = 0; i < provider->event_count; i++)
		put_event(builder, provider->events[i]);
}

static u64 hash_of(const u8 *bytes, size_t size)
{
	u64 hash = FNV_START;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * FNV_FACTOR;
	return hash;
}

/*
 * Encodes a provider that has passed eventlog_schema_check(). Returns 0;
 * -EINVAL if the schema is too large; or -ENOMEM. The caller frees its bytes
 * with kvfree().
 */
int eventlog_schema_make(const struct eventlog_provider *provider, struct eventlog_schema *schema)
{
	struct builder builder = { };
	__le64 hash;
	int error = find_enumerations(&builder, provider);

	if (error)
		goto free;
	put_schema(&builder, provider, 0);
	error = -EINVAL;
	if (builder.used > EVENTLOG_SCHEMA_SIZE_MAX) {
		pr_err("provider %s: its schema would have %zu bytes, more than %u\n",
		       provider->name, builder.used, EVENTLOG_SCHEMA_SIZE_MAX);
		goto free;
	}
	schema->size = builder.used;
	error = -ENOMEM;
	builder.bytes = kvmalloc(schema->size, GFP_KERNEL);
	if (!builder.bytes)
		goto free;
	put_schema(&builder, provider, schema->size);
	schema->bytes = builder.bytes;
	schema->hash = hash_of(schema->bytes, schema->size);
	hash = cpu_to_le64(schema->hash);
	memcpy(schema->bytes + offsetof(struct eventlog_schema_header, hash), &hash, sizeof(hash));
	error = 0;
free:
	kfree(builder.enumerations);
	return error;
}
