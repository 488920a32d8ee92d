// SPDX-License-Identifier: GPL-2.0
/* Tests of schema.c: schemas equal those of the SDK, and invalid declarations are rejected. */
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "../provider.h"

#include "kunit.h"

/*
 * What the SDK and elog make of the same provider, as text:
 *
 *	provider unit "What is tested" at "schema_kunit.c":3 {
 *	    keyword first = 0
 *	    keyword last = 63
 *
 *	    flags access : u16 { read = 1, write = 2 }
 *	    enum colour : u8 { red = 1, green = 2 }
 *
 *	    event sale warn [last] "Something was sold" when "a sale closes"
 *	            at "schema_kunit.c":70000 {
 *	        amount: u64 unit "cent" "what it costs"
 *	        customer: u32 format hexadecimal
 *	        rights: u16 as access
 *	        hue: u8 as colour
 *	        is_new: bool
 *	        name: char[16] format characters
 *	        address: u8[6] format mac_address
 *	    }
 *	    event step info session {
 *	        number: u64
 *	        delta: i32
 *	    }
 *	    event empty trace begin [first, last] at "schema_kunit.c":1 {}
 *	}
 */
#define HASH 0x2a0964735b3857c1ULL
#define SIZE 482

struct sale_event {
	u64 amount;
	u32 customer;
	u16 rights;
	u8 hue;
	bool is_new;
	char name[16];
	u8 address[6];
};

struct step_event {
	u64 number;
	s32 delta;
};

struct empty_event {
};

EVENTLOG_FLAGS(access, { "read", 1 }, { "write", 2 });
EVENTLOG_ENUMERATION(colour, { "red", 1 }, { "green", 2 });

EVENTLOG_EVENT(sale,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(sale, amount, .unit = "cent",
					      .text = "what it costs"),
			       EVENTLOG_FIELD(sale, customer,
					      .format = EVENTLOG_FORMAT_HEXADECIMAL),
			       EVENTLOG_FIELD(sale, rights, .enumeration = &access_names),
			       EVENTLOG_FIELD(sale, hue, .enumeration = &colour_names),
			       EVENTLOG_FIELD(sale, is_new),
			       EVENTLOG_ARRAY(sale, name, .format = EVENTLOG_FORMAT_CHARACTERS),
			       EVENTLOG_ARRAY(sale, address,
					      .format = EVENTLOG_FORMAT_MAC_ADDRESS)),
	       .level = EVENTLOG_LEVEL_WARN, .keywords = BIT_ULL(63),
	       .text = "Something was sold", .when = "a sale closes");

EVENTLOG_EVENT(step,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(step, number), EVENTLOG_FIELD(step, delta)),
	       .session = true);

EVENTLOG_EVENT(empty, .level = EVENTLOG_LEVEL_TRACE, .kind = EVENTLOG_EVENT_BEGIN,
	       .keywords = BIT_ULL(0) | BIT_ULL(63));

EVENTLOG_PROVIDER(unit, EVENTLOG_PROVIDES(&event_sale, &event_step, &event_empty),
		  EVENTLOG_KEYWORDS({ "first", 0 }, { "last", 63 }), .text = "What is tested");

/* The first test, because the next one changes the lines. */
static void knows_where_it_is_declared(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, kbasename(event_sale.file), "schema_kunit.c");
	KUNIT_EXPECT_STREQ(test, kbasename(unit_provider.file), "schema_kunit.c");
	KUNIT_EXPECT_GT(test, event_sale.line, 0);
	KUNIT_EXPECT_GT(test, event_step.line, event_sale.line);
	KUNIT_EXPECT_GT(test, event_empty.line, event_step.line);
	KUNIT_EXPECT_GT(test, unit_provider.line, event_empty.line);
}

static void equals_the_schema_of_the_sdk(struct kunit *test)
{
	struct eventlog_schema schema = { };

	unit_provider.line = 3;
	event_sale.line = 70000;
	event_step.line = 0; /* unknown */
	event_empty.line = 1;
	KUNIT_ASSERT_EQ(test, 0, eventlog_schema_check(&unit_provider));
	KUNIT_ASSERT_EQ(test, 0, eventlog_schema_make(&unit_provider, &schema));
	KUNIT_EXPECT_EQ(test, schema.size, SIZE);
	KUNIT_EXPECT_EQ(test, schema.hash, HASH);
	kvfree(schema.bytes);
}

static void has_no_padding_in_payloads(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, 0, eventlog_schema_check(&unit_provider));
	KUNIT_EXPECT_EQ(test, event_sale.payload_size, 38);
	KUNIT_EXPECT_EQ(test, event_step.payload_size, 12);
	KUNIT_EXPECT_EQ(test, event_empty.payload_size, 0);
}

/* A valid event has this field and a struct without other members. */
static const struct eventlog_provider_field number = {
	.name = "number", .size = sizeof(u64), .type = EVENTLOG_TYPE_U64,
};

static int check(const struct eventlog_provider_field *fields, u16 count, size_t size)
{
	struct eventlog_provider_event event = {
		.name = "event", .fields = fields, .field_count = count, .struct_size = size,
	};
	struct eventlog_provider_event *const events[] = { &event };
	struct eventlog_provider provider = {
		.name = "refused", .events = events, .event_count = 1,
	};

	return eventlog_schema_check(&provider);
}

static void rejects_unsupported_types(struct kunit *test)
{
	struct eventlog_provider_field field = number;

	KUNIT_EXPECT_EQ(test, 0, check(&field, 1, sizeof(u64)));
	field.type = EVENTLOG_TYPE_OF(void *);
	KUNIT_EXPECT_EQ(test, field.type, EVENTLOG_TYPE_NONE);
	KUNIT_EXPECT_EQ(test, -EINVAL, check(&field, 1, sizeof(u64)));
}

static void rejects_holes(struct kunit *test)
{
	struct eventlog_provider_field fields[] = { number, number };

	fields[1].name = "behind";
	fields[1].offset = 16;
	KUNIT_EXPECT_EQ(test, -EINVAL, check(fields, 2, 24));
	fields[1].offset = 8;
	KUNIT_EXPECT_EQ(test, 0, check(fields, 2, 16));
	/* A member that is not listed. */
	KUNIT_EXPECT_EQ(test, -EINVAL, check(fields, 2, 24));
}

static void rejects_arrays_without_elements(struct kunit *test)
{
	struct eventlog_provider_field fields[] = { number, number };

	fields[1].name = "nothing";
	fields[1].offset = 8;
	fields[1].size = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, check(fields, 2, 8));
}

static void rejects_members_listed_twice(struct kunit *test)
{
	struct eventlog_provider_field fields[] = { number, number, number };

	/* Together they are as large as the struct. */
	fields[2].offset = 16;
	KUNIT_EXPECT_EQ(test, -EINVAL, check(fields, 3, 24));
}

static void rejects_unaligned_fields(struct kunit *test)
{
	struct eventlog_provider_field fields[] = { number, number };

	fields[0].type = EVENTLOG_TYPE_U8;
	fields[0].size = 1;
	fields[1].name = "behind";
	fields[1].offset = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, check(fields, 2, 9));
}

static void rejects_formats_that_do_not_fit(struct kunit *test)
{
	struct eventlog_provider_field field = number;

	field.format = EVENTLOG_FORMAT_MAC_ADDRESS;
	KUNIT_EXPECT_EQ(test, -EINVAL, check(&field, 1, sizeof(u64)));
	field.format = EVENTLOG_FORMAT_MONOTONIC;
	KUNIT_EXPECT_EQ(test, 0, check(&field, 1, sizeof(u64)));
}

static void rejects_invalid_names(struct kunit *test)
{
	static const char *const names[] = { NULL, "", "1st", "two words", "semi;colon" };
	struct eventlog_provider_field field = number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		field.name = names[i];
		KUNIT_EXPECT_EQ(test, -EINVAL, check(&field, 1, sizeof(u64)));
	}
}

static void rejects_sessions_behind_other_fields(struct kunit *test)
{
	struct eventlog_provider_field fields[] = { number, number };
	struct eventlog_provider_event event = {
		.name = "event", .session = true, .fields = fields, .field_count = 2,
		.struct_size = 16,
	};
	struct eventlog_provider_event *const events[] = { &event };
	struct eventlog_provider provider = {
		.name = "refused", .events = events, .event_count = 1,
	};

	fields[0].name = "before";
	fields[0].offset = 8;
	KUNIT_EXPECT_EQ(test, -EINVAL, eventlog_schema_check(&provider));
	fields[0].offset = 0;
	fields[1].offset = 8;
	KUNIT_EXPECT_EQ(test, 0, eventlog_schema_check(&provider));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(knows_where_it_is_declared),
	KUNIT_CASE(equals_the_schema_of_the_sdk),
	KUNIT_CASE(has_no_padding_in_payloads),
	KUNIT_CASE(rejects_unsupported_types),
	KUNIT_CASE(rejects_holes),
	KUNIT_CASE(rejects_arrays_without_elements),
	KUNIT_CASE(rejects_members_listed_twice),
	KUNIT_CASE(rejects_unaligned_fields),
	KUNIT_CASE(rejects_formats_that_do_not_fit),
	KUNIT_CASE(rejects_invalid_names),
	KUNIT_CASE(rejects_sessions_behind_other_fields),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_schema", .test_cases = cases };

kunit_test_suite(suite);
