// SPDX-License-Identifier: GPL-2.0
/*
 * Creates and ends subscriptions, and allocates the rings of their CPUs.
 *
 * The caller holds the file's lock while a subscription is created or ended.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cred.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "source.h"

static enum cpuhp_state new_cpus;

/*
 * Called before a CPU comes online, and for online CPUs when the subscription
 * is created. Allocates the CPU's ring. Without memory the CPU comes online
 * nevertheless: its events are lost and counted.
 */
static int prepare_cpu(unsigned int cpu, struct hlist_node *node)
{
	struct eventlog_subscription *subscription =
		hlist_entry(node, struct eventlog_subscription, cpus);
	struct eventlog_ring_writer *ring = per_cpu_ptr(subscription->writers, cpu);
	/* Bringing a CPU online is not charged to the task that does it. */
	const bool is_ours = READ_ONCE(subscription->creator) == current;
	u8 *buffers;

	if (ring->buffers || subscription->relay)
		return 0;
	buffers = eventlog_region_alloc_buffers(&subscription->memory, cpu,
						is_ours ? GFP_KERNEL_ACCOUNT : GFP_KERNEL);
	if (IS_ERR(buffers)) {
		WRITE_ONCE(subscription->error, PTR_ERR(buffers));
		return 0;
	}
	ring->buffers = buffers;
	eventlog_ring_begin(ring);
	return 0;
}

static void init_writers(struct eventlog_subscription *subscription)
{
	const struct eventlog_region *region = subscription->memory.head;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct eventlog_ring_writer *ring = per_cpu_ptr(subscription->writers, cpu);

		ring->buffer_count = region->buffer_count;
		ring->buffer_size = region->buffer_size;
		ring->overwrite = region->features & EVENTLOG_FEATURE_OVERWRITE;
		ring->clock = region->clock;
		ring->head = eventlog_region_ring(&subscription->memory, cpu);
		ring->descriptors = (void *)(ring->head + 1);
		ring->reserved = EVENTLOG_SEALED;
	}
}

static int make_memory(struct eventlog_subscription *subscription,
		       const struct eventlog_subscription_request *wanted,
		       struct eventlog_user *user)
{
	int error = eventlog_region_make(&subscription->memory, user, wanted);

	if (error)
		return error;
	subscription->writers = alloc_percpu_gfp(struct eventlog_ring_writer,
						 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!subscription->writers)
		return -ENOMEM;
	init_writers(subscription);
	return eventlog_reading_init(subscription);
}

static int find_relay(struct eventlog_subscription *subscription,
		      const struct eventlog_subscription_request *wanted)
{
	struct eventlog_relay *relay;

	if (!(wanted->flags & EVENTLOG_TO_RELAY))
		return 0;
	relay = eventlog_relay_from_fd(wanted->relay);
	if (IS_ERR(relay))
		return PTR_ERR(relay);
	subscription->relay = relay;
	return 0;
}

static void free_parts(struct eventlog_subscription *subscription)
{
	eventlog_reading_exit(subscription);
	eventlog_relay_put_optional(subscription->relay);
	free_percpu(subscription->writers);
	eventlog_region_free(&subscription->memory);
	eventlog_tables_exit(subscription);
	eventlog_filter_free(&subscription->consumer.filter);
	put_pid_ns(subscription->consumer.cred.pid_ns);
	put_user_ns(subscription->consumer.cred.user_ns);
	put_pid(subscription->consumer.excluded_process);
	kfree(subscription);
}

/* Rejects unknown flags and combinations. */
static bool are_flags_known(const struct eventlog_subscription_request *wanted)
{
	const u32 flags = EVENTLOG_WAKE_AT_SWITCH | EVENTLOG_EXCLUDE_READER | EVENTLOG_TO_RELAY;

	if (wanted->features & ~EVENTLOG_FEATURE_OVERWRITE || wanted->flags & ~flags ||
	    wanted->reserved)
		return false;
	/* The channel's options say whether it overwrites. */
	return wanted->flags & EVENTLOG_TO_RELAY ? !wanted->features : !wanted->relay;
}

static int begin(struct eventlog_subscription *subscription)
{
	int error;

	subscription->creator = current;
	error = cpuhp_state_add_instance(new_cpus, &subscription->cpus);
	WRITE_ONCE(subscription->creator, NULL);
	if (error)
		return error;
	error = READ_ONCE(subscription->error);
	if (!error) {
		error = eventlog_consumer_register(&subscription->consumer);
		if (error)
			eventlog_consumer_unregister(&subscription->consumer);
	}
	if (error)
		cpuhp_state_remove_instance_nocalls(new_cpus, &subscription->cpus);
	return error;
}

/*
 * Creates a subscription of the caller, which gets events from now on. Charged
 * to the user, who has to exist until it is freed. Sets total_size.
 */
struct eventlog_subscription *
eventlog_subscription_make(struct eventlog_subscription_request *wanted, struct eventlog_user *user)
{
	struct eventlog_subscription *subscription;
	int error;

	if (!are_flags_known(wanted))
		return ERR_PTR(-EINVAL);
	if (!eventlog_clock_is_known(wanted->clock))
		return ERR_PTR(-EOPNOTSUPP);
	if (!eventlog_charge(user, EVENTLOG_SUBSCRIPTIONS, 1))
		return ERR_PTR(-EMFILE);
	subscription = kzalloc(sizeof(*subscription), GFP_KERNEL_ACCOUNT);
	error = -ENOMEM;
	if (!subscription)
		goto uncharge;
	subscription->memory.user = user;
	INIT_LIST_HEAD(&subscription->schemas);
	INIT_LIST_HEAD(&subscription->shares);
	eventlog_consumer_cred_get(&subscription->consumer.cred);
	get_pid_ns(subscription->consumer.cred.pid_ns);
	get_user_ns(subscription->consumer.cred.user_ns);
	subscription->wake_at_switch = wanted->flags & EVENTLOG_WAKE_AT_SWITCH;
	subscription->timeout = wanted->read_timeout;
	if (wanted->flags & EVENTLOG_EXCLUDE_READER)
		subscription->consumer.excluded_process = get_pid(task_tgid(current));
	error = eventlog_filter_get(&subscription->consumer.filter, wanted);
	if (!error)
		error = find_relay(subscription, wanted);
	if (!error)
		error = make_memory(subscription, wanted, user);
	if (!error)
		error = begin(subscription);
	if (!error) {
		wanted->total_size = subscription->memory.head->total_size;
		return subscription;
	}
	free_parts(subscription);
uncharge:
	eventlog_uncharge(user, EVENTLOG_SUBSCRIPTIONS, 1);
	return ERR_PTR(error);
}

/*
 * When this returns, there are no writers, and programs without other listeners
 * have been notified. The rings can still be read. Called by one task at a
 * time; has no effect the second time.
 */
void eventlog_subscription_end(struct eventlog_subscription *subscription)
{
	if (subscription->has_ended)
		return;
	eventlog_consumer_unregister(&subscription->consumer);
	cpuhp_state_remove_instance_nocalls(new_cpus, &subscription->cpus);
	eventlog_reading_end(subscription);
}

/* The file and its mappings are closed. */
void eventlog_subscription_free(struct eventlog_subscription *subscription)
{
	struct eventlog_user *user = subscription->memory.user;

	eventlog_subscription_end(subscription);
	free_parts(subscription);
	eventlog_uncharge(user, EVENTLOG_SUBSCRIPTIONS, 1);
}

int eventlog_subscriptions_init(void)
{
	const int state = cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "eventlog:prepare",
						  prepare_cpu, NULL);

	if (state < 0)
		return state;
	new_cpus = state;
	return 0;
}

/* There are no subscriptions. */
void eventlog_subscriptions_exit(void)
{
	cpuhp_remove_multi_state(new_cpus);
}
