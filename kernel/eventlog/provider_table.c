// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of a subscription's region: the providers that it receives, and their
 * schemas.
 *
 * - A schema is stored once, however many processes publish it.
 * - Entries stay as long as the subscription. So a user may take at most as
 *   much as it leaves to others, and an eighth is reserved for root and the
 *   kernel. The user who subscribed may fill its own tables.
 * - Nothing here is charged to a memory cgroup: a producer with little memory
 *   would make all other producers wait.
 *
 * Called by one caller at a time, with eventlog_sources_lock held. May sleep.
 */
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/once.h>
#include <linux/pid.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "account.h"
#include "source.h"

static u64 entry_offset(const struct eventlog_region *region, u32 index)
{
	return region->providers_offset + (u64)index * sizeof(struct eventlog_provider_entry);
}

/* A schema in the tables. */
struct schema {
	struct list_head node;
	u64 key;
	u64 offset;
	u32 size;
};

/* What is in the tables on behalf of a user. */
struct user_usage {
	struct list_head node;
	kuid_t user;
	u64 providers;
	u64 numbers; /* of events */
	u64 schema_bytes;
};

/* Returns the user's entry, or NULL without memory. */
static struct user_usage *find_user_usage(struct eventlog_subscription *subscription, kuid_t user)
{
	struct user_usage *user_usage;

	list_for_each_entry(user_usage, &subscription->shares, node)
		if (uid_eq(user_usage->user, user))
			return user_usage;
	/* Not charged to a memory cgroup: see above. */
	user_usage = kzalloc(sizeof(*user_usage), GFP_KERNEL | __GFP_NOWARN);
	if (user_usage) {
		user_usage->user = user;
		list_add(&user_usage->node, &subscription->shares);
	}
	return user_usage;
}

static bool is_limited(const struct eventlog_subscription *subscription,
		       const struct eventlog_source *source)
{
	return source->process && !uid_eq(source->user, GLOBAL_ROOT_UID) &&
	       !uid_eq(source->user, eventlog_user_id(subscription->memory.user));
}

/* Returns whether a user that has `taken` may take `more` of what is left: it leaves as much. */
static bool leaves_fair_share(u64 more, u64 taken, u64 left, u64 all)
{
	return more <= left && taken + more <= left - more &&
	       left - more >= all / EVENTLOG_ROOT_RESERVE_DIVISOR;
}

/* Equal schemas have equal keys. The secret prevents collisions on purpose. */
u64 eventlog_schema_key(const struct eventlog_source *source)
{
	static siphash_key_t secret;

	get_random_once(&secret, sizeof(secret));
	return siphash(source->schema, source->schema_size, &secret);
}

/* Returns the offset of the schema in the region, or 0. */
static u64 find_schema(struct eventlog_subscription *subscription,
		       const struct eventlog_source *source)
{
	const struct schema *known;

	list_for_each_entry(known, &subscription->schemas, node)
		if (known->key == source->schema_key && known->size == source->schema_size &&
		    eventlog_region_equals(&subscription->memory, known->offset, source->schema,
					   source->schema_size))
			return known->offset;
	return 0;
}

/* Without memory, the next provider with this schema stores another copy. */
static void remember_schema(struct eventlog_subscription *subscription,
			    const struct eventlog_source *source, u64 offset)
{
	/* Not charged to a memory cgroup: see above. */
	struct schema *known = kmalloc(sizeof(*known), GFP_KERNEL | __GFP_NOWARN);

	if (!known)
		return;
	known->key = source->schema_key;
	known->offset = offset;
	known->size = source->schema_size;
	list_add(&known->node, &subscription->schemas);
}

void eventlog_tables_exit(struct eventlog_subscription *subscription)
{
	struct schema *known, *next;
	struct user_usage *user_usage, *next_usage;

	list_for_each_entry_safe(known, next, &subscription->schemas, node)
		kfree(known);
	list_for_each_entry_safe(user_usage, next_usage, &subscription->shares, node)
		kfree(user_usage);
}

/*
 * Stores the source's schema unless it is there, and sets its offset. Charges
 * it to the usage of a user with a limit. Returns 0, -ENOSPC or -ENOMEM.
 */
static int put_schema(struct eventlog_subscription *subscription,
		      const struct eventlog_source *source, struct user_usage *user_usage,
		      u64 *offset)
{
	struct eventlog_region *region = subscription->memory.head;
	const u64 used = ALIGN(region->schemas_used, 8);
	const u64 size = ALIGN((u64)source->schema_size, 8);
	int error;

	*offset = find_schema(subscription, source);
	if (*offset)
		return 0;
	if (used > region->schemas_size || source->schema_size > region->schemas_size - used)
		return -ENOSPC;
	if (user_usage && !leaves_fair_share(size, user_usage->schema_bytes,
					     region->schemas_size - used, region->schemas_size))
		return -ENOSPC;
	*offset = region->schemas_offset + used;
	error = eventlog_region_write(&subscription->memory, *offset, source->schema,
				      source->schema_size);
	if (error)
		return error;
	WRITE_ONCE(region->schemas_used, used + source->schema_size);
	if (user_usage)
		user_usage->schema_bytes += size;
	remember_schema(subscription, source, *offset);
	return 0;
}

static void fill_in(struct eventlog_provider_entry *entry, const struct eventlog_source *source,
		    const struct eventlog_consumer_cred *cred)
{
	if (source->process)
		entry->pid = pid_nr_ns(source->process, cred->pid_ns);
	entry->uid = from_kuid_munged(cred->user_ns, source->uid);
	entry->schema_size = source->schema_size;
	entry->schema_hash = source->schema_hash;
	entry->start_time = source->start_time;
	strscpy(entry->process, source->process_name, sizeof(entry->process));
}

/*
 * Returns whether the tables have an entry and event numbers for a source. A user
 * with a limit leaves as many to others.
 */
static bool has_room(const struct eventlog_region *region, const struct eventlog_source *source,
		     const struct user_usage *user_usage)
{
	const u64 entries = EVENTLOG_PROVIDERS_MAX - region->provider_count;
	const u64 numbers = EVENTLOG_EVENT_NUMBER_MAX - region->event_numbers;

	if (!entries || source->number_count > numbers)
		return false;
	return !user_usage || (leaves_fair_share(1, user_usage->providers, entries,
						 EVENTLOG_PROVIDERS_MAX) &&
			       leaves_fair_share(source->number_count, user_usage->numbers,
						 numbers, EVENTLOG_EVENT_NUMBER_MAX));
}

/* Adds a source to the tables. Returns the number of its first event, -ENOSPC or -ENOMEM. */
int eventlog_tables_add_provider(struct eventlog_subscription *subscription,
				 const struct eventlog_source *source)
{
	struct eventlog_memory *memory = &subscription->memory;
	struct eventlog_region *region = memory->head;
	const u32 index = region->provider_count;
	const u32 ready = EVENTLOG_PROVIDER_READY;
	struct eventlog_provider_entry entry = { };
	struct user_usage *user_usage = NULL;
	int error;

	if (is_limited(subscription, source)) {
		user_usage = find_user_usage(subscription, source->user);
		if (!user_usage)
			return -ENOMEM;
	}
	if (!has_room(region, source, user_usage))
		return -ENOSPC;
	/* A stored schema stays even if this fails: the next provider with it needs no room. */
	error = put_schema(subscription, source, user_usage, &entry.schema_offset);
	if (error)
		return error;
	fill_in(&entry, source, &subscription->consumer.cred);
	entry.event_base = region->event_numbers + 1;
	error = eventlog_region_write(memory, entry_offset(region, index), &entry, sizeof(entry));
	if (error)
		return error;
	/*
	 * `state` last: a reader that sees it sees the rest of the entry. Pairs with its
	 * acquire.
	 */
	smp_wmb();
	eventlog_region_write(memory, entry_offset(region, index), &ready, sizeof(ready));
	WRITE_ONCE(region->provider_count, index + 1);
	WRITE_ONCE(region->event_numbers, region->event_numbers + source->number_count);
	if (user_usage) {
		user_usage->providers++;
		user_usage->numbers += source->number_count;
	}
	return entry.event_base;
}
