// SPDX-License-Identifier: GPL-2.0
/* Many events in one write: see EVENTLOG_BATCH in uapi/linux/eventlog_device.h. */
#include <linux/err.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uio.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "listeners.h"

/* So much of a batch is copied at once; more than any entry takes. */
#define CHUNK_SIZE 8192U
static_assert(sizeof(struct eventlog_timed_entry) + EVENTLOG_PAYLOAD_MAX <= CHUNK_SIZE);

struct batch {
	struct eventlog_file *file;
	u32 header_size; /* of an entry: how large it is says whether it has a time */
};

/* Both kinds of entries begin alike. */
static_assert(offsetof(struct eventlog_timed_entry, size) ==
	      offsetof(struct eventlog_batch_entry, size));
static_assert(sizeof(struct eventlog_timed_entry) % EVENTLOG_RECORD_ALIGNMENT == 0);

/* 0: now. */
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
 * The first of `held` bytes of a batch, behind which are `behind` more.  Returns how
 * many it takes with its padding, 0 if it is not whole there, or an error.
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
	error = eventlog_hand_over(slot, bytes + batch->header_size, entry->size,
				   time_of(entry, batch->header_size));
	if (error)
		return error;
	/* The last one may go without padding. */
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

/* So many with preemption off. */
#define RUN_MAX 256U

/* Entries of one event behind one another. */
struct run {
	const u8 *bytes;
	size_t available;
	size_t remaining; /* these */
	u32 index; /* what they begin with */
	u32 header_size; /* of each */
	const struct eventlog_layout *layout;
	bool has_dynamic; /* something in their payloads points to something else there */
};

/* With the padding behind it, which the last one may lack. */
static size_t size_of_entry(const struct eventlog_batch_entry *entry, u32 header_size)
{
	return ALIGN(header_size + entry->size, EVENTLOG_RECORD_ALIGNMENT);
}

static size_t size_of_record(const struct eventlog_batch_entry *entry)
{
	return ALIGN(sizeof(struct eventlog_record) + entry->size, EVENTLOG_RECORD_ALIGNMENT);
}

/* Whether an entry is one of them, and whole. */
static bool belongs_to_run(const struct run *run, const struct eventlog_batch_entry *entry,
			   size_t left)
{
	return entry->write_index == run->index && entry->size >= run->layout->size &&
	       entry->size <= EVENTLOG_PAYLOAD_MAX && entry->size <= left - run->header_size &&
	       !(run->has_dynamic &&
		 eventlog_payload_check(run->layout, payload_of(entry, run->header_size),
					entry->size));
}

/* Whether the first entry has another one of the same event behind it. */
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

/* How many follow for which there is so much room, and the units that they take. */
static u32 count_entries(const struct run *run, u64 room, u64 *units)
{
	size_t at = 0;
	u32 count;

	*units = 0;
	for (count = 0; count < RUN_MAX && at + run->header_size <= run->available; count++) {
		const struct eventlog_batch_entry *entry = (const void *)(run->bytes + at);
		u64 more;

		if (!belongs_to_run(run, entry, run->available - at))
			break;
		more = size_of_record(entry) / EVENTLOG_RECORD_ALIGNMENT;
		if (*units + more > room)
			break;
		*units += more;
		at += size_of_entry(entry, run->header_size);
	}
	return count;
}

/* `common` is what is the same for all of them.  Returns how many bytes these were. */
static size_t fill_records(struct eventlog_record *to, const struct eventlog_record *common,
			   const struct run *run, u32 count, u8 clock)
{
	const u64 time = to->time;
	size_t at = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		const struct eventlog_batch_entry *entry = (const void *)(run->bytes + at);

		*to = *common;
		to->size = sizeof(*to) + entry->size;
		to->time = time;
		eventlog_set_time(to, clock, time_of(entry, run->header_size));
		eventlog_copy_payload((u8 *)(to + 1), payload_of(entry, run->header_size),
				      entry->size);
		to = (void *)((u8 *)to + size_of_record(entry));
		at += size_of_entry(entry, run->header_size);
	}
	return min(at, run->available + run->remaining);
}

/* As many as there is room for at once; with preemption off.  Returns how many bytes these were. */
static size_t write_run_at_once(struct eventlog_subscription *subscription,
				const struct eventlog_record *common, const struct run *run)
{
	struct eventlog_ring_writer *ring = this_cpu_ptr(subscription->writers);
	struct eventlog_record *to;
	size_t taken = 0;
	u64 units;
	const u32 count = count_entries(run, eventlog_ring_room(ring), &units);

	if (count < 2)
		return 0;
	if (eventlog_ring_begin_run(ring, units, count, &to))
		taken = fill_records(to, common, run, count, ring->clock);
	eventlog_wake(subscription, eventlog_ring_end_record(ring));
	return taken;
}

/*
 * Entries of one event behind one another, for a single subscription: what is the
 * same for all of them is done once.  Returns how many bytes it has taken, up to
 * whatever is anything else, or wrong, or has no room: that is for write_entry().
 */
static size_t write_run(const struct batch *batch, const u8 *bytes, size_t available,
			size_t remaining)
{
	const struct eventlog_batch_entry *entry = (const void *)bytes;
	const struct eventlog_source_event *published;
	const struct eventlog_listeners *listeners;
	struct eventlog_record common = { 0 };
	const struct eventlog_slot *slot;
	struct run run = {
		.bytes = bytes,
		.available = available,
		.remaining = remaining,
		.header_size = batch->header_size,
	};
	size_t taken = 0;

	if (!begins_run(bytes, available, batch->header_size))
		return 0;
	slot = eventlog_find_slot(batch->file, entry->write_index, entry->size);
	if (IS_ERR(slot) || READ_ONCE(slot->event->enabled))
		return 0;
	run.index = entry->write_index;
	run.layout = slot->event->layout;
	run.has_dynamic = has_dynamic_fields(run.layout);
	common.thread = task_pid_vnr(current);
	preempt_disable();
	published = rcu_dereference_sched(slot->published);
	listeners = published ? rcu_dereference_sched(published->listeners) : NULL;
	if (listeners && listeners->is_single_ring) {
		common.provider = listeners->entries[0].provider;
		common.event = published->id;
		common.cpu = smp_processor_id();
		taken = write_run_at_once(eventlog_single_subscription(listeners), &common, &run);
	}
	preempt_enable();
	return taken;
}

/* Entries of a part of a batch.  Sets how many bytes of whole ones have been taken. */
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

/* See EVENTLOG_BATCH.  Returns how many bytes of whole entries have been taken. */
static ssize_t write_entries(const struct batch *batch, struct iov_iter *from, u8 *chunk)
{
	size_t all = 0, available, taken;
	int error = 0;

	while (!error && iov_iter_count(from)) {
		const size_t wanted = min_t(size_t, iov_iter_count(from), CHUNK_SIZE);

		available = copy_from_iter(chunk, wanted, from);
		error = write_chunk(batch, chunk, available, iov_iter_count(from), &taken);
		all += taken;
		/* Memory ends there: what stands before it has been taken. */
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
	ssize_t taken;
	u32 flags;
	u8 *chunk;

	if (total > EVENTLOG_BATCH_SIZE_MAX)
		return -E2BIG;
	if (!copy_from_iter_full(&flags, sizeof(flags), from))
		return -EFAULT;
	if (flags & ~EVENTLOG_BATCH_TIMED)
		return -EINVAL;
	if (flags & EVENTLOG_BATCH_TIMED)
		batch.header_size = sizeof(struct eventlog_timed_entry);
	chunk = kmalloc(min_t(size_t, iov_iter_count(from), CHUNK_SIZE), GFP_KERNEL);
	if (!chunk)
		return -ENOMEM;
	taken = write_entries(&batch, from, chunk);
	kfree(chunk);
	return taken >= 0 ? taken + 2 * sizeof(u32) : taken;
}
