// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of a subscription's region: the providers that it hears, with their
 * schemas.  Programs of one kind have one schema, however many of them come and
 * go: it is kept once.
 */
#include <linux/kernel.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "source.h"

static u64 place_of(const struct eventlog_region *region, u32 index)
{
	return region->providers_offset + (u64)index * sizeof(struct eventlog_provider_entry);
}

/*
 * Where the subscription has that schema, or 0.  Schemas are put one behind the
 * other: an entry whose own lies in front of another one's shares it, so that each
 * is compared once.
 */
static u64 find_schema(struct eventlog_subscription *subscription,
		       const struct eventlog_source *source)
{
	struct eventlog_memory *memory = &subscription->memory;
	u64 last = 0;
	u32 i;

	for (i = 0; i < memory->head->provider_count; i++) {
		struct eventlog_provider_entry entry;

		/* Somebody may have made many that differ in the end only. */
		cond_resched();
		eventlog_region_get(memory, place_of(memory->head, i), &entry, sizeof(entry));
		if (entry.schema_offset <= last)
			continue;
		last = entry.schema_offset;
		if (entry.schema_hash == source->schema_hash &&
		    entry.schema_size == source->schema_size &&
		    eventlog_region_holds(memory, last, source->schema, source->schema_size))
			return last;
	}
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
	u64 used = region->schemas_used;
	int error = 0;

	if (index == EVENTLOG_PROVIDERS_MAX)
		return -ENOSPC;
	entry.schema_offset = find_schema(subscription, source);
	if (!entry.schema_offset) {
		used = ALIGN(used, 8);
		if (used > region->schemas_size ||
		    source->schema_size > region->schemas_size - used)
			return -ENOSPC;
		entry.schema_offset = region->schemas_offset + used;
		error = eventlog_region_put(memory, entry.schema_offset, source->schema,
					    source->schema_size);
		used += source->schema_size;
	}
	fill_in(&entry, source, &subscription->asker);
	if (!error)
		error = eventlog_region_put(memory, place_of(region, index), &entry,
					    sizeof(entry));
	if (error)
		return error;
	/* `state` last: who sees it sees the rest. */
	smp_wmb();
	eventlog_region_put(memory, place_of(region, index), &ready, sizeof(ready));
	WRITE_ONCE(region->schemas_used, used);
	WRITE_ONCE(region->provider_count, index + 1);
	return index;
}
