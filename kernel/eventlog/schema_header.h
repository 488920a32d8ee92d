/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers of a schema's binary form, see elog(5), and the part that the kernel reads in schemas of
 * programs.
 */
#ifndef EVENTLOG_SCHEMA_HEADER_H
#define EVENTLOG_SCHEMA_HEADER_H

#include <linux/types.h>
#include <asm/byteorder.h>
#include <uapi/linux/eventlog.h>

#define EVENTLOG_SCHEMA_MAGIC 0x48435345U /* "ESCH" */
#define EVENTLOG_SCHEMA_VERSION 3
#define EVENTLOG_SCHEMA_NO_INDEX 0xffff
#define EVENTLOG_SCHEMA_EVENT_OF_SESSION 1
#define EVENTLOG_SCHEMA_ENUMERATION_COMBINES 1
#define EVENTLOG_SCHEMA_ATTRIBUTE_SOURCE 1

struct eventlog_schema_header {
	__le32 magic;
	__le16 version;
	__le16 event_count;
	__le32 size;
	__le16 enumeration_count;
	u8 keyword_count;
	u8 attribute_count;
	__le64 hash;
};

static_assert(sizeof(struct eventlog_schema_header) == 24);

/*
 * Returns the number of events by the schema's header, at most
 * EVENTLOG_EVENTS_MAX; 0 if it has none.
 */
static inline u32 eventlog_schema_event_count(const void *schema, u32 size)
{
	const struct eventlog_schema_header *header = schema;
	u32 count;

	if (size < sizeof(*header) || le32_to_cpu(header->magic) != EVENTLOG_SCHEMA_MAGIC)
		return 0;
	count = le16_to_cpu(header->event_count);
	return count < EVENTLOG_EVENTS_MAX ? count : EVENTLOG_EVENTS_MAX;
}

#endif /* EVENTLOG_SCHEMA_HEADER_H */
