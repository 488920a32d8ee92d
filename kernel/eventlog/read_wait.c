// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for records, and waking readers.
 *
 * A reader sets `waiting`; the writer that sees it clears it and queues `wake`.
 * Writers have no fence in their way: the timer `recheck` covers what a writer
 * and a reader missed of each other.
 *
 * Lock: arm_lock protects is_armed and state_reported. Called without
 * reading_lock; wake and recheck run in interrupts.
 */
#include <linux/jiffies.h>
#include <linux/poll.h>

#include "reading.h"

/* Called without reading_lock. Returns whether a reader would find anything, or a full buffer. */
static bool ring_has_data(const struct eventlog_read_cursor *cursor)
{
	const struct eventlog_ring *ring = cursor->ring;
	/* Before `lost`. Pairs with the release in eventlog_ring_commit(). */
	const u64 control = smp_load_acquire(&ring->control);
	const u64 seen_control = READ_ONCE(cursor->seen_control);

	if (eventlog_is_sealed(control) && READ_ONCE(ring->lost) != READ_ONCE(cursor->seen_lost))
		return true;
	if (control == seen_control)
		return false;
	if (!cursor->subscription->wake_at_switch)
		return control;
	return eventlog_is_sealed(control) ||
	       eventlog_generation_of(control) != eventlog_generation_of(seen_control);
}

static bool any_ring_has_data(const struct eventlog_subscription *subscription)
{
	u32 i;

	for (i = 0; i + 1 < subscription->memory.head->ring_count; i++)
		if (ring_has_data(&subscription->cursor[i]))
			return true;
	return false;
}

/*
 * A value that changes with every record or loss, or with every switch if
 * readers wait for switches.
 */
static u64 state_of_rings(const struct eventlog_subscription *subscription)
{
	u64 state = 0;
	u32 i;

	for (i = 0; i + 1 < subscription->memory.head->ring_count; i++) {
		const struct eventlog_ring *ring = subscription->cursor[i].ring;
		u64 control = READ_ONCE(ring->control);

		if (subscription->wake_at_switch && !eventlog_is_sealed(control))
			control &= ~0ULL << EVENTLOG_GENERATION_SHIFT;
		state += control + READ_ONCE(ring->lost);
	}
	return state;
}

/* Returns whether everything that will ever be in the rings can be read now. */
bool eventlog_has_ended(const struct eventlog_subscription *subscription)
{
	/* Pairs with the release in eventlog_reading_end(). */
	return smp_load_acquire(&subscription->has_ended);
}

/*
 * Announces to writers that a reader waits. Returns whether there is something
 * to read already. Writers check `waiting` without a fence, so one that has not
 * seen it may have written what this check has not seen. The timer checks again
 * two ticks later, when both are visible.
 */
static bool arm_and_check(struct eventlog_subscription *subscription)
{
	unsigned long flags;

	WRITE_ONCE(subscription->waiting, true);
	smp_mb(); /* `waiting` before the loads of the rings */
	raw_spin_lock_irqsave(&subscription->arm_lock, flags);
	/*
	 * Everything since the first reader began to wait is news, also for readers that
	 * join later.
	 */
	if (!subscription->is_armed)
		subscription->state_reported = state_of_rings(subscription);
	subscription->is_armed = true;
	mod_timer(&subscription->recheck, jiffies + 2);
	raw_spin_unlock_irqrestore(&subscription->arm_lock, flags);
	return any_ring_has_data(subscription);
}

/* Wait condition of a reader that reads everything before it waits again. */
bool eventlog_is_ready(struct eventlog_subscription *subscription)
{
	return eventlog_has_ended(subscription) || any_ring_has_data(subscription) ||
	       arm_and_check(subscription);
}

static void wake_readers(struct eventlog_subscription *subscription)
{
	wake_up_interruptible_poll(&subscription->readers, EPOLLIN | EPOLLRDNORM | EPOLLHUP);
}

/*
 * Returns whether there is anything that waiting readers were not woken for. A
 * reader that begins to wait after this checks the rings itself and finds it:
 * queueing the work was a full barrier.
 */
static bool note_reported_state(struct eventlog_subscription *subscription)
{
	unsigned long flags;
	bool is_news;
	u64 state;

	raw_spin_lock_irqsave(&subscription->arm_lock, flags);
	state = state_of_rings(subscription);
	is_news = state != subscription->state_reported;
	subscription->state_reported = state;
	/* In the timer, a reader may have armed it again. */
	subscription->is_armed = timer_pending(&subscription->recheck);
	raw_spin_unlock_irqrestore(&subscription->arm_lock, flags);
	return is_news;
}

static void wake(struct irq_work *work)
{
	struct eventlog_subscription *subscription =
		container_of(work, struct eventlog_subscription, wake);

	note_reported_state(subscription);
	wake_readers(subscription);
}

static void recheck(struct timer_list *timer)
{
	struct eventlog_subscription *subscription =
		container_of(timer, struct eventlog_subscription, recheck);

	/*
	 * Otherwise a reader that waits for edges, and does not read, would be woken again
	 * and again.
	 */
	if (note_reported_state(subscription) && any_ring_has_data(subscription))
		wake_readers(subscription);
}

void eventlog_waiting_init(struct eventlog_subscription *subscription)
{
	raw_spin_lock_init(&subscription->arm_lock);
	init_waitqueue_head(&subscription->readers);
	init_irq_work(&subscription->wake, wake);
	timer_setup(&subscription->recheck, recheck, 0);
}

/* There are neither writers nor waiting readers. */
void eventlog_waiting_exit(struct eventlog_subscription *subscription)
{
	irq_work_sync(&subscription->wake);
	del_timer_sync(&subscription->recheck);
}

/* The caller guarantees that there are no writers. Ends waiting; the rings can be read. */
void eventlog_reading_end(struct eventlog_subscription *subscription)
{
	/* For readers of the mapping: with it, everything that was written. */
	smp_store_release(&subscription->memory.head->state, EVENTLOG_REGION_ENDED);
	/* For read(2): see eventlog_has_ended(). */
	smp_store_release(&subscription->has_ended, true);
	wake_readers(subscription);
}

__poll_t eventlog_poll(struct eventlog_subscription *subscription, struct file *file,
		       struct poll_table_struct *table)
{
	const __poll_t readable = EPOLLIN | EPOLLRDNORM;

	poll_wait(file, &subscription->readers, table);
	if (eventlog_has_ended(subscription))
		return readable | EPOLLHUP;
	/*
	 * Also arms if there is something to read: edge-triggered readers wait for the next
	 * event.
	 */
	return arm_and_check(subscription) ? readable : 0;
}
