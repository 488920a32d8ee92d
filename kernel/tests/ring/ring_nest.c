// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests ring.c and ring_write.h in a program. Writers interrupt one another
 * between any two accesses that matter, several deep, as NMIs do, and a reader
 * on another CPU reads at any of these moments.
 *
 * - Everything that was attempted is read, counted as lost in the right place,
 *   or counted as overwritten.
 * - All records are complete and in the order of time.
 *
 * Interruptions are random, with fixed seeds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../eventlog/ring.c"

enum { depth_max = 4, buffer_size = 512, buffers_max = 4, rounds = 5000, payload_max = 160 };
/* Event number of a record that has the time of the record before it. */
enum { IN_RUN = 2 };

static struct {
	struct eventlog_ring head;
	struct eventlog_buffer descriptors[buffers_max];
} region;
static u8 memory[buffers_max * buffer_size];
static struct eventlog_ring_writer writer;

static u64 seed;
static u64 now;
static unsigned int depth;
static bool is_reading;
static bool is_over; /* there are no writers any more */
static unsigned int chance; /* one access in this many is interrupted */

static u64 attempted;
static u64 next_number;
static u64 runs; /* records that were written in runs */
static u64 woken_at; /* value of `control` when a writer last said that readers have to be woken */

/* State of the reader. */
static struct {
	u64 generation;
	u64 offset;
	u64 records; /* read of the buffer */
	u64 records_reported;
	u64 read;
	u64 overwritten;
	u64 lost_reported;
	u64 last_reports; /* how often losses were reported before a record followed */
	u64 last_time;
} reader;
static u64 seen[depth_max + 1]; /* interruptions by depth: proves that the test tests something */

static void fail(const char *what)
{
	printf("WRONG: %s (seed %llu, attempted %llu, read %llu, lost %llu)\n", what,
	       (unsigned long long)seed, (unsigned long long)attempted,
	       (unsigned long long)reader.read, (unsigned long long)region.head.lost);
	exit(1);
}

static u32 next(u32 below)
{
	static u64 state;
	static u64 of_seed = ~0ULL;

	if (of_seed != seed) {
		of_seed = seed;
		state = seed * 0x9e3779b97f4a7c15ULL + 1;
	}
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (u32)((state >> 32) % below);
}

u64 ktime_get_mono_fast_ns(void)
{
	between_instructions();
	return ++now;
}

/* Writes several records at once if there is room; otherwise they are not attempted. */
static void write_run(void)
{
	const u32 count = 2 + next(3), size = 8 * (1 + next(4));
	const u64 units = (sizeof(struct eventlog_record) + size) / EVENTLOG_RECORD_ALIGNMENT;
	struct eventlog_record *record;
	u64 payload[payload_max / sizeof(u64)], time;
	u32 i, j;

	if (units * count > eventlog_ring_room(&writer))
		return;
	if (eventlog_ring_begin_run(&writer, units * count, count, &record)) {
		time = record->time;
		for (i = 0; i < count; i++) {
			const u64 number = next_number++;

			attempted++;
			runs++;
			for (j = 0; j < payload_max / sizeof(u64); j++)
				payload[j] = number;
			between_instructions();
			record->size = sizeof(*record) + size;
			record->event = i ? IN_RUN : 1;
			record->time = time;
			eventlog_copy_payload((u8 *)(record + 1), (const u8 *)payload, size);
			record = (void *)((u8 *)record + units * EVENTLOG_RECORD_ALIGNMENT);
			between_instructions();
		}
	}
	if (eventlog_ring_end_record(&writer))
		woken_at = region.head.control;
}

static void write_one(void)
{
	struct eventlog_record *record;
	u64 payload[payload_max / sizeof(u64)];
	const u32 size = 8 + next(payload_max - 8 + 1);
	const u64 number = next_number++;
	u32 i;

	for (i = 0; i < payload_max / sizeof(u64); i++)
		payload[i] = number;
	attempted++;
	if (eventlog_ring_begin_record(&writer, size, &record)) {
		between_instructions();
		record->event = 1;
		eventlog_copy_payload((u8 *)(record + 1), (const u8 *)payload, size);
		between_instructions();
	}
	if (eventlog_ring_end_record(&writer))
		woken_at = region.head.control;
}

/* Returns whether the last switch was announced to readers when it was visible, not before. */
static bool is_announced(void)
{
	const u64 control = region.head.control;

	return eventlog_generation_of(control) == eventlog_generation_of(woken_at) &&
	       (eventlog_position_of(control) == EVENTLOG_SEALED) ==
		       (eventlog_position_of(woken_at) == EVENTLOG_SEALED);
}

static void check_record(const u8 *at, u64 left)
{
	struct eventlog_record record;
	u64 first, other;
	u32 i;

	if (left < sizeof(record))
		fail("a record is cut short");
	memcpy(&record, at, sizeof(record));
	if (record.size < sizeof(record) + 8 || record.size > left)
		fail("a record has an invalid size");
	memcpy(&first, at + sizeof(record), sizeof(first));
	for (i = 0; i < record.size - sizeof(record); i++) {
		memcpy(&other, &first, sizeof(other));
		if (at[sizeof(record) + i] != ((const u8 *)&other)[i % 8])
			fail("a record is not complete");
	}
	if (record.time < reader.last_time ||
	    (record.time == reader.last_time && record.event != IN_RUN))
		fail("a record is earlier than the one before");
	reader.last_time = record.time;
	reader.offset += ALIGN((u64)record.size, EVENTLOG_RECORD_ALIGNMENT);
	reader.records++;
	reader.records_reported++;
	reader.read++;
}

static struct eventlog_buffer *descriptor_of(u64 generation)
{
	return &region.descriptors[generation & (writer.buffer_count - 1)];
}

static bool is_still_there(u64 generation)
{
	const u64 ahead = eventlog_generation_of(region.head.control) - generation;

	return descriptor_of(generation)->generation == generation &&
	       (ahead & EVENTLOG_GENERATION_MASK) < writer.buffer_count;
}

static void skip_overwritten(u64 control)
{
	const u64 newest = descriptor_of(eventlog_generation_of(control))->generation;

	if (writer.overwrite && reader.generation + writer.buffer_count <= newest) {
		reader.generation = newest + 1 - writer.buffer_count;
		reader.offset = 0;
		reader.records = 0;
	}
}

/* Writers on the other CPU run while the reader is between two accesses. */
static void write_meanwhile(void)
{
	u32 i;

	if (is_over || depth == depth_max || next(4))
		return;
	depth++;
	for (i = next(40); i; i--)
		write_one();
	depth--;
}

/* Reports losses that no record follows yet. */
static void report_last_losses(u64 control)
{
	const u64 following = reader.generation + 1;
	u64 lost;

	if (eventlog_position_of(control) != EVENTLOG_SEALED)
		return;
	write_meanwhile();
	lost = region.head.lost;
	write_meanwhile();
	if (region.head.control != control || descriptor_of(following)->generation == following)
		return;
	if (lost < reader.lost_reported)
		fail("losses are reported twice");
	reader.last_reports += lost != reader.lost_reported;
	reader.lost_reported = lost;
}

/* See "Rules for readers" in uapi/linux/eventlog.h. Returns false if no buffer follows. */
static bool read_buffer(u64 control)
{
	const u64 generation = reader.generation;
	const struct eventlog_buffer *descriptor = descriptor_of(generation);
	const u8 *bytes = memory + (generation & (writer.buffer_count - 1)) * buffer_size;
	const bool active = eventlog_generation_of(control) ==
			    (generation & EVENTLOG_GENERATION_MASK);
	const u64 filled = active && eventlog_position_of(control) != EVENTLOG_SEALED ?
				   control : descriptor->sealed;
	const u64 end = eventlog_position_of(filled) * EVENTLOG_RECORD_ALIGNMENT;

	if (is_still_there(generation)) {
		if (end > buffer_size)
			fail("a buffer is filled beyond its end");
		if (reader.offset < end) {
			const u64 recorded = descriptor->records_before + reader.records;

			if (recorded < reader.records_reported ||
			    (!writer.overwrite && recorded != reader.records_reported))
				fail("records are not where they are said to be");
			reader.overwritten += recorded - reader.records_reported;
			reader.records_reported = recorded;
			if (descriptor->lost_before < reader.lost_reported)
				fail("losses are reported twice");
			reader.lost_reported = descriptor->lost_before;
		}
		while (reader.offset < end)
			check_record(bytes + reader.offset, end - reader.offset);
		if (reader.records != eventlog_count_of(filled))
			fail("a buffer does not have as many records as it says");
	} else if (!writer.overwrite) {
		fail("a buffer is used that has not been read");
	} else if (active) {
		return false; /* a switch is under way: read again later */
	}
	if (active) {
		report_last_losses(control);
		return false;
	}
	reader.generation = generation + 1;
	reader.offset = 0;
	reader.records = 0;
	if (!writer.overwrite)
		region.head.drained = generation + 1;
	return true;
}

static void read_all(void)
{
	const u64 control = region.head.control;

	if (is_reading)
		return;
	is_reading = true;
	skip_overwritten(control);
	while (read_buffer(control))
		;
	is_reading = false;
}

void between_instructions(void)
{
	if (is_reading)
		return;
	if (!next(chance * 8))
		read_all();
	if (depth == depth_max || next(chance))
		return;
	depth++;
	seen[depth]++;
	if (next(4))
		write_one();
	else
		write_run();
	depth--;
}

static void begin(bool overwrite, u32 buffer_count)
{
	u32 i;

	memset(&region, 0, sizeof(region));
	memset(&reader, 0, sizeof(reader));
	memset(memory, 0, sizeof(memory));
	attempted = 0;
	is_over = false;
	writer = (struct eventlog_ring_writer){
		.reserved = EVENTLOG_SEALED,
		.buffer_count = buffer_count,
		.buffer_size = buffer_size,
		.overwrite = overwrite,
		.clock = EVENTLOG_CLOCK_MONOTONIC,
		.head = &region.head,
		.descriptors = region.descriptors,
	};
	region.head.control = EVENTLOG_SEALED;
	for (i = 1; i < buffer_count; i++)
		region.descriptors[i].generation = ~0ULL;
	/* Before the CPU has memory, everything is lost. */
	for (i = 0; i < 10; i++)
		write_one();
	if (region.head.lost != attempted)
		fail("without memory not all is lost");
	is_reading = true;
	writer.buffers = memory;
	eventlog_ring_begin(&writer);
	woken_at = 0;
	is_reading = false;
}

static void conserve(bool overwrite, u32 buffer_count)
{
	u32 i;

	begin(overwrite, buffer_count);
	for (i = 0; i < rounds; i++) {
		if (next(4))
			write_one();
		else
			write_run();
		if (writer.nest || writer.phase != EVENTLOG_RING_IDLE)
			fail("a writer has not finished");
		if (!is_announced())
			fail("a switch wakes no reader");
		/* Gaps lie between buffers, also if an NMI interrupted a switch. */
		if (eventlog_position_of(writer.reserved) != EVENTLOG_SEALED &&
		    descriptor_of(eventlog_generation_of(writer.reserved))->lost_before !=
			    region.head.lost)
			fail("a loss does not stand before its buffer");
	}
	is_over = true;
	read_all();
	if (writer.reserved != region.head.control)
		fail("something has not been made visible");
	if (reader.read + reader.overwritten + region.head.lost != attempted)
		fail("what was attempted is not what was read or counted");
	if (!reader.read || (overwrite ? !reader.overwritten :
			     !region.head.lost || !reader.last_reports))
		fail("nothing was read, or nothing was missing");
}

int main(void)
{
	u32 i;

	for (seed = 1; seed <= 16; seed++) {
		chance = 8U << seed % 4 * 2;
		conserve(seed % 2, seed % 3 ? 2 : 4);
	}
	for (i = 1; i <= depth_max; i++)
		if (!seen[i])
			fail("no interruption was that deep");
	if (!runs)
		fail("no run was written");
	printf("ok: %llu interruptions\n",
	       (unsigned long long)(seen[1] + seen[2] + seen[3] + seen[4]));
	return 0;
}
