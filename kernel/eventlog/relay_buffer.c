// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers of a relay channel: sub-buffers with headers on top of the kernel's
 * relay, and their files in debugfs.
 *
 * Locks: see relay.h. Functions that iterate over CPUs hold cpus_read_lock().
 */
#include <linux/align.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/kstrtox.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "record.h"
#include "relay.h"

/*
 * An open buffer holds its channel. Like relay's own open(), but rejects a
 * buffer that relay has not finished: the file exists before that.
 */
static int open_buffer(struct inode *inode, struct file *file)
{
	struct rchan_buf *buffer = inode->i_private;
	struct eventlog_relay *relay = buffer->chan->private_data;

	if (!kref_get_unless_zero(&buffer->kref))
		return -ENODEV;
	kref_get(&relay->references);
	file->private_data = buffer;
	return nonseekable_open(inode, file);
}

static int release_buffer(struct inode *inode, struct file *file)
{
	const struct rchan_buf *buffer = file->private_data;
	struct eventlog_relay *relay = buffer->chan->private_data;
	const int error = relay_file_operations.release(inode, file);

	eventlog_relay_put(relay);
	return error;
}

static __poll_t poll_buffer(struct file *file, struct poll_table_struct *wait)
{
	const struct rchan_buf *buffer = file->private_data;
	const struct eventlog_relay *relay = buffer->chan->private_data;
	const __poll_t is_there = relay_file_operations.poll(file, wait);

	/* Checked after queueing: closing a channel sets the state before it wakes readers. */
	return READ_ONCE(relay->state) == EVENTLOG_RELAY_CLOSED ? is_there | EPOLLERR : is_there;
}

/* A mapping is copied by fork(), and divided. */
static void open_area(struct vm_area_struct *area)
{
	atomic_inc(&eventlog_relay_buffer_of(area->vm_private_data)->mappings);
}

static void close_area(struct vm_area_struct *area)
{
	atomic_dec(&eventlog_relay_buffer_of(area->vm_private_data)->mappings);
}

static vm_fault_t fault_in_area(struct vm_fault *fault)
{
	const struct rchan_buf *buffer = fault->vma->vm_private_data;
	struct page *page = vmalloc_to_page(buffer->start + (fault->pgoff << PAGE_SHIFT));

	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	fault->page = page;
	return 0;
}

/* Like those of relay, which do not count. */
static const struct vm_operations_struct area_operations = {
	.open = open_area,
	.close = close_area,
	.fault = fault_in_area,
};

static int map_buffer(struct file *file, struct vm_area_struct *area)
{
	int error;

	/* relay ignores the offset, and would map what lies behind the buffer. */
	if (area->vm_pgoff)
		return -EINVAL;
	error = relay_file_operations.mmap(file, area);
	if (error)
		return error;
	area->vm_ops = &area_operations;
	open_area(area);
	return 0;
}

/*
 * Unlike relay's own operations these hold the module. splice_read is missing:
 * that of Linux 6.1 returns wrong lengths, and later kernels have none.
 */
static const struct file_operations buffer_operations = {
	.owner = THIS_MODULE,
	.open = open_buffer,
	.release = release_buffer,
	.read = eventlog_relay_read,
	.poll = poll_buffer,
	.mmap = map_buffer,
};

struct eventlog_relay_buffer *eventlog_relay_buffer_of(const struct rchan_buf *buffer)
{
	struct eventlog_relay *relay = buffer->chan->private_data;

	return &relay->buffers[eventlog_relay_index(relay, buffer->cpu)];
}

static void end_subbuf(const struct rchan_buf *buffer, struct eventlog_relay_header *header,
		       size_t padding)
{
	const struct eventlog_relay_buffer *relay_buffer = eventlog_relay_buffer_of(buffer);

	header->records = relay_buffer->recorded - relay_buffer->recorded_at_start;
	/* A reader of the mapping that sees `used` sees everything before it. */
	smp_store_release(&header->used, buffer->chan->subbuf_size - padding);
}

static u32 *count_of(const struct rchan_buf *buffer, const void *subbuf)
{
	const size_t index = (subbuf - buffer->start) / buffer->chan->subbuf_size;

	return &eventlog_relay_buffer_of(buffer)->counts[index];
}

static void merge_pending_losses(struct eventlog_relay_buffer *relay_buffer)
{
	if (atomic64_read(&relay_buffer->lost_pending))
		relay_buffer->lost += atomic64_xchg(&relay_buffer->lost_pending, 0);
}

/* Called again for each record while there is no room, so it may run repeatedly. */
static int start_subbuf(struct rchan_buf *buffer, void *subbuf, void *before, size_t padding)
{
	const struct eventlog_relay *relay = buffer->chan->private_data;
	struct eventlog_relay_buffer *relay_buffer = eventlog_relay_buffer_of(buffer);
	struct eventlog_relay_header *header = subbuf;

	merge_pending_losses(relay_buffer);
	if (before) {
		end_subbuf(buffer, before, padding);
		*count_of(buffer, before) =
			relay_buffer->recorded - relay_buffer->recorded_at_start;
	} else {
		/* A new buffer, or one that was reset: it is empty. */
		memset(relay_buffer->counts, 0,
		       relay->options.subbuf_count * sizeof(*relay_buffer->counts));
		if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_OVERWRITE))
			relay_buffer->overwritten = relay_buffer->recorded;
	}
	if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_OVERWRITE))
		relay_buffer->overwritten += *count_of(buffer, subbuf);
	else if (before && relay_buf_full(buffer))
		return 0;
	*count_of(buffer, subbuf) = 0;
	relay_buffer->recorded_at_start = relay_buffer->recorded;
	relay_buffer->lost_reported = relay_buffer->lost;
	/* A sub-buffer can be read alone. */
	relay_buffer->context = 0;
	*header = (struct eventlog_relay_header){
		.magic = EVENTLOG_RELAY_MAGIC,
		.cpu = buffer->cpu,
		.sequence = relay_buffer->sequence++,
		.records_before = relay_buffer->recorded,
		.lost_before = relay_buffer->lost,
	};
	subbuf_start_reserve(buffer, sizeof(*header));
	return 1;
}

static struct dentry *create_file(const char *name, struct dentry *parent, umode_t mode,
				  struct rchan_buf *buffer, int *is_global)
{
	struct eventlog_relay *relay = buffer->chan->private_data;

	/*
	 * If the file cannot be created, relay drops the buffer of this CPU and finds it
	 * again later.
	 */
	if (name && kstrtouint(name + strlen("cpu"), 10, &buffer->cpu))
		return ERR_PTR(-EINVAL);
	if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL)) {
		*is_global = 1;
		if (name)
			name = "all";
	}
	/* Without a name relay only requires that this does not fail. */
	if (!name)
		return relay->directory;
	/* The proxies of debugfs_create_file() do not support mmap. */
	return debugfs_create_file_unsafe(name, mode, parent, buffer, &buffer_operations);
}

static int remove_file(struct dentry *file)
{
	debugfs_remove(file);
	return 0;
}

static const struct rchan_callbacks callbacks = {
	.subbuf_start = start_subbuf,
	.create_buf_file = create_file,
	.remove_buf_file = remove_file,
};

/* Opens the buffers of online CPUs. relay makes those of other CPUs when they come online. */
int eventlog_relay_buffers_open(struct eventlog_relay *relay)
{
	const bool hidden = eventlog_relay_has_flag(relay, EVENTLOG_RELAY_DEFER_FILES);

	/* Otherwise a CPU that is coming online would get a buffer neither here nor later. */
	cpus_read_lock();
	relay->channel = relay_open(hidden ? NULL : "cpu", hidden ? NULL : relay->directory,
				    relay->options.subbuf_size, relay->options.subbuf_count,
				    &callbacks, relay);
	cpus_read_unlock();
	return relay->channel ? 0 : -ENOMEM;
}

/* Calls run(data) where no writer uses the buffer. The caller holds cpus_read_lock(). */
void eventlog_relay_run_on_cpu(struct rchan_buf *buffer, void (*run)(void *data), void *data)
{
	const struct eventlog_relay *relay = buffer->chan->private_data;

	if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL) || !cpu_online(buffer->cpu))
		run(data);
	else
		smp_call_function_single(buffer->cpu, run, data, 1);
}

struct late_file {
	struct rchan_buf *buffer;
	struct dentry *file;
};

static void set_file(void *data)
{
	const struct late_file *late = data;
	struct eventlog_relay *relay = late->buffer->chan->private_data;
	unsigned long flags;

	if (WARN_ON_ONCE(!eventlog_relay_enter(relay, true, &flags)))
		return;
	d_inode(late->file)->i_size = late->buffer->early_bytes;
	late->buffer->dentry = late->file;
	eventlog_relay_leave(relay, true, flags);
}

static int show_buffer(struct eventlog_relay *relay, struct rchan_buf *buffer)
{
	struct late_file late = { .buffer = buffer };
	int is_global = 0;
	char name[16];

	snprintf(name, sizeof(name), "cpu%u", buffer->cpu);
	late.file = create_file(name, relay->directory, 0400, buffer, &is_global);
	if (IS_ERR(late.file))
		return PTR_ERR(late.file);
	eventlog_relay_run_on_cpu(buffer, set_file, &late);
	return 0;
}

/*
 * Creates the files of a channel without files, with everything written so far.
 * relay_late_setup_files() would create them with preemption disabled, although
 * that may sleep.
 */
int eventlog_relay_buffers_show(struct eventlog_relay *relay)
{
	struct rchan *channel = relay->channel;
	int error = 0;
	int cpu;

	if (channel->has_base_filename)
		return -EEXIST;
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct rchan_buf *buffer = *per_cpu_ptr(channel->buf, cpu);

		/* An earlier call may have failed after this buffer. */
		if (buffer && !buffer->dentry)
			error = show_buffer(relay, buffer);
		if (error || eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL))
			break;
	}
	if (!error) {
		/* relay creates the files of CPUs that come online later. */
		strscpy(channel->base_filename, "cpu", sizeof(channel->base_filename));
		channel->has_base_filename = 1;
		channel->parent = relay->directory;
	}
	cpus_read_unlock();
	return error;
}

static struct rchan_buf *buffer_here(struct eventlog_relay *relay)
{
	return *this_cpu_ptr(relay->channel->buf);
}

/* Returns whether the record may be SHORT or CONTEXT. Several CPUs write to a shared buffer. */
static bool is_short(const struct eventlog_relay *relay, const struct eventlog_relay_record *record)
{
	return eventlog_record_is_short(record->size, record->flags) &&
	       !eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL);
}

static bool begins_context(const struct eventlog_relay_buffer *relay_buffer, u64 context)
{
	return !context || relay_buffer->context != context;
}

/* Size of the record's header behind what is in the buffer. */
static size_t header_size(const struct eventlog_relay *relay,
			  const struct eventlog_relay_buffer *relay_buffer,
			  const struct eventlog_relay_record *record)
{
	const u64 context = eventlog_record_context(record->thread, record->time);

	if (!is_short(relay, record))
		return EVENTLOG_EXTENDED_HEADER_SIZE;
	return begins_context(relay_buffer, context) ? EVENTLOG_CONTEXT_HEADER_SIZE :
						       EVENTLOG_SHORT_HEADER_SIZE;
}

/* Stores the header. Returns where the payload goes. */
static u8 *put_header(const struct eventlog_relay *relay,
		      struct eventlog_relay_buffer *relay_buffer, u64 *to,
		      const struct eventlog_relay_record *record)
{
	const u64 context = eventlog_record_context(record->thread, record->time);
	const bool begins = begins_context(relay_buffer, context);

	if (!is_short(relay, record))
		return eventlog_record_put_extended(to, record->event, record->size, record->time,
						    record->thread, smp_processor_id(),
						    record->flags);
	relay_buffer->context = context;
	return eventlog_record_put_short(to, record->event, record->size, record->time,
					 record->thread, begins);
}

/*
 * Begins a record, whose payload the caller fills in. The caller has disabled
 * interrupts, and holds the channel's lock if it has one buffer, until the record
 * is committed or discarded: no writer interrupts, so the buffer's context is that
 * of its last CONTEXT record. Returns false without room, and counts the loss.
 */
bool eventlog_relay_buffer_reserve(struct eventlog_relay *relay,
				   const struct eventlog_relay_record *record,
				   struct eventlog_relay_reservation *room)
{
	struct rchan_buf *buffer = buffer_here(relay);
	struct eventlog_relay_buffer *relay_buffer = eventlog_relay_buffer_of(buffer);
	const size_t padded = ALIGN(record->size, EVENTLOG_RECORD_ALIGNMENT);
	size_t size = header_size(relay, relay_buffer, record) + padded;

	if (buffer->offset + size > relay->options.subbuf_size) {
		/* The next sub-buffer has no context. */
		size = (is_short(relay, record) ? EVENTLOG_CONTEXT_HEADER_SIZE :
			EVENTLOG_EXTENDED_HEADER_SIZE) + padded;
		if (!relay_switch_subbuf(buffer, size)) {
			relay_buffer->lost++;
			return false;
		}
	}
	room->size = size;
	room->context = relay_buffer->context;
	room->payload = put_header(relay, relay_buffer, buffer->data + buffer->offset, record);
	memset(room->payload + record->size, 0, padded - record->size);
	return true;
}

/* A reader sees the record completely or not at all. */
void eventlog_relay_buffer_commit(struct eventlog_relay *relay,
				  const struct eventlog_relay_reservation *room)
{
	struct rchan_buf *buffer = buffer_here(relay);

	/* After the record. Pairs with readers, which load the offset first. */
	smp_store_release(&buffer->offset, buffer->offset + room->size);
	eventlog_relay_buffer_of(buffer)->recorded++;
}

/* The next record takes the place. */
void eventlog_relay_buffer_discard(struct eventlog_relay *relay,
				   const struct eventlog_relay_reservation *room)
{
	eventlog_relay_buffer_of(buffer_here(relay))->context = room->context;
}

/* Called like eventlog_relay_buffer_reserve(), for a record that fits into no sub-buffer. */
void eventlog_relay_buffer_count_loss(struct eventlog_relay *relay)
{
	eventlog_relay_buffer_of(buffer_here(relay))->lost++;
}

/* Runs on the buffer's CPU, or while that is offline. */
static void flush_buffer(void *data)
{
	struct rchan_buf *buffer = data;
	struct eventlog_relay_buffer *relay_buffer = eventlog_relay_buffer_of(buffer);
	struct eventlog_relay *relay = buffer->chan->private_data;
	unsigned long flags;

	if (WARN_ON_ONCE(!eventlog_relay_enter(relay, true, &flags)))
		return;
	merge_pending_losses(relay_buffer);
	/* Otherwise there would be empty sub-buffers. */
	if (relay_buffer->recorded != relay_buffer->recorded_at_start ||
	    relay_buffer->lost != relay_buffer->lost_reported)
		relay_switch_subbuf(buffer, 0);
	eventlog_relay_leave(relay, true, flags);
}

/* Calls a function for each buffer of the channel. */
static void call_buffers(struct eventlog_relay *relay, void (*call)(struct rchan_buf *buffer))
{
	int cpu;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		struct rchan_buf *buffer = *per_cpu_ptr(relay->channel->buf, cpu);

		if (buffer)
			call(buffer);
		if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL))
			break;
	}
	cpus_read_unlock();
}

static void flush_on_cpu(struct rchan_buf *buffer)
{
	eventlog_relay_run_on_cpu(buffer, flush_buffer, buffer);
}

static void wake_readers(struct rchan_buf *buffer)
{
	wake_up_interruptible_all(&buffer->read_wait);
}

/*
 * Ends all sub-buffers that are not empty, so that readers of the mapping and
 * waiting readers get them. May run beside writers, unlike relay_flush().
 */
void eventlog_relay_buffers_flush(struct eventlog_relay *relay)
{
	call_buffers(relay, flush_on_cpu);
}

/*
 * The caller guarantees that there are no writers. Ends sub-buffers, unless new
 * ones would overwrite records, and wakes readers.
 */
void eventlog_relay_buffers_end(struct eventlog_relay *relay)
{
	if (!eventlog_relay_has_flag(relay, EVENTLOG_RELAY_OVERWRITE))
		eventlog_relay_buffers_flush(relay);
	call_buffers(relay, wake_readers);
}
