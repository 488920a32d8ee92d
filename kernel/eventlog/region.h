/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a subscription, laid out as in uapi/linux/eventlog.h.
 *
 *   head      header and rings: allocated at once, contiguous
 *   tables    providers and schemas: pages, allocated when they are written or mapped
 *   buffers   of a ring: contiguous, allocated when its CPU comes online
 *
 * All memory is zeroed and charged to the user who subscribed. It is charged to
 * the user's memory cgroup, too, except for the tables and the buffers of CPUs
 * that come online later.
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
	atomic_long_t charged; /* in pages */
	struct eventlog_region *head;
	u64 head_size; /* a multiple of the page size */
	u64 ring_bytes; /* size of all buffers of a ring */
	struct mutex lock; /* protects `tables` */
	struct page **tables;
	u8 **buffers; /* by index of the ring; set once, with release */
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
