// SPDX-License-Identifier: GPL-2.0
/* Tests of payload.c: which payloads are rejected, and how words change. */
#include "../eventlog.h"

#include "kunit.h"

/* Size of the header in front of a payload. Absolute words count from its beginning. */
#define HEADER ((u32)sizeof(struct trace_entry))

static u32 word_of(u32 size, u32 offset)
{
	return size << 16 | offset;
}

static u32 get_word(const u8 *at)
{
	u32 word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* The steps of writing an event. */
static int make_absolute(const struct eventlog_layout *layout, u8 *payload, size_t size)
{
	const int error = eventlog_payload_check(layout, payload, size);

	if (!error)
		eventlog_payload_make_absolute(layout, payload);
	return error;
}

/* The result for "event u8 a; TYPE b" with this word, and these bytes behind it. */
static int try_word(struct kunit *test, const char *type, u32 word, const void *behind,
		    size_t size, u32 *got)
{
	const struct eventlog_layout *layout;
	char description[64];
	u8 payload[64] = {};
	int error;

	scnprintf(description, sizeof(description), "event u8 a; %s b", type);
	layout = eventlog_kunit_layout(test, description);
	payload[0] = 0xa5;
	memcpy(payload + 1, &word, sizeof(word));
	memcpy(payload + 5, behind, size);
	error = make_absolute(layout, payload, 5 + size);
	KUNIT_EXPECT_EQ(test, payload[0], 0xa5);
	KUNIT_EXPECT_MEMEQ(test, payload + 5, behind, size);
	*got = get_word(payload + 1);
	return error;
}

static void makes_relative_words_absolute(struct kunit *test)
{
	u32 got;

	KUNIT_EXPECT_EQ(test, 0,
			try_word(test, "__rel_loc char[]", word_of(3, 0), "ab", 3, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(3, HEADER + 5));
	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc u8[]", word_of(2, 1), "abc", 3, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(2, HEADER + 6));
}

static void leaves_absolute_words(struct kunit *test)
{
	const u32 word = word_of(3, HEADER + 5);
	u32 got;

	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__data_loc char[]", word, "ab", 3, &got));
	KUNIT_EXPECT_EQ(test, got, word);
}

static void accepts_empty_bytes(struct kunit *test)
{
	u32 got;

	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc u8[]", word_of(0, 0), "", 0, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(0, HEADER + 4));
	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc u8[]", word_of(0, 1), "a", 1, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(0, HEADER + 6));
}

static void accepts_null_strings(struct kunit *test)
{
	u32 got;

	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc char[]", word_of(0, 0), "ab", 3, &got));
	KUNIT_EXPECT_EQ(test, got >> 16, 1);
	KUNIT_EXPECT_GE(test, got & 0xffff, HEADER + 1);
	KUNIT_EXPECT_LT(test, got & 0xffff, HEADER + 5);
	KUNIT_EXPECT_EQ(test, ((const u8 *)&got)[(got & 0xffff) - HEADER - 1], 0);
}

static void accepts_whole_elements(struct kunit *test)
{
	static const u32 elements[] = { 1, 2 };
	u32 got;

	KUNIT_EXPECT_EQ(test, 0,
			try_word(test, "__rel_loc u32[]", word_of(8, 0), elements, 8, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(8, HEADER + 5));
	KUNIT_EXPECT_EQ(test, 0,
			try_word(test, "__rel_loc f32[]", word_of(4, 4), elements, 8, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(4, HEADER + 9));
	/* Elements may be unaligned. */
	KUNIT_EXPECT_EQ(test, 0,
			try_word(test, "__rel_loc s16[]", word_of(6, 1), elements, 8, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(6, HEADER + 6));
	KUNIT_EXPECT_EQ(test, 0,
			try_word(test, "__data_loc f64[]", word_of(8, HEADER + 5), elements, 8,
				 &got));
	KUNIT_EXPECT_EQ(test, got, word_of(8, HEADER + 5));
}

static void accepts_empty_sequences(struct kunit *test)
{
	u32 got;

	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc u64[]", word_of(0, 0), "", 0, &got));
	KUNIT_EXPECT_EQ(test, got >> 16, 0);
	KUNIT_EXPECT_LT(test, got & 0xffff, HEADER + 5);
	KUNIT_EXPECT_EQ(test, 0, try_word(test, "__rel_loc u64[]", word_of(0, 1), "a", 1, &got));
	KUNIT_EXPECT_EQ(test, got, word_of(0, HEADER + 6));
}

struct wrong_word {
	const char *what;
	const char *type;
	u32 size;
	u32 offset;
};

/* Each has "ab" and NUL behind the fields. */
static const struct wrong_word wrong_words[] = {
	{ "a text of no bytes", "__rel_loc char[]", 0, 1 },
	{ "a word that is 0, from the beginning", "__data_loc char[]", 0, 0 },
	{ "one of bytes", "__data_loc u8[]", 0, 0 },
	{ "a text without its end", "__rel_loc char[]", 2, 0 },
	{ "a text that begins behind all", "__rel_loc char[]", 1, 3 },
	{ "a text that ends behind all", "__rel_loc char[]", 4, 0 },
	{ "bytes that end behind all", "__rel_loc u8[]", 3, 1 },
	{ "no bytes, behind all", "__rel_loc u8[]", 0, 4 },
	{ "the longest bytes", "__rel_loc u8[]", 0xffff, 0 },
	{ "the farthest bytes", "__rel_loc u8[]", 1, 0xffff },
	{ "the longest and farthest bytes", "__rel_loc u8[]", 0xffff, 0xffff },
	{ "the entry's header", "__data_loc u8[]", 1, 0 },
	{ "the last byte of the header", "__data_loc u8[]", 1, 7 },
	{ "the fields", "__data_loc u8[]", 1, 8 },
	{ "the last byte of the fields", "__data_loc u8[]", 1, 12 },
	{ "bytes behind all", "__data_loc u8[]", 1, 16 },
	{ "half an element", "__rel_loc u16[]", 1, 0 },
	{ "an element and a half", "__rel_loc s16[]", 3, 0 },
	{ "a part of a float", "__rel_loc f32[]", 3, 0 },
	{ "a part of an absolute element", "__data_loc u64[]", 3, HEADER + 5 },
	{ "an element that ends behind all", "__rel_loc u16[]", 2, 2 },
	{ "elements that end behind all", "__rel_loc u32[]", 4, 0 },
	{ "the longest sequence", "__rel_loc u16[]", 0xfffe, 0 },
	{ "no elements, behind all", "__rel_loc u32[]", 0, 4 },
	{ "a sequence that is 0, from the beginning", "__data_loc u32[]", 0, 0 },
};

KUNIT_ARRAY_PARAM_DESC(wrong_word, wrong_words, what);

static void rejects(struct kunit *test)
{
	const struct wrong_word *wrong = test->param_value;
	u32 got;

	KUNIT_EXPECT_EQ(test, -EFAULT,
			try_word(test, wrong->type, word_of(wrong->size, wrong->offset), "ab", 3,
				 &got));
}

static void checks_every_word(struct kunit *test)
{
	const struct eventlog_layout *layout =
		eventlog_kunit_layout(test, "event __rel_loc u8[] a; __rel_loc u8[] b");
	u32 payload[3] = { word_of(4, 4), word_of(4, 0) };

	KUNIT_EXPECT_EQ(test, 0,
			make_absolute(layout, (u8 *)payload, sizeof(payload)));
	/* Both may point to the same bytes. */
	KUNIT_EXPECT_EQ(test, payload[0], word_of(4, HEADER + 8));
	KUNIT_EXPECT_EQ(test, payload[1], word_of(4, HEADER + 8));
	payload[0] = word_of(4, 4);
	payload[1] = word_of(4, 1);
	KUNIT_EXPECT_EQ(test, -EFAULT,
			make_absolute(layout, (u8 *)payload, sizeof(payload)));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(makes_relative_words_absolute),
	KUNIT_CASE(leaves_absolute_words),
	KUNIT_CASE(accepts_empty_bytes),
	KUNIT_CASE(accepts_null_strings),
	KUNIT_CASE(accepts_whole_elements),
	KUNIT_CASE(accepts_empty_sequences),
	KUNIT_CASE_PARAM(rejects, wrong_word_gen_params),
	KUNIT_CASE(checks_every_word),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_payload", .test_cases = cases };

kunit_test_suite(suite);
