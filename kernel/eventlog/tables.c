// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a subscription's region: the providers that it hears, with their
 * schemas.  Programs of one kind have one schema, however many of them come and
 * go: it is kept once.  What is there stays as long as the subscription, so that no
 * user gets all of it: each may have as much as he leaves, and an eighth is for root
 * and the kernel.  Whoever subscribes may fill his own tables himself.
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

static u64 place_of(const struct eventlog_region *region, u32 index)
{
	return region->providers_offset + (u64)index * sizeof(struct eventlog_provider_entry);
}

/* A schema that the subscription's tables have. */
struct schema {
	struct list_head node;
	u64 key;
	u64 offset;
	u32 size;
};

/* What of the tables has been taken for a user. */
struct share {
	struct list_head node;
	kuid_t user;
	u64 providers;
	u64 schema_bytes;
};

/* As limits for all users have it, see account.c. */
#define ROOT_SHARE 8

/* For whom it counts, or NULL if there is no memory. */
static struct share *share_of(struct eventlog_subscription *subscription, kuid_t user)
{
	struct share *share;

	list_for_each_entry(share, &subscription->shares, node)
		if (uid_eq(share->user, user))
			return share;
	/* Not of a memory cgroup, as below. */
	share = kzalloc(sizeof(*share), GFP_KERNEL | __GFP_NOWARN);
	if (share) {
		share->user = user;
		list_add(&share->node, &subscription->shares);
	}
	return share;
}

static bool has_limit(const struct eventlog_subscription *subscription,
		      const struct eventlog_source *source)
{
	return source->process && !uid_eq(source->user, GLOBAL_ROOT_UID) &&
	       !uid_eq(source->user, eventlog_user_id(subscription->memory.user));
}

/* Whether so much of what is left may be taken by who has that much: he leaves no less. */
static bool may_take(u64 more, u64 taken, u64 left, u64 all)
{
	return more <= left && taken + more <= left - more && left - more >= all / ROOT_SHARE;
}

/* Equal bytes have the same, and nobody can make others that do. */
u64 eventlog_schema_key(const struct eventlog_source *source)
{
	static siphash_key_t secret;

	get_random_once(&secret, sizeof(secret));
	return siphash(source->schema, source->schema_size, &secret);
}

/* Where the subscription has that schema, or 0. */
static u64 find_schema(struct eventlog_subscription *subscription,
		       const struct eventlog_source *source)
{
	const struct schema *known;

	list_for_each_entry(known, &subscription->schemas, node)
		if (known->key == source->schema_key && known->size == source->schema_size &&
		    eventlog_region_holds(&subscription->memory, known->offset, source->schema,
					  source->schema_size))
			return known->offset;
	return 0;
}

/* Where there is no memory for that, the next one of its kind gets a copy of its own. */
static void note_schema(struct eventlog_subscription *subscription,
			const struct eventlog_source *source, u64 offset)
{
	/* Not of a memory cgroup: whoever has little there would have all others wait. */
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
	struct share *share, *next_share;

	list_for_each_entry_safe(known, next, &subscription->schemas, node)
		kfree(known);
	list_for_each_entry_safe(share, next_share, &subscription->shares, node)
		kfree(share);
}

/*
 * Has the tables have the source's schema, and says where.  Counts it for the one whose
 * share that is, if it has a limit.  Returns 0, -ENOSPC or -ENOMEM.
 */
static int put_schema(struct eventlog_subscription *subscription,
		      const struct eventlog_source *source, struct share *share, u64 *offset)
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
	if (share && !may_take(size, share->schema_bytes, region->schemas_size - used,
			       region->schemas_size))
		return -ENOSPC;
	*offset = region->schemas_offset + used;
	error = eventlog_region_put(&subscription->memory, *offset, source->schema,
				    source->schema_size);
	if (error)
		return error;
	WRITE_ONCE(region->schemas_used, used + source->schema_size);
	if (share)
		share->schema_bytes += size;
	note_schema(subscription, source, *offset);
	return 0;
}

static void fill_in(struct eventlog_provider_entry *entry, const struct eventlog_source *source,
		    const struct eventlog_asker *asker)
{
	if (source->process)
		entry->pid = pid_nr_ns(source->process, asker->pids);
	entry->uid = from_kuid_munged(asker->users, source->uid);
	entry->schema_size = source->schema_size;
	entry->schema_hash = source->schema_hash;
	entry->start_time = source->start_time;
	strscpy(entry->process, source->process_name, sizeof(entry->process));
}

/*
 * Enters a source into the tables.  Returns its index, or -ENOSPC or -ENOMEM.  By
 * one at a time.
 */
int eventlog_tables_enter(struct eventlog_subscription *subscription,
			  const struct eventlog_source *source)
{
	struct eventlog_memory *memory = &subscription->memory;
	struct eventlog_region *region = memory->head;
	const u32 index = region->provider_count;
	const u32 ready = EVENTLOG_PROVIDER_READY;
	struct eventlog_provider_entry entry = { };
	struct share *share = NULL;
	int error;

	if (index == EVENTLOG_PROVIDERS_MAX)
		return -ENOSPC;
	if (has_limit(subscription, source)) {
		share = share_of(subscription, source->user);
		if (!share)
			return -ENOMEM;
		if (!may_take(1, share->providers, EVENTLOG_PROVIDERS_MAX - index,
			      EVENTLOG_PROVIDERS_MAX))
			return -ENOSPC;
	}
	/* Room that it gets, it keeps: a next one of its kind needs none. */
	error = put_schema(subscription, source, share, &entry.schema_offset);
	if (error)
		return error;
	fill_in(&entry, source, &subscription->recipient.asker);
	error = eventlog_region_put(memory, place_of(region, index), &entry, sizeof(entry));
	if (error)
		return error;
	/* `state` last: who sees it sees the rest. */
	smp_wmb();
	eventlog_region_put(memory, place_of(region, index), &ready, sizeof(ready));
	WRITE_ONCE(region->provider_count, index + 1);
	if (share)
		share->providers++;
	return index;
}
