// SPDX-License-Identifier: GPL-2.0
/* Tests of layout.c: which descriptions are valid, and the fields that result. */
#include <uapi/linux/eventlog_device.h>

#include "kunit.h"

struct type_case {
	const char *text;
	const char *shown; /* NULL: unchanged */
	enum eventlog_field_kind kind;
	u32 size;
	u32 count;
	bool is_signed;
	bool is_relative;
	u8 element_size;
	bool is_float;
};

static const struct type_case types[] = {
	{ "u8", NULL, EVENTLOG_INTEGER, 1 },
	{ "u16", NULL, EVENTLOG_INTEGER, 2 },
	{ "u32", NULL, EVENTLOG_INTEGER, 4 },
	{ "u64", NULL, EVENTLOG_INTEGER, 8 },
	{ "s8", NULL, EVENTLOG_INTEGER, 1, 0, true },
	{ "s16", NULL, EVENTLOG_INTEGER, 2, 0, true },
	{ "s32", NULL, EVENTLOG_INTEGER, 4, 0, true },
	{ "s64", NULL, EVENTLOG_INTEGER, 8, 0, true },
	{ "char", NULL, EVENTLOG_INTEGER, 1, 0, true },
	{ "unsigned char", NULL, EVENTLOG_INTEGER, 1 },
	{ "short", NULL, EVENTLOG_INTEGER, 2, 0, true },
	{ "unsigned short", NULL, EVENTLOG_INTEGER, 2 },
	{ "int", NULL, EVENTLOG_INTEGER, 4, 0, true },
	{ "unsigned int", NULL, EVENTLOG_INTEGER, 4 },
	{ "char[1]", NULL, EVENTLOG_CHAR_ARRAY, 1, 1, true },
	{ "char[1024]", NULL, EVENTLOG_CHAR_ARRAY, 1024, 1024, true },
	{ "unsigned char[16]", NULL, EVENTLOG_CHAR_ARRAY, 16, 16 },
	{ "__rel_loc char[]", "__data_loc char[]", EVENTLOG_STRING, 4, 0, false, true },
	{ "__data_loc char[]", NULL, EVENTLOG_STRING, 4 },
	{ "__rel_loc u8[]", "__data_loc u8[]", EVENTLOG_BYTES, 4, 0, false, true },
	{ "__data_loc unsigned char[]", NULL, EVENTLOG_STRING, 4 },
	{ "__data_loc unsigned int[]", NULL, EVENTLOG_SEQUENCE, 4, .element_size = 4 },
	{ "__data_loc short[]", NULL, EVENTLOG_SEQUENCE, 4, .is_signed = true,
	  .element_size = 2 },
	{ "__rel_loc s8[]", "__data_loc s8[]", EVENTLOG_SEQUENCE, 4, 0, true, true, 1 },
	{ "__rel_loc s16[]", "__data_loc s16[]", EVENTLOG_SEQUENCE, 4, 0, true, true, 2 },
	{ "__rel_loc s32[]", "__data_loc s32[]", EVENTLOG_SEQUENCE, 4, 0, true, true, 4 },
	{ "__rel_loc s64[]", "__data_loc s64[]", EVENTLOG_SEQUENCE, 4, 0, true, true, 8 },
	{ "__rel_loc u16[]", "__data_loc u16[]", EVENTLOG_SEQUENCE, 4, 0, false, true, 2 },
	{ "__rel_loc u32[]", "__data_loc u32[]", EVENTLOG_SEQUENCE, 4, 0, false, true, 4 },
	{ "__rel_loc u64[]", "__data_loc u64[]", EVENTLOG_SEQUENCE, 4, 0, false, true, 8 },
	{ "__rel_loc f32[]", "__data_loc f32[]", EVENTLOG_SEQUENCE, 4, 0, false, true, 4, true },
	{ "__data_loc f64[]", NULL, EVENTLOG_SEQUENCE, 4, .element_size = 8, .is_float = true },
};

KUNIT_ARRAY_PARAM_DESC(type, types, text);

static void knows_type(struct kunit *test)
{
	const struct type_case *wanted = test->param_value;
	const struct eventlog_layout *layout;
	const struct eventlog_field *field;
	char *description;

	description = kunit_kzalloc(test, 64, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, description);
	scnprintf(description, 64, "event %s field", wanted->text);
	layout = eventlog_kunit_layout(test, description);
	KUNIT_ASSERT_EQ(test, layout->field_count, 1);
	field = &layout->fields[0];
	KUNIT_EXPECT_STREQ(test, field->type, wanted->shown ?: wanted->text);
	KUNIT_EXPECT_STREQ(test, field->name, "field");
	KUNIT_EXPECT_EQ(test, field->kind, wanted->kind);
	KUNIT_EXPECT_EQ(test, field->size, wanted->size);
	KUNIT_EXPECT_EQ(test, field->count, wanted->count);
	KUNIT_EXPECT_EQ(test, field->is_signed, wanted->is_signed);
	KUNIT_EXPECT_EQ(test, field->is_relative, wanted->is_relative);
	KUNIT_EXPECT_EQ(test, field->element_size, wanted->element_size);
	KUNIT_EXPECT_EQ(test, field->is_float, wanted->is_float);
	KUNIT_EXPECT_EQ(test, layout->size, wanted->size);
}

static void packs_fields_in_their_order(struct kunit *test)
{
	static const char description[] =
		"tcp_loss u8 kind; u64 seq;struct in6_addr peer 16 ;  __rel_loc char[] why;";
	const struct eventlog_layout *layout = eventlog_kunit_layout(test, description);

	KUNIT_EXPECT_STREQ(test, layout->name, "tcp_loss");
	KUNIT_ASSERT_EQ(test, layout->field_count, 4);
	KUNIT_EXPECT_EQ(test, layout->fields[0].offset, 0);
	KUNIT_EXPECT_EQ(test, layout->fields[1].offset, 1);
	KUNIT_EXPECT_EQ(test, layout->fields[2].offset, 9);
	KUNIT_EXPECT_EQ(test, layout->fields[2].kind, EVENTLOG_STRUCT);
	KUNIT_EXPECT_STREQ(test, layout->fields[2].type, "struct in6_addr");
	KUNIT_EXPECT_EQ(test, layout->fields[3].offset, 25);
	KUNIT_EXPECT_EQ(test, layout->size, 29);
}

static void accepts_event_without_fields(struct kunit *test)
{
	const struct eventlog_layout *layout = eventlog_kunit_layout(test, "  started ");

	KUNIT_EXPECT_STREQ(test, layout->name, "started");
	KUNIT_EXPECT_EQ(test, layout->field_count, 0);
	KUNIT_EXPECT_EQ(test, layout->size, 0);
}

struct rejected_case {
	const char *what;
	const char *description;
};

static const struct rejected_case rejected[] = {
	{ "nothing", "" },
	{ "spaces", "   " },
	{ "a name with a digit in front", "1event" },
	{ "a name with a slash", "../event" },
	{ "a name with a letter of Latin-1", "\xe9v\xe9nement" },
	{ "the file enable", "enable u8 a" },
	{ "the file filter", "filter u8 a" },
	{ "a type alone", "event u8" },
	{ "an unknown type", "event u128 a" },
	{ "a pointer", "event char * a" },
	{ "a name with an asterisk", "event u8 *a" },
	{ "half a type", "event unsigned a" },
	{ "two spaces in a type", "event unsigned  int a" },
	{ "a field twice", "event u8 a; u16 a" },
	{ "a field of the kernel's", "event u32 common_pid" },
	{ "an array of none", "event char[0] a" },
	{ "an array that is too long", "event char[1025] a" },
	{ "an array whose length overflows", "event char[4294967297] a" },
	{ "an array with a sign", "event char[+1] a" },
	{ "an array with a zero in front", "event char[01] a" },
	{ "an array in hexadecimal", "event char[0x1] a" },
	{ "an array that is left open", "event char[1 a" },
	{ "an array with something behind it", "event char[1]] a" },
	{ "an array of numbers", "event u32[4] a" },
	{ "an array of no length", "event char[] a" },
	{ "a struct without a size", "event struct a b" },
	{ "a struct of no size", "event struct a b 0" },
	{ "a struct that is too large", "event struct a b 4049" },
	{ "a struct with a negative size", "event struct a b -1" },
	{ "a struct without a name", "event struct b 8" },
	{ "a struct that calls itself a word", "event struct __data_loc b 4" },
	{ "a struct that hides a word", "event struct a__rel_loc b 4" },
	{ "a word with a length", "event __rel_loc char[4] a" },
	{ "a word without brackets", "event __rel_loc char a" },
	{ "a word of structs", "event __rel_loc struct a[] b" },
	{ "a word of words", "event __rel_loc __data_loc char[] a" },
	{ "a word of an unknown type", "event __rel_loc f16[] a" },
	{ "a word of half a type", "event __rel_loc f6[] a" },
	{ "a word of nothing", "event __rel_loc [] a" },
	{ "a float that is not in a struct", "event f32 a" },
	{ "an array of floats", "event f32[2] a" },
	{ "a payload that is too large", "event struct a b 4048; u8 c" },
};

KUNIT_ARRAY_PARAM_DESC(rejection, rejected, what);

static void rejects(struct kunit *test)
{
	const struct rejected_case *wrong = test->param_value;
	struct eventlog_layout *layout = eventlog_layout_parse(wrong->description);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(layout), -EINVAL);
	if (!IS_ERR(layout))
		eventlog_layout_free(layout);
}

/* "event u8 a0; u8 a1; ..." */
static char *describe_fields(struct kunit *test, unsigned int count)
{
	const size_t room = 16 + 16 * count;
	char *text = kunit_kzalloc(test, room, GFP_KERNEL);
	size_t used;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, text);
	used = scnprintf(text, room, "event");
	for (i = 0; i < count; i++)
		used += scnprintf(text + used, room - used, "%s u8 a%u", i ? ";" : "", i);
	return text;
}

static void accepts_the_maximum_of_fields(struct kunit *test)
{
	const char *too_many = describe_fields(test, EVENTLOG_FIELDS_MAX + 1);
	const struct eventlog_layout *layout;

	layout = eventlog_kunit_layout(test, describe_fields(test, EVENTLOG_FIELDS_MAX));
	KUNIT_EXPECT_EQ(test, layout->field_count, EVENTLOG_FIELDS_MAX);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(eventlog_layout_parse(too_many)), -EINVAL);
}

static void accepts_the_largest_payload(struct kunit *test)
{
	const struct eventlog_layout *layout =
		eventlog_kunit_layout(test, "event u8 a; struct b c 4047");

	KUNIT_EXPECT_EQ(test, layout->size, EVENTLOG_PAYLOAD_MAX);
}

static void accepts_the_longest_name(struct kunit *test)
{
	char name[EVENTLOG_NAME_MAX + 2];
	struct eventlog_layout *layout;

	memset(name, 'n', sizeof(name));
	name[EVENTLOG_NAME_MAX + 1] = '\0';
	layout = eventlog_layout_parse(name);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(layout), -EINVAL);
	name[EVENTLOG_NAME_MAX] = '\0';
	KUNIT_EXPECT_STREQ(test, eventlog_kunit_layout(test, name)->name, name);
}

static void distinguishes_layouts(struct kunit *test)
{
	static const char *const others[] = {
		"event u8 a",
		"event u8 a; s32 b",
		"event u8 a; u32 c",
		"event u8 a; u32 b; u8 c",
		"event u32 b; u8 a",
		"event u8 a; struct u32 b 4",
	};
	const struct eventlog_layout *one = eventlog_kunit_layout(test, "event u8 a; u32 b");
	const struct eventlog_layout *same = eventlog_kunit_layout(test, "other  u8 a ;u32 b;");
	int i;

	KUNIT_EXPECT_TRUE(test, eventlog_layout_has_same_fields(one, same));
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		const struct eventlog_layout *other = eventlog_kunit_layout(test, others[i]);

		KUNIT_EXPECT_FALSE_MSG(test, eventlog_layout_has_same_fields(one, other),
				       "\"%s\" is taken for the same", others[i]);
	}
}

/* Applications write different payloads, although tracefs shows the same type. */
static void distinguishes_relative_words(struct kunit *test)
{
	const struct eventlog_layout *relative =
		eventlog_kunit_layout(test, "event __rel_loc char[] a");
	const struct eventlog_layout *absolute =
		eventlog_kunit_layout(test, "event __data_loc char[] a");

	KUNIT_EXPECT_STREQ(test, relative->fields[0].type, absolute->fields[0].type);
	KUNIT_EXPECT_FALSE(test, eventlog_layout_has_same_fields(relative, absolute));
}

static void distinguishes_sequences(struct kunit *test)
{
	static const char *const others[] = {
		"event __rel_loc s32[] a",
		"event __rel_loc f32[] a",
		"event __rel_loc u64[] a",
		"event __rel_loc u8[] a",
		"event u32 a",
	};
	const struct eventlog_layout *one = eventlog_kunit_layout(test, "event __rel_loc u32[] a");
	int i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		const struct eventlog_layout *other = eventlog_kunit_layout(test, others[i]);

		KUNIT_EXPECT_FALSE_MSG(test, eventlog_layout_has_same_fields(one, other),
				       "\"%s\" is taken for the same", others[i]);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(knows_type, type_gen_params),
	KUNIT_CASE(packs_fields_in_their_order),
	KUNIT_CASE(accepts_event_without_fields),
	KUNIT_CASE_PARAM(rejects, rejection_gen_params),
	KUNIT_CASE(accepts_the_maximum_of_fields),
	KUNIT_CASE(accepts_the_largest_payload),
	KUNIT_CASE(accepts_the_longest_name),
	KUNIT_CASE(distinguishes_layouts),
	KUNIT_CASE(distinguishes_relative_words),
	KUNIT_CASE(distinguishes_sequences),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_layout", .test_cases = cases };

kunit_test_suite(suite);
