// SPDX-License-Identifier: GPL-2.0
/*
 * ioctls of /dev/eventlog that create, control and query subscriptions: see
 * uapi/linux/eventlog_device.h.
 *
 * Lock: eventlog_file.lock serializes creating and ending the subscription.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/eventlog_device.h>

#include "eventlog.h"
#include "source.h"

static struct eventlog_subscription *subscription_of(const struct eventlog_file *file)
{
	/* Pairs with the release in eventlog_subscribe(). */
	return smp_load_acquire(&file->subscription);
}

/* Returns the file's subscription, or NULL. */
struct eventlog_subscription *eventlog_subscription_of(struct file *opened)
{
	return subscription_of(opened->private_data);
}

/* EVENTLOG_SUBSCRIBE */
long eventlog_subscribe(struct eventlog_file *file,
			struct eventlog_subscription_request __user *from)
{
	struct eventlog_subscription_request wanted;
	struct eventlog_subscription *subscription;
	long error = eventlog_copy_versioned_struct(&wanted, sizeof(wanted),
					       EVENTLOG_SUBSCRIPTION_REQUEST_FIRST_SIZE, from);

	if (error)
		return error;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	error = -EBUSY;
	if (file->subscription)
		goto unlock;
	subscription = eventlog_subscription_make(&wanted, file->user);
	error = PTR_ERR_OR_ZERO(subscription);
	if (error)
		goto unlock;
	error = put_user(wanted.total_size, &from->total_size);
	if (error)
		/* The caller does not know of it. */
		eventlog_subscription_free(subscription);
	else
		/*
		 * Pairs with the acquire in subscription_of(): the whole subscription is
		 * visible.
		 */
		smp_store_release(&file->subscription, subscription);
unlock:
	mutex_unlock(&file->lock);
	return error;
}

/* EVENTLOG_STOP */
long eventlog_end(struct eventlog_file *file)
{
	struct eventlog_subscription *subscription = subscription_of(file);

	if (!subscription)
		return -EINVAL;
	if (mutex_lock_killable(&file->lock))
		return -EINTR;
	eventlog_subscription_end(subscription);
	mutex_unlock(&file->lock);
	return 0;
}

/* EVENTLOG_RELEASE_BUFFERS */
long eventlog_ioctl_release_buffers(struct eventlog_file *file,
				    const struct eventlog_buffer_release __user *from)
{
	struct eventlog_subscription *subscription = subscription_of(file);
	struct eventlog_buffer_release given;
	const int error = eventlog_copy_struct(&given, sizeof(given), (void __user *)from);

	if (error)
		return error;
	return subscription ? eventlog_release_buffers(subscription, &given) : -EINVAL;
}

/* EVENTLOG_STATISTICS */
long eventlog_statistics(struct eventlog_file *file, struct eventlog_statistics __user *from)
{
	struct eventlog_subscription *subscription = subscription_of(file);
	struct eventlog_statistics asked;
	struct eventlog_statistics counts = { .size = sizeof(counts) };
	int error = eventlog_copy_struct(&asked, sizeof(asked), from);

	if (error)
		return error;
	if (!subscription)
		return -EINVAL;
	counts.ring = asked.ring;
	error = eventlog_count(subscription, &counts);
	if (error)
		return error;
	return copy_to_user(from, &counts, sizeof(counts)) ? -EFAULT : 0;
}

/* The caller holds eventlog_sources_lock. */
static void describe(const struct eventlog_source *source,
		     const struct eventlog_consumer_cred *cred,
		     struct eventlog_provider_query *answer)
{
	answer->provider = source->number;
	answer->event_count = source->event_count;
	answer->schema_hash = source->schema_hash;
	answer->pid = source->process ? pid_nr_ns(source->process, cred->pid_ns) : 0;
	answer->uid = from_kuid_munged(cred->user_ns, source->uid);
	answer->start_time = source->start_time;
	strscpy(answer->process, source->process_name, sizeof(answer->process));
	strscpy(answer->name, source->name, sizeof(answer->name));
}

/* Returns 0, -ENOENT if there is no further provider, or -EMSGSIZE if the schema does not fit. */
static int find_next(struct eventlog_provider_query *query, void *schema, u32 room)
{
	const struct eventlog_source *source;
	struct eventlog_consumer_cred cred;
	int error = -ENOENT;

	eventlog_consumer_cred_get(&cred);
	mutex_lock(&eventlog_sources_lock);
	source = eventlog_source_next(query->provider, &cred);
	if (source) {
		describe(source, &cred, query);
		query->schema_size = source->schema_size;
		error = schema && source->schema_size > room ? -EMSGSIZE : 0;
		if (schema && !error)
			memcpy(schema, source->schema, source->schema_size);
	}
	mutex_unlock(&eventlog_sources_lock);
	return error;
}

/* EVENTLOG_NEXT_PROVIDER */
long eventlog_next_provider(struct eventlog_provider_query __user *from)
{
	struct eventlog_provider_query query;
	void *schema = NULL;
	u32 room;
	int error = eventlog_copy_struct(&query, sizeof(query), from);

	if (error)
		return error;
	room = min_t(u32, query.schema_size, EVENTLOG_SCHEMA_SIZE_MAX);
	if (query.schema && room) {
		schema = kvmalloc(room, GFP_KERNEL_ACCOUNT);
		if (!schema)
			return -ENOMEM;
	}
	query.size = sizeof(query);
	memset(query.process, 0, sizeof(query.process));
	memset(query.name, 0, sizeof(query.name));
	error = find_next(&query, schema, room);
	if (error != -ENOENT && copy_to_user(from, &query, sizeof(query)))
		error = -EFAULT;
	if (!error && schema &&
	    copy_to_user(u64_to_user_ptr(query.schema), schema, query.schema_size))
		error = -EFAULT;
	kvfree(schema);
	return error;
}
