// SPDX-License-Identifier: GPL-2.0
/*
 * Relay channels: creating and finding them by name, and writing records.
 *
 * Locks: channels_lock protects the list of channels. eventlog_relay.lock
 * serializes control. Writing runs in any context but NMIs and takes no lock,
 * except in a channel with one buffer.
 */
#include <linux/cpumask.h>
#include <linux/ctype.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu-defs.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "relay.h"
#include "ring.h"

/* Held briefly, neither while a channel is created nor while it is closed. */
static DEFINE_MUTEX(channels_lock);
static LIST_HEAD(channels);

DEFINE_PER_CPU(bool, eventlog_relay_locked);

static bool is_valid_name(const char *name)
{
	const size_t length = strnlen(name, EVENTLOG_RELAY_NAME_SIZE);
	size_t i;

	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && name[i] != '_' && name[i] != '-'))
			return false;
	return length > 0 && length < EVENTLOG_RELAY_NAME_SIZE;
}

static bool are_valid_options(const struct eventlog_relay_options *options)
{
	return !(options->flags & ~EVENTLOG_RELAY_FLAGS) && is_valid_name(options->name) &&
	       options->subbuf_size >= EVENTLOG_RELAY_SIZE_MIN &&
	       options->subbuf_size <= EVENTLOG_RELAY_SIZE_MAX &&
	       options->subbuf_size % EVENTLOG_RECORD_ALIGNMENT == 0 &&
	       options->subbuf_count >= EVENTLOG_RELAY_COUNT_MIN &&
	       options->subbuf_count <= EVENTLOG_RELAY_COUNT_MAX &&
	       options->subbuf_size <= EVENTLOG_RELAY_BYTES_MAX / options->subbuf_count;
}

static struct eventlog_relay *find_locked(const char *name)
{
	struct eventlog_relay *relay;

	list_for_each_entry(relay, &channels, node)
		if (!strncmp(relay->options.name, name, EVENTLOG_RELAY_NAME_SIZE))
			return relay;
	return NULL;
}

struct eventlog_relay *eventlog_relay_find(const char *name)
{
	struct eventlog_relay *relay;

	mutex_lock(&channels_lock);
	relay = find_locked(name);
	if (relay && relay->is_open)
		kref_get(&relay->references);
	else
		relay = NULL;
	mutex_unlock(&channels_lock);
	return relay;
}
EXPORT_SYMBOL_GPL(eventlog_relay_find);

static void free_relay(struct kref *references)
{
	struct eventlog_relay *relay = container_of(references, struct eventlog_relay, references);

	kvfree(relay->counts);
	kvfree(relay->buffers);
	kfree(relay);
}

void eventlog_relay_put(struct eventlog_relay *relay)
{
	if (!IS_ERR_OR_NULL(relay))
		kref_put(&relay->references, free_relay);
}
EXPORT_SYMBOL_GPL(eventlog_relay_put);

static struct eventlog_relay *allocate(const struct eventlog_relay_options *options)
{
	struct eventlog_relay *relay = kzalloc(sizeof(*relay), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!relay)
		return NULL;
	kref_init(&relay->references);
	INIT_LIST_HEAD(&relay->node);
	relay->options = *options;
	mutex_init(&relay->lock);
	init_rwsem(&relay->reset_lock);
	raw_spin_lock_init(&relay->global_lock);
	relay->buffers = kvcalloc(nr_cpu_ids, sizeof(*relay->buffers), GFP_KERNEL_ACCOUNT);
	relay->counts = kvcalloc(nr_cpu_ids, options->subbuf_count * sizeof(*relay->counts),
				 GFP_KERNEL_ACCOUNT);
	if (!relay->buffers || !relay->counts) {
		eventlog_relay_put(relay);
		return NULL;
	}
	for (i = 0; i < nr_cpu_ids; i++) {
		mutex_init(&relay->buffers[i].read_mutex);
		relay->buffers[i].counts = relay->counts + (size_t)i * options->subbuf_count;
	}
	return relay;
}

static bool charge(struct eventlog_relay *relay)
{
	const u32 bytes = relay->options.subbuf_size * relay->options.subbuf_count;
	const bool global = eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL);
	const u64 pages = (u64)(PAGE_ALIGN(bytes) / PAGE_SIZE) * (global ? 1 : num_possible_cpus());

	if (pages > UINT_MAX || !eventlog_charge(relay->user, EVENTLOG_RELAY_PAGES, pages))
		return false;
	relay->pages = pages;
	return true;
}

/* The caller guarantees that there are no writers. */
static void end(struct eventlog_relay *relay)
{
	/*
	 * Waits for users of `control` and `stats`. The files of buffers are removed with
	 * the channel.
	 */
	if (relay->directory)
		debugfs_lookup_and_remove("control", relay->directory);
	if (relay->directory)
		debugfs_lookup_and_remove("stats", relay->directory);
	if (relay->channel)
		relay_close(relay->channel);
	debugfs_remove(relay->directory);
	/* Frees the name. */
	mutex_lock(&channels_lock);
	list_del(&relay->node);
	mutex_unlock(&channels_lock);
	if (relay->pages)
		eventlog_uncharge(relay->user, EVENTLOG_RELAY_PAGES, relay->pages);
	eventlog_user_put(relay->user);
	eventlog_relay_put(relay);
}

/* Reserves the name. The channel cannot be found yet. */
static int take_name(struct eventlog_relay *relay)
{
	bool is_taken;

	mutex_lock(&channels_lock);
	is_taken = find_locked(relay->options.name);
	if (!is_taken)
		list_add(&relay->node, &channels);
	mutex_unlock(&channels_lock);
	return is_taken ? -EEXIST : 0;
}

static void set_open(struct eventlog_relay *relay, bool is_open)
{
	mutex_lock(&channels_lock);
	relay->is_open = is_open;
	mutex_unlock(&channels_lock);
}

static int begin(struct eventlog_relay *relay)
{
	int error = take_name(relay);

	if (error)
		return error;
	if (!charge(relay))
		return -EMFILE;
	relay->directory = debugfs_create_dir(relay->options.name, eventlog_relay_root);
	if (IS_ERR(relay->directory)) {
		error = PTR_ERR(relay->directory);
		relay->directory = NULL;
		return error;
	}
	error = eventlog_relay_buffers_open(relay);
	if (!error)
		error = eventlog_relay_files_add(relay);
	if (!error)
		set_open(relay, true);
	return error;
}

/* Returns -EINVAL for invalid options, -EEXIST for a name in use, -EMFILE at the user's limit. */
struct eventlog_relay *eventlog_relay_open(const struct eventlog_relay_options *options)
{
	struct eventlog_relay *relay;
	int error;

	if (!are_valid_options(options))
		return ERR_PTR(-EINVAL);
	relay = allocate(options);
	if (!relay)
		return ERR_PTR(-ENOMEM);
	relay->user = eventlog_user_get();
	if (!relay->user) {
		eventlog_relay_put(relay);
		return ERR_PTR(-ENOMEM);
	}
	error = begin(relay);
	if (!error)
		return relay;
	end(relay);
	return ERR_PTR(error);
}
EXPORT_SYMBOL_GPL(eventlog_relay_open);

/* Changes the state and waits for writers that have not seen it. */
static void set_state(struct eventlog_relay *relay, enum eventlog_relay_state state)
{
	WRITE_ONCE(relay->state, state);
	synchronize_rcu();
}

/*
 * Closes the channel for everyone: open files of its buffers can be read to the
 * end. Waits for users of `control` and `stats`, and for readers while it is
 * being reset.
 */
void eventlog_relay_close(struct eventlog_relay *relay)
{
	if (IS_ERR_OR_NULL(relay))
		return;
	set_open(relay, false);
	mutex_lock(&relay->lock);
	set_state(relay, EVENTLOG_RELAY_CLOSED);
	mutex_unlock(&relay->lock);
	eventlog_relay_buffers_end(relay);
	end(relay);
}
EXPORT_SYMBOL_GPL(eventlog_relay_close);

/*
 * Discards what has not been read; it counts in records_before. The caller
 * holds relay->lock. Returns 0, or -EINTR if the caller is being killed while
 * it waits for readers.
 */
int eventlog_relay_reset_locked(struct eventlog_relay *relay)
{
	if (down_write_killable(&relay->reset_lock))
		return -EINTR;
	set_state(relay, EVENTLOG_RELAY_PAUSED);
	relay_reset(relay->channel);
	WRITE_ONCE(relay->state, EVENTLOG_RELAY_OPEN);
	up_write(&relay->reset_lock);
	return 0;
}

/*
 * Counts a rejected record. Not in `lost` itself: a reset, or the writer that
 * this interrupts, may be changing that.
 */
static int reject_record(struct eventlog_relay *relay)
{
	const unsigned int index = eventlog_relay_index(relay, smp_processor_id());

	if (READ_ONCE(relay->state) == EVENTLOG_RELAY_CLOSED)
		return -ENODEV;
	atomic64_inc(&relay->buffers[index].lost_pending);
	return -ENOSPC;
}

/*
 * `stamped` is the record, or NULL if it has its time: it gets that of the write
 * by `clock`.
 */
static __always_inline int reserve_locked(struct eventlog_relay *relay,
					  const struct eventlog_relay_record *record,
					  struct eventlog_relay_record *stamped, u8 clock,
					  struct eventlog_relay_reservation *room)
{
	const size_t space = relay->options.subbuf_size - sizeof(struct eventlog_relay_header);

	switch (READ_ONCE(relay->state)) {
	case EVENTLOG_RELAY_OPEN:
		break;
	case EVENTLOG_RELAY_PAUSED:
	case EVENTLOG_RELAY_CLOSED:
		return reject_record(relay);
	}
	if (record->size > min_t(size_t, space, EVENTLOG_RECORD_SIZE_MAX) -
				   EVENTLOG_EXTENDED_HEADER_SIZE) {
		eventlog_relay_buffer_count_loss(relay);
		return -E2BIG;
	}
	/* No writer can interrupt here, so times increase in each buffer. */
	if (stamped)
		stamped->time = eventlog_clock_now(clock);
	return eventlog_relay_buffer_reserve(relay, record, room) ? 0 : -ENOSPC;
}

/* Disabled interrupts are an RCU read-side section: set_state() waits for it. */
static __always_inline int write_exclusive(struct eventlog_relay *relay,
					   const struct eventlog_relay_record *record,
					   struct eventlog_relay_record *stamped, u8 clock,
					   bool locked)
{
	struct eventlog_relay_reservation room;
	unsigned long flags;
	int error;

	if (!eventlog_relay_enter(relay, locked, &flags))
		return reject_record(relay);
	error = reserve_locked(relay, record, stamped, clock, &room);
	if (!error) {
		memcpy(room.payload, record->payload, record->size);
		eventlog_relay_buffer_commit(relay, &room);
	}
	eventlog_relay_leave(relay, locked, flags);
	return error;
}

static int write_record(struct eventlog_relay *relay, const struct eventlog_relay_record *record,
			struct eventlog_relay_record *stamped, u8 clock)
{
	return eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL) ?
		       write_exclusive(relay, record, stamped, clock, true) :
		       write_exclusive(relay, record, stamped, clock, false);
}

int eventlog_relay_write(struct eventlog_relay *relay, const struct eventlog_relay_record *record)
{
	return IS_ERR_OR_NULL(relay) ? -ENODEV : write_record(relay, record, NULL, 0);
}
EXPORT_SYMBOL_GPL(eventlog_relay_write);

static __always_inline int reserve_exclusive(struct eventlog_relay *relay,
					     const struct eventlog_relay_record *record,
					     struct eventlog_relay_reservation *reservation,
					     bool locked)
{
	int error;

	if (!eventlog_relay_enter(relay, locked, &reservation->irq_flags))
		return reject_record(relay);
	reservation->relay = relay;
	error = reserve_locked(relay, record, NULL, 0, reservation);
	if (error)
		eventlog_relay_leave(relay, locked, reservation->irq_flags);
	else if (locked)
		__release(&relay->global_lock); /* for sparse: it is held until the commit */
	return error;
}

int eventlog_relay_reserve(struct eventlog_relay *relay,
			   const struct eventlog_relay_record *record,
			   struct eventlog_relay_reservation *reservation)
{
	if (IS_ERR_OR_NULL(relay))
		return -ENODEV;
	return eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL) ?
		       reserve_exclusive(relay, record, reservation, true) :
		       reserve_exclusive(relay, record, reservation, false);
}
EXPORT_SYMBOL_GPL(eventlog_relay_reserve);

static void leave_reservation(const struct eventlog_relay_reservation *reservation)
{
	struct eventlog_relay *relay = reservation->relay;

	if (eventlog_relay_has_flag(relay, EVENTLOG_RELAY_GLOBAL)) {
		__acquire(&relay->global_lock);
		eventlog_relay_leave(relay, true, reservation->irq_flags);
	} else {
		eventlog_relay_leave(relay, false, reservation->irq_flags);
	}
}

void eventlog_relay_commit(struct eventlog_relay_reservation *reservation)
{
	eventlog_relay_buffer_commit(reservation->relay, reservation);
	leave_reservation(reservation);
}
EXPORT_SYMBOL_GPL(eventlog_relay_commit);

void eventlog_relay_discard(struct eventlog_relay_reservation *reservation)
{
	eventlog_relay_buffer_discard(reservation->relay, reservation);
	leave_reservation(reservation);
}
EXPORT_SYMBOL_GPL(eventlog_relay_discard);

/* Like eventlog_relay_write(). Stamps the record unless it has a custom time. */
int eventlog_relay_write_stamped(struct eventlog_relay *relay,
				 struct eventlog_relay_record *record, u8 clock)
{
	return write_record(relay, record,
			    record->flags & EVENTLOG_RECORD_CUSTOM_TIME ? NULL : record, clock);
}
