/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a subscription, laid out as uapi/linux/eventlog.h says.
 *
 *   head      header and rings: there from the beginning, in one piece
 *   tables    providers and schemas: a page when something is put there, or looked at
 *   buffers   of a ring: in one piece, from when its CPU comes to life
 *
 * All of it is zeroed, and counts for the user who subscribed; for a memory cgroup
 * too, but for what tables take and CPUs that come later.
 */
#ifndef EVENTLOG_REGION_H
#define EVENTLOG_REGION_H

#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <uapi/linux/eventlog.h>
#include <uapi/linux/eventlog_device.h>

#include "account.h"

#define EVENTLOG_SCHEMAS_SIZE_MAX 0x04000000U

struct eventlog_memory {
	struct eventlog_user *user;
	atomic_long_t charged; /* pages */
	struct eventlog_region *head;
	u64 head_size; /* whole pages */
	u64 ring_bytes; /* of all buffers of a ring */
	struct mutex lock; /* which pages tables have */
	struct page **tables;
	u8 **buffers; /* by ring; set once, with release */
};

int eventlog_region_make(struct eventlog_memory *memory, struct eventlog_user *user,
			 const struct eventlog_subscription_request *wanted);
void eventlog_region_free(struct eventlog_memory *memory);
struct eventlog_ring *eventlog_region_ring(const struct eventlog_memory *memory, u32 ring);
u8 *eventlog_region_alloc_buffers(struct eventlog_memory *memory, u32 ring, gfp_t from);
int eventlog_region_write(struct eventlog_memory *memory, u64 offset, const void *data,
			  size_t size);
bool eventlog_region_equals(struct eventlog_memory *memory, u64 offset, const void *data,
			    size_t size);
int eventlog_region_map(struct eventlog_memory *memory, struct vm_area_struct *area);

#endif /* EVENTLOG_REGION_H */
