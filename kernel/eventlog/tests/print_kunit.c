// SPDX-License-Identifier: GPL-2.0
/* Tests of print.c: how ftrace shows an entry with any contents. */
#include <linux/trace_seq.h>

#include "../eventlog.h"

#include "kunit.h"

/* An entry of the size that it states, in front of bytes of something else. */
struct printed {
	struct eventlog_event event;
	struct trace_iterator iterator;
	u8 entry[256];
	char text[PAGE_SIZE];
};

static struct printed *prepare(struct kunit *test, const char *description)
{
	struct printed *printed = kunit_kzalloc(test, sizeof(*printed), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, printed);
	printed->event.layout = eventlog_kunit_layout(test, description);
	printed->event.tracepoint.name = printed->event.layout->name;
	printed->event.call.tp = &printed->event.tracepoint;
	printed->event.call.flags = TRACE_EVENT_FL_TRACEPOINT;
	printed->event.call.event.type = 4711;
	return printed;
}

/* Returns the line without its line feed. */
static const char *print(struct kunit *test, struct printed *printed, const void *payload,
			 size_t size)
{
	struct trace_iterator *iterator = &printed->iterator;
	struct trace_entry *entry = (struct trace_entry *)printed->entry;
	size_t length;

	memset(printed->entry, 'X', sizeof(printed->entry));
	entry->type = 4711;
	memcpy(entry + 1, payload, size);
	iterator->ent = entry;
	iterator->ent_size = sizeof(*entry) + size;
	trace_seq_init(&iterator->seq);
	KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED,
			eventlog_print_functions.trace(iterator, 0, &printed->event.call.event));
	length = min_t(size_t, trace_seq_used(&iterator->seq), sizeof(printed->text) - 1);
	memcpy(printed->text, iterator->seq.buffer, length);
	printed->text[length] = '\0';
	KUNIT_EXPECT_EQ(test, strim(printed->text) - printed->text, 0);
	return printed->text;
}

static void shows_numbers(struct kunit *test)
{
	struct printed *printed =
		prepare(test, "e u8 a; s8 b; u16 c; s16 d; u32 e; s32 f; u64 g; s64 h");
	struct {
		u8 a;
		s8 b;
		u16 c;
		s16 d;
		u32 e;
		s32 f;
		u64 g;
		s64 h;
	} __packed payload = { 255, -1, 65535, -2, U32_MAX, -3, U64_MAX, S64_MIN };

	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, sizeof(payload)),
			   "e: a=255 b=-1 c=65535 d=-2 e=4294967295 f=-3 g=18446744073709551615 h=-9223372036854775808");
}

static void escapes_control_characters(struct kunit *test)
{
	struct printed *printed = prepare(test, "e char[8] a; __data_loc char[] b");
	struct {
		char a[8];
		u32 b;
		char text[8];
	} __packed payload = { "12345678", 6 << 16 | 20, "x\ny\x1bz" };

	/* All of the array is text; control characters are escaped. */
	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, sizeof(payload)),
			   "e: a=12345678 b=x\\ny\\ez");
}

static void shows_bytes(struct kunit *test)
{
	struct printed *printed =
		prepare(test, "e struct f32 a 4; struct mac b 6; __data_loc u8[] c");
	struct {
		u32 a;
		u8 b[6];
		u32 c;
		u8 bytes[3];
	} __packed payload = { 0x40490fdb, { 1, 2, 3, 4, 5, 6 }, 3 << 16 | 22, { 0xa, 0xb, 0xc } };

	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, sizeof(payload)),
			   "e: a=0x40490fdb b=01 02 03 04 05 06 c=0a 0b 0c");
}

static void shows_sequences(struct kunit *test)
{
	struct printed *printed =
		prepare(test, "e __data_loc u16[] a; __data_loc s64[] b; __data_loc f32[] c");
	struct {
		u32 a;
		u32 b;
		u32 c;
		u16 numbers[2];
		s64 signed_numbers[2];
		u32 floats[2];
	} __packed payload = {
		4 << 16 | 20, 16 << 16 | 24, 8 << 16 | 40,
		{ 1, U16_MAX }, { -1, S64_MAX }, { 0x40490fdb, 0 },
	};

	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, sizeof(payload)),
			   "e: a=1 65535 b=-1 9223372036854775807 c=0x40490fdb 0x0");
	/* No elements; a part of one; elements behind the entry. */
	payload.a = 20;
	payload.b = 4 << 16 | 24;
	payload.c = 8 << 16 | 44;
	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, sizeof(payload)),
			   "e: a= b= c=<cut>");
}

static void limits_shown_elements(struct kunit *test)
{
	struct printed *printed = prepare(test, "e __data_loc s8[] a");
	struct {
		u32 a;
		s8 numbers[33];
	} __packed payload = { 33 << 16 | 12 };
	const char *line = print(test, printed, &payload, sizeof(payload));

	KUNIT_EXPECT_EQ(test, strlen(line), strlen("e: a=") + 2 * 32 - 1 + strlen(" ..."));
	KUNIT_EXPECT_NOT_NULL(test, strstr(line, " 0 ..."));
	payload.a = 32 << 16 | 12;
	KUNIT_EXPECT_NULL(test, strstr(print(test, printed, &payload, sizeof(payload)), "..."));
}

static void marks_truncated_fields(struct kunit *test)
{
	struct printed *printed = prepare(test, "e u32 a; __data_loc char[] b; u64 c");
	struct {
		u32 a;
		u32 b;
		u64 c;
	} __packed payload = { 7, 1 << 16 | 24, 8 };

	/* With each size, one more field lies behind the entry. */
	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, 16), "e: a=7 b=<cut> c=8");
	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, 15), "e: a=7 b=<cut> c=<cut>");
	KUNIT_EXPECT_STREQ(test, print(test, printed, &payload, 3), "e: a=<cut> b=<cut> c=<cut>");
}

static struct kunit_case cases[] = {
	KUNIT_CASE(shows_numbers),
	KUNIT_CASE(escapes_control_characters),
	KUNIT_CASE(shows_bytes),
	KUNIT_CASE(shows_sequences),
	KUNIT_CASE(limits_shown_elements),
	KUNIT_CASE(marks_truncated_fields),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_print", .test_cases = cases };

kunit_test_suite(suite);
