// SPDX-License-Identifier: GPL-2.0
/* Tests of print_format.c: the print format in the file `format` of an event. */
#include <linux/slab.h>

#include "../eventlog.h"

#include "kunit.h"

KUNIT_DEFINE_ACTION_WRAPPER(free_text, kfree, const char *);

static const char *format_of(struct kunit *test, const char *description)
{
	const char *text = eventlog_print_format(eventlog_kunit_layout(test, description));

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_text, (void *)text));
	return text;
}

struct format_case {
	const char *description;
	const char *format;
};

static const struct format_case formats[] = {
	{ "event", "\"\"" },
	{ "event u8 a", "\"a=%u\", REC->a" },
	{ "event s32 a; s64 b", "\"a=%d b=%lld\", REC->a, REC->b" },
	{ "event s16 a; s8 b", "\"a=%hd b=%hhd\", REC->a, REC->b" },
	{ "event u64 a; u16 b", "\"a=%llu b=%u\", REC->a, REC->b" },
	{ "event char[8] a", "\"a=%s\", REC->a" },
	{ "event __rel_loc char[] a", "\"a=%s\", __get_str(a)" },
	{ "event __data_loc u8[] a",
	  "\"a=%s\", __print_hex(__get_dynamic_array(a), __get_dynamic_array_len(a))" },
	{ "event __rel_loc u32[] a",
	  "\"a=%s\", __print_array(__get_dynamic_array(a), __get_dynamic_array_len(a) / 4, 4)" },
	{ "event __rel_loc u64[] a",
	  "\"a=%s\", __print_array(__get_dynamic_array(a), __get_dynamic_array_len(a) / 8, 8)" },
	{ "event __rel_loc s16[] a",
	  "\"a=%s\", __print_hex(__get_dynamic_array(a), __get_dynamic_array_len(a))" },
	{ "event __rel_loc f64[] a",
	  "\"a=%s\", __print_hex(__get_dynamic_array(a), __get_dynamic_array_len(a))" },
	{ "event struct f32 a 4; struct f64 b 8", "\"a=0x%x b=0x%llx\", REC->a, REC->b" },
	{ "event struct mac a 6", "\"a=%s\", __print_hex(REC->a, 6)" },
};

KUNIT_ARRAY_PARAM_DESC(format, formats, description);

static void shows(struct kunit *test)
{
	const struct format_case *wanted = test->param_value;

	KUNIT_EXPECT_STREQ(test, format_of(test, wanted->description), wanted->format);
}

/* The kernel warns about more arguments than it examines. */
static void omits_fields_the_kernel_does_not_examine(struct kunit *test)
{
	const char *description, *format, *at;
	unsigned int arguments = 0;
	char *text;
	int used, i;

	text = kunit_kzalloc(test, 1024, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, text);
	description = text;
	used = scnprintf(text, 1024, "event");
	for (i = 0; i < 61; i++)
		used += scnprintf(text + used, 1024 - used, " u8 a%d;", i);
	format = format_of(test, description);
	for (at = format; (at = strstr(at, "REC->")); at++)
		arguments++;
	KUNIT_EXPECT_EQ(test, arguments, 60);
	KUNIT_EXPECT_NOT_NULL(test, strstr(format, " a59=%u ...\", REC->a0, "));
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(shows, format_gen_params),
	KUNIT_CASE(omits_fields_the_kernel_does_not_examine),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_print_format", .test_cases = cases };

kunit_test_suite(suite);
