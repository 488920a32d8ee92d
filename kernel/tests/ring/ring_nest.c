// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests ring.c and ring_write.h in a program. Writers interrupt one another
 * between any two accesses that matter, several deep, as NMIs do, and a reader
 * on another CPU reads at any of these moments.
 *
 * - Everything that was attempted is read, counted as lost in the right place,
 *   or counted as overwritten.
 * - All records are complete and in the order of time.
 * - Each has the thread and the time with which it was written, also if it leaves
 *   out its context: a buffer is read alone.
 *
 * Interruptions are random, with fixed seeds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../eventlog/ring.c"

#include "decoded_record.h"

enum { depth_max = 4, buffer_size = 1024, buffers_max = 4, rounds = 5000, payload_max = 304 };
/* Event numbers. A record IN_RUN has the time of the record before it. */
enum { SINGLE = 1, IN_RUN = 2, CUSTOM = 3 };
enum { threads_max = 3, cpu = 9, custom_time = 77 };

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
static u64 kinds[4]; /* records that were read, by kind */
/* Threads and times of records, by number: those of its writer, when it was written. */
enum { numbers_max = 1 << 21 };
static struct {
	u32 thread;
	u64 time;
} written[numbers_max];
static u64 woken_at; /* value of `control` when a writer last said that readers have to be woken */

/* State of the reader. */
static struct {
	u64 generation;
	u64 offset;
	u64 records; /* read of the buffer */
	u64 context; /* of the last CONTEXT record of the buffer; 0: none */
	u64 records_reported;
	u64 read;
	u64 overwritten;
	u64 lost_reported;
	u64 last_reports; /* how often losses were reported before a record followed */
	u64 last_time;
} reader;
static u64 clock_read[depth_max + 1]; /* last time that was read, by depth */
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

/* The upper half changes often: also between the reading of the clock and the reservation. */
u64 ktime_get_mono_fast_ns(void)
{
	between_instructions();
	now += next(16) ? 1 : 1ULL << 30;
	clock_read[depth] = now;
	return now;
}

/* Thread 0 with an early time has context 0, which is none. */
static u32 any_thread(void)
{
	return next(4) ? depth % threads_max : next(threads_max);
}

static u64 new_number(u32 thread)
{
	const u64 number = next_number++;

	if (number >= numbers_max)
		fail("too many records for this test");
	attempted++;
	written[number].thread = thread;
	return number;
}

/* The payload has the number in each word. */
static void store_payload(u8 *to, u64 number, u32 size)
{
	u64 payload[payload_max / sizeof(u64)];
	u32 i;

	for (i = 0; i < payload_max / sizeof(u64); i++)
		payload[i] = number;
	between_instructions();
	eventlog_copy_payload(to, (const u8 *)payload, size);
	between_instructions();
}

/* Writes several records at once if there is room; otherwise they are not attempted. */
static void write_run(void)
{
	const u32 count = 2 + next(3), size = 8 * (1 + next(4)), thread = 1 + any_thread();
	/* Every second one may be EXTENDED, with the first or the second as the first of these. */
	const u32 extended = next(3);
	u64 units = 0, time;
	bool begins;
	u64 *to;
	u32 i;

	for (i = 0; i < count; i++)
		units += eventlog_ring_units(i % 2 + 1 == extended ? 3 : 1, size);
	if (units + 1 > eventlog_ring_room(&writer))
		return;
	to = eventlog_ring_begin_run(&writer, units, count, thread, true, &time, &begins);
	for (i = 0; to && i < count; i++) {
		const u64 number = new_number(thread);
		const u32 event = i ? IN_RUN : SINGLE;
		u8 *payload;

		runs++;
		written[number].time = time;
		between_instructions();
		if (i % 2 + 1 == extended) {
			payload = eventlog_record_put_extended(to, event, size, time, thread, cpu,
							       0);
		} else {
			payload = eventlog_record_put_short(to, event, size, time, thread, begins);
			begins = false;
		}
		store_payload(payload, number, size);
		to = (u64 *)(payload + size);
	}
	if (eventlog_ring_end_record(&writer))
		woken_at = region.head.control;
}

static void write_one(void)
{
	const u32 thread = any_thread();
	const u32 size = 8 + (next(4) ? next(152) : next(payload_max - 8 + 1));
	const u64 custom = next(8) ? 0 : custom_time;
	const u64 number = new_number(thread);
	u8 *to;

	if (custom || !eventlog_record_is_short(size, 0))
		to = eventlog_ring_begin_extended(&writer, custom ? CUSTOM : SINGLE, thread, cpu,
						  size, custom);
	else
		to = eventlog_ring_begin_short(&writer, SINGLE, thread, size);
	if (to) {
		/* This context has reserved with the last time that it has read. */
		written[number].time = custom ? custom : clock_read[depth];
		store_payload(to, number, size);
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
	struct decoded record;
	const char *wrong = decode(at, left, &reader.context, &record);
	u32 i;

	if (wrong)
		fail(wrong);
	kinds[record.kind]++;
	if (record.kind == EVENTLOG_KIND_EXTENDED && record.cpu != cpu)
		fail("a record has the wrong CPU");
	if ((record.event == CUSTOM) != (record.flags == EVENTLOG_RECORD_CUSTOM_TIME))
		fail("a record has the wrong flags");
	for (i = 0; i < record.size; i++)
		if (at[record.header + i] != ((const u8 *)&record.number)[i % 8])
			fail("a record is not complete");
	for (; i % 8; i++)
		if (at[record.header + i])
			fail("the padding is not zero");
	if (record.number >= next_number || record.thread != written[record.number].thread)
		fail("a record has the wrong thread");
	if (record.time != written[record.number].time)
		fail("a record has the wrong time");
	if (record.event != CUSTOM) {
		if (record.time < reader.last_time ||
		    (record.time == reader.last_time && record.event != IN_RUN))
			fail("a record is earlier than the one before");
		reader.last_time = record.time;
	}
	reader.offset += record.header + ALIGN((u64)record.size, EVENTLOG_RECORD_ALIGNMENT);
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
		reader.context = 0;
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
	reader.context = 0;
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
	next_number = 0;
	now = 0; /* an idle thread has context 0 at first */
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

/* The kind of a record of this thread, written without interruptions. */
static u32 kind_of_next(u32 thread)
{
	const u8 *payload = eventlog_ring_begin_short(&writer, SINGLE, thread, 0);
	const bool has_context = payload && ((const u64 *)payload)[-1] >> EVENTLOG_THREAD_SHIFT ==
						    thread;

	eventlog_ring_end_record(&writer);
	return has_context ? EVENTLOG_KIND_CONTEXT : EVENTLOG_KIND_SHORT;
}

static void leave_out_what_can_be(void)
{
	begin(false, 2);
	is_reading = true;
	now = 0;
	if (kind_of_next(5) != EVENTLOG_KIND_CONTEXT || kind_of_next(5) != EVENTLOG_KIND_SHORT ||
	    kind_of_next(6) != EVENTLOG_KIND_CONTEXT || kind_of_next(6) != EVENTLOG_KIND_SHORT)
		fail("a record has a context without need, or none although it needs one");
	is_reading = false;
}

int main(void)
{
	u32 i;

	for (seed = 1; seed <= 16; seed++) {
		chance = 8U << seed % 4 * 2;
		conserve(seed % 2, seed % 3 ? 2 : 4);
	}
	leave_out_what_can_be();
	for (i = 1; i <= depth_max; i++)
		if (!seen[i])
			fail("no interruption was that deep");
	if (!runs)
		fail("no run was written");
	if (!kinds[EVENTLOG_KIND_SHORT] || !kinds[EVENTLOG_KIND_CONTEXT] ||
	    !kinds[EVENTLOG_KIND_EXTENDED])
		fail("a kind of records was not read");
	printf("ok: %llu interruptions; %llu short records, %llu with context, %llu extended\n",
	       (unsigned long long)(seen[1] + seen[2] + seen[3] + seen[4]),
	       (unsigned long long)kinds[EVENTLOG_KIND_SHORT],
	       (unsigned long long)kinds[EVENTLOG_KIND_CONTEXT],
	       (unsigned long long)kinds[EVENTLOG_KIND_EXTENDED]);
	return 0;
}
