// SPDX-License-Identifier: GPL-2.0
/*
 * Writes many events with one write(2): see EVENTLOG_BATCH in
 * uapi/linux/eventlog_device.h.
 *
 * A batch is copied in chunks. Consecutive entries of one event that has a
 * single subscription are written as one run: one reservation, one clock read
 * and one commit. Everything else is written entry by entry.
 */
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "listeners.h"

/* Size of a chunk. Any entry fits. */
#define CHUNK_SIZE 8192U
static_assert(sizeof(struct eventlog_timed_entry) + EVENTLOG_PAYLOAD_MAX <= CHUNK_SIZE);

struct batch {
	struct eventlog_file *file;
	u32 header_size; /* of an entry; distinguishes timed entries from plain ones */
	u64 only; /* serial of the one listener that gets it; 0: all get it */
};

/* Both kinds of entries have these fields at the same offsets. */
static_assert(offsetof(struct eventlog_timed_entry, size) ==
	      offsetof(struct eventlog_batch_entry, size));
static_assert(sizeof(struct eventlog_timed_entry) % EVENTLOG_RECORD_ALIGNMENT == 0);

/* Returns 0 if the entry has no time: it is stamped when it is written. */
static u64 time_of(const struct eventlog_batch_entry *entry, u32 header_size)
{
	return header_size == sizeof(struct eventlog_timed_entry) ?
		       ((const struct eventlog_timed_entry *)entry)->time : 0;
}

static const u8 *payload_of(const struct eventlog_batch_entry *entry, u32 header_size)
{
	return (const u8 *)entry + header_size;
}

/*
 * Writes the first entry of a chunk, of which `available` bytes were copied;
 * `remaining` bytes of the batch follow. Returns the entry's size with padding,
 * 0 if the chunk does not contain all of it, or an error.
 */
static ssize_t write_entry(const struct batch *batch, u8 *bytes, size_t available, size_t remaining)
{
	const struct eventlog_batch_entry *entry = (const void *)bytes;
	const struct eventlog_slot *slot;
	size_t end;
	int error;

	if (available < batch->header_size)
		return remaining ? 0 : -EINVAL;
	if (entry->size > available - batch->header_size + remaining)
		return -EINVAL;
	slot = eventlog_find_slot(batch->file, entry->write_index, entry->size);
	if (IS_ERR(slot))
		return PTR_ERR(slot);
	end = batch->header_size + entry->size;
	if (end > available)
		return 0;
	error = eventlog_deliver(slot, bytes + batch->header_size, entry->size,
				 time_of(entry, batch->header_size), batch->only);
	if (error)
		return error;
	/* The last entry of a batch may lack its padding. */
	return min(ALIGN(end, EVENTLOG_RECORD_ALIGNMENT), available + remaining);
}

static bool has_dynamic_fields(const struct eventlog_layout *layout)
{
	u32 i;

	for (i = 0; i < layout->field_count; i++)
		if (eventlog_field_is_dynamic(&layout->fields[i]))
			return true;
	return false;
}

/* Limits how many records are written with preemption off. */
#define RUN_MAX 256U

/*
 * Consecutive entries of one event. The functions take the size of their headers
 * apart, and are inlined with either of the two as a constant: each step of an
 * entry is a tenth of its cost.
 */
struct run {
	const u8 *bytes;
	size_t available;
	size_t remaining; /* bytes of the batch behind `available` */
	u32 index; /* write_index of the entries */
	u8 clock; /* of the ring */
	const struct eventlog_layout *layout;
	bool has_dynamic; /* payloads have words that point into the payload, which are checked */
};

/* With the padding, which the last entry of a batch may lack. */
static size_t size_of_entry(const struct eventlog_batch_entry *entry, u32 header_size)
{
	return ALIGN(header_size + entry->size, EVENTLOG_RECORD_ALIGNMENT);
}

/* Returns 0 if the record gets the time of the write. */
static __always_inline u64 custom_time_of(const struct run *run,
					  const struct eventlog_batch_entry *entry,
					  u32 header_size)
{
	return eventlog_custom_time(run->clock, time_of(entry, header_size));
}

static __always_inline bool is_short(const struct run *run,
				     const struct eventlog_batch_entry *entry, u32 header_size)
{
	return eventlog_record_is_short(entry->size, !!custom_time_of(run, entry, header_size));
}

/* What the entries of a run need in the ring. */
struct run_room {
	u32 count; /* of entries */
	u64 units; /* without the context of the first short record */
	bool has_short;
};

/* Returns whether an entry is complete, valid and of the run's event. */
static __always_inline bool belongs_to_run(const struct run *run,
					   const struct eventlog_batch_entry *entry,
					   u32 header_size, size_t left)
{
	return entry->write_index == run->index && entry->size >= run->layout->size &&
	       entry->size <= EVENTLOG_PAYLOAD_MAX && entry->size <= left - header_size &&
	       !(run->has_dynamic &&
		 eventlog_payload_check(run->layout, payload_of(entry, header_size), entry->size));
}

/* Returns whether the second entry is of the same event as the first. */
static bool begins_run(const u8 *bytes, size_t available, u32 header_size)
{
	const struct eventlog_batch_entry *entry = (const void *)bytes;
	const struct eventlog_batch_entry *other;

	if (available < 2 * header_size || entry->size > available - 2 * header_size ||
	    size_of_entry(entry, header_size) > available - header_size)
		return false;
	other = (const void *)(bytes + size_of_entry(entry, header_size));
	return other->write_index == entry->write_index;
}

/* Finds the entries of the run that fit into `room` units. */
static __always_inline struct run_room find_room(const struct run *run, u32 header_size, u64 room)
{
	struct run_room found = { };
	size_t at = 0;

	while (found.count < RUN_MAX && at + header_size <= run->available) {
		const struct eventlog_batch_entry *entry = (const void *)(run->bytes + at);
		const bool takes_word = is_short(run, entry, header_size);
		bool has_short = found.has_short;
		u64 units;

		if (!belongs_to_run(run, entry, header_size, run->available - at))
			break;
		has_short |= takes_word;
		units = found.units + eventlog_ring_units(takes_word ? 1 : 3, entry->size);
		if (units + has_short > room)
			break;
		found.units = units;
		found.has_short = has_short;
		found.count++;
		at += size_of_entry(entry, header_size);
	}
	return found;
}

/* What all records of a run have in common. */
struct run_event {
	u32 number;
	u32 thread;
	u32 cpu;
};

/*
 * Writes the records of a run, all of one time unless they have their own. The
 * first short one has the context if it `begins`. Returns the number of bytes of
 * the batch that were consumed.
 */
static __always_inline size_t fill_records(u64 *to, u64 time, bool begins,
					   const struct run_event *event, const struct run *run,
					   u32 header_size, u32 count)
{
	size_t at = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct eventlog_batch_entry *entry = (const void *)(run->bytes + at);
		const u64 custom = custom_time_of(run, entry, header_size);
		u8 *payload;

		if (is_short(run, entry, header_size)) {
			payload = eventlog_record_put_short(to, event->number, entry->size, time,
							    event->thread, begins);
			begins = false;
		} else {
			payload = eventlog_record_put_extended(to, event->number, entry->size,
							       custom ?: time, event->thread,
							       event->cpu, custom ?
							       EVENTLOG_RECORD_CUSTOM_TIME : 0);
		}
		eventlog_copy_payload(payload, payload_of(entry, header_size), entry->size);
		to = (u64 *)(payload + ALIGN(entry->size, EVENTLOG_RECORD_ALIGNMENT));
		at += size_of_entry(entry, header_size);
	}
	return min(at, run->available + run->remaining);
}

/*
 * Writes the part of a run that fits into the active buffer. The caller has
 * disabled preemption. Returns the number of bytes of the batch that were
 * consumed.
 */
static __always_inline size_t write_run_at_once(struct eventlog_subscription *subscription,
						const struct run_event *event, struct run *run,
						u32 header_size)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	struct run_room room;
	size_t taken = 0;
	bool begins;
	u64 time;
	u64 *to;

	run->clock = ring->clock;
	room = find_room(run, header_size, eventlog_ring_room(ring));
	/* A thread that is ending may have lost its number. */
	if (room.count < 2 || !event->thread)
		return 0;
	to = eventlog_ring_begin_run(ring, room.units, room.count, event->thread, room.has_short,
				     &time, &begins);
	if (to)
		taken = fill_records(to, time, begins, event, run, header_size, room.count);
	eventlog_wake(subscription, eventlog_ring_end_record(ring));
	return taken;
}

static size_t write_run_to(struct eventlog_subscription *subscription,
			   const struct run_event *event, struct run *run, u32 header_size)
{
	if (header_size == sizeof(struct eventlog_timed_entry))
		return write_run_at_once(subscription, event, run,
					 sizeof(struct eventlog_timed_entry));
	return write_run_at_once(subscription, event, run, sizeof(struct eventlog_batch_entry));
}

/*
 * Writes a run of entries to the single subscription of their event. Returns
 * the number of bytes consumed: 0 if the entries need the general path, which
 * write_entry() takes.
 */
static size_t write_run(const struct batch *batch, const u8 *bytes, size_t available,
			size_t remaining)
{
	const struct eventlog_batch_entry *entry = (const void *)bytes;
	const struct eventlog_source_event *published;
	const struct eventlog_listeners *listeners;
	struct run_event event;
	const struct eventlog_slot *slot;
	struct run run = {
		.bytes = bytes,
		.available = available,
		.remaining = remaining,
	};
	size_t taken = 0;

	if (batch->only || !begins_run(bytes, available, batch->header_size))
		return 0;
	slot = eventlog_find_slot(batch->file, entry->write_index, entry->size);
	if (IS_ERR(slot) || READ_ONCE(slot->event->enabled))
		return 0;
	run.index = entry->write_index;
	run.layout = slot->event->layout;
	run.has_dynamic = has_dynamic_fields(run.layout);
	event.thread = task_pid_vnr(current);
	preempt_disable();
	published = rcu_dereference_sched(slot->published);
	listeners = published ? rcu_dereference_sched(published->listeners) : NULL;
	if (listeners && listeners->is_single_ring) {
		event.number = listeners->entries[0].number;
		event.cpu = smp_processor_id();
		taken = write_run_to(eventlog_single_subscription(listeners), &event, &run,
				     batch->header_size);
	}
	preempt_enable();
	return taken;
}

/*
 * Writes the entries of a chunk. Sets the number of bytes of complete entries
 * that were consumed.
 */
static int write_chunk(const struct batch *batch, u8 *bytes, size_t available, size_t remaining,
		       size_t *taken)
{
	ssize_t size;

	for (*taken = 0; *taken < available;) {
		*taken += write_run(batch, bytes + *taken, available - *taken, remaining);
		if (*taken >= available)
			break;
		size = write_entry(batch, bytes + *taken, available - *taken, remaining);
		if (size <= 0)
			return size;
		*taken += size;
	}
	return 0;
}

/* Returns the number of bytes of complete entries that were consumed, or the first one's error. */
static ssize_t write_entries(const struct batch *batch, struct iov_iter *from, u8 *chunk)
{
	size_t all = 0, available, taken;
	int error = 0;

	while (!error && iov_iter_count(from)) {
		const size_t wanted = min_t(size_t, iov_iter_count(from), CHUNK_SIZE);

		available = copy_from_iter(chunk, wanted, from);
		error = write_chunk(batch, chunk, available, iov_iter_count(from), &taken);
		all += taken;
		/* The caller's memory ends here. The entries before it were written. */
		if (!error && available < wanted)
			error = -EFAULT;
		iov_iter_revert(from, available - min(taken, available));
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return all ? all : error;
}

ssize_t eventlog_write_batch(struct eventlog_file *file, struct iov_iter *from, size_t total)
{
	struct batch batch = { .file = file, .header_size = sizeof(struct eventlog_batch_entry) };
	size_t header_size = 2 * sizeof(u32);
	ssize_t taken;
	u32 flags;
	u8 *chunk;

	if (total > EVENTLOG_BATCH_SIZE_MAX)
		return -E2BIG;
	if (!copy_from_iter_full(&flags, sizeof(flags), from))
		return -EFAULT;
	if (flags & ~(EVENTLOG_BATCH_TIMED | EVENTLOG_BATCH_TO_LISTENER))
		return -EINVAL;
	if (flags & EVENTLOG_BATCH_TIMED)
		batch.header_size = sizeof(struct eventlog_timed_entry);
	if (flags & EVENTLOG_BATCH_TO_LISTENER) {
		if (!copy_from_iter_full(&batch.only, sizeof(batch.only), from))
			return -EFAULT;
		if (!batch.only)
			return -EINVAL;
		header_size += sizeof(batch.only);
	}
	chunk = kmalloc(min_t(size_t, iov_iter_count(from), CHUNK_SIZE), GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	taken = write_entries(&batch, from, chunk);
	kfree(chunk);
	return taken >= 0 ? taken + header_size : taken;
}
