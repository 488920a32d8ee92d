// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates, writes and maps the memory of a subscription: see region.h.
 *
 * Lock: eventlog_memory.lock protects the pages of the tables. Everything may
 * sleep.
 */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "region.h"
#include "ring.h"

#define UNIT_64K 0x10000ULL
/* The log stays empty: these subscriptions are never paused. */
#define HEADER_SIZE (sizeof(struct eventlog_region) + sizeof(struct eventlog_pause_log))

static bool is_valid(const struct eventlog_subscription_request *wanted)
{
	return is_power_of_2(wanted->buffer_count) && wanted->buffer_count >= 2 &&
	       wanted->buffer_count <= EVENTLOG_BUFFERS_MAX &&
	       is_power_of_2(wanted->buffer_size) &&
	       wanted->buffer_size >= EVENTLOG_BUFFER_SIZE_MIN &&
	       wanted->buffer_size <= EVENTLOG_BUFFER_SIZE_MAX &&
	       !(wanted->schemas_size % UNIT_64K) && wanted->schemas_size &&
	       wanted->schemas_size <= EVENTLOG_SCHEMAS_SIZE_MAX &&
	       nr_cpu_ids < EVENTLOG_RINGS_MAX;
}

static u32 ring_stride(u32 buffer_count)
{
	return ALIGN(sizeof(struct eventlog_ring) + buffer_count * sizeof(struct eventlog_buffer),
		     64);
}

static void init_layout(struct eventlog_region *header,
			const struct eventlog_subscription_request *wanted)
{
	const u64 rings = nr_cpu_ids + 1;

	header->magic = EVENTLOG_REGION_MAGIC;
	header->version = EVENTLOG_REGION_VERSION;
	header->features = wanted->features;
	header->clock = wanted->clock;
	header->ring_count = rings;
	header->buffer_count = wanted->buffer_count;
	header->buffer_size = wanted->buffer_size;
	header->ring_stride = ring_stride(wanted->buffer_count);
	header->rings_offset = HEADER_SIZE;
	header->providers_offset = header->rings_offset + rings * header->ring_stride;
	header->schemas_offset = ALIGN(header->providers_offset +
				       EVENTLOG_PROVIDERS_MAX *
				       sizeof(struct eventlog_provider_entry), UNIT_64K);
	header->schemas_size = wanted->schemas_size;
	header->buffers_offset = header->schemas_offset + header->schemas_size;
	header->total_size = header->buffers_offset +
			     rings * header->buffer_count * header->buffer_size;
}

static void fill_in(struct eventlog_region *header)
{
	do
		header->serial = get_random_u64();
	while (!header->serial || header->serial == ~0ULL);
	header->owner_pid = task_tgid_vnr(current);
	header->owner_uid = from_kuid_munged(current_user_ns(), current_euid());
	header->owner_start_time = div_u64(current->group_leader->start_boottime,
					   NSEC_PER_SEC / USER_HZ);
	header->clock_start.clock = eventlog_clock_now(header->clock);
	header->clock_start.monotonic = ktime_get_ns();
	header->clock_start.realtime = ktime_get_real_ns();
	header->state = EVENTLOG_REGION_LIVE;
}

static int charge(struct eventlog_memory *memory, u64 pages)
{
	if (pages > UINT_MAX || !eventlog_charge(memory->user, EVENTLOG_RING_PAGES, pages))
		return -EMFILE;
	atomic_long_add(pages, &memory->charged);
	return 0;
}

static void uncharge(struct eventlog_memory *memory, u64 pages)
{
	eventlog_uncharge(memory->user, EVENTLOG_RING_PAGES, pages);
	atomic_long_sub(pages, &memory->charged);
}

static u64 table_pages(const struct eventlog_memory *memory)
{
	return (memory->head->buffers_offset - memory->head_size) / PAGE_SIZE;
}

struct eventlog_ring *eventlog_region_ring(const struct eventlog_memory *memory, u32 ring)
{
	return (void *)memory->head + memory->head->rings_offset + ring * memory->head->ring_stride;
}

static void init_rings(const struct eventlog_memory *memory)
{
	u32 i, b;

	for (i = 0; i < memory->head->ring_count; i++) {
		struct eventlog_ring *ring = eventlog_region_ring(memory, i);
		struct eventlog_buffer *descriptors = (void *)(ring + 1);

		ring->control = EVENTLOG_SEALED;
		/* A ring without memory is sealed; readers need no other information. */
		ring->backed = i + 1 < memory->head->ring_count;
		for (b = 1; b < memory->head->buffer_count; b++)
			descriptors[b].generation = ~0ULL;
	}
}

/*
 * Allocates everything but the buffers. Returns 0, -EINVAL, -EMFILE or -ENOMEM;
 * the caller frees the memory in any case.
 */
int eventlog_region_make(struct eventlog_memory *memory, struct eventlog_user *user,
			 const struct eventlog_subscription_request *wanted)
{
	u64 providers_offset;
	int error;

	memory->user = user;
	mutex_init(&memory->lock);
	if (!is_valid(wanted))
		return -EINVAL;
	providers_offset = HEADER_SIZE +
			   (nr_cpu_ids + 1ULL) * ring_stride(wanted->buffer_count);
	/* Includes the page in which the providers begin. */
	memory->head_size = PAGE_ALIGN(providers_offset);
	memory->ring_bytes = (u64)wanted->buffer_count * wanted->buffer_size;
	error = charge(memory, memory->head_size / PAGE_SIZE);
	if (error)
		return error;
	memory->head = __vmalloc(memory->head_size,
				 GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!memory->head)
		return -ENOMEM;
	init_layout(memory->head, wanted);
	fill_in(memory->head);
	init_rings(memory);
	memory->tables = kvcalloc(table_pages(memory), sizeof(*memory->tables),
				  GFP_KERNEL_ACCOUNT);
	memory->buffers = kvcalloc(memory->head->ring_count, sizeof(*memory->buffers),
				   GFP_KERNEL_ACCOUNT);
	return memory->tables && memory->buffers ? 0 : -ENOMEM;
}

/* There are neither writers nor mappings. */
void eventlog_region_free(struct eventlog_memory *memory)
{
	u64 i;

	if (memory->buffers)
		for (i = 0; i < memory->head->ring_count; i++)
			vfree(memory->buffers[i]);
	if (memory->tables)
		for (i = 0; i < table_pages(memory); i++)
			if (memory->tables[i])
				__free_page(memory->tables[i]);
	kvfree(memory->buffers);
	kvfree(memory->tables);
	vfree(memory->head);
	uncharge(memory, atomic_long_read(&memory->charged));
}

/* Allocates the buffers of a ring. Returns them, -ENOMEM, or -EMFILE at the user's limit. */
u8 *eventlog_region_alloc_buffers(struct eventlog_memory *memory, u32 ring, gfp_t from)
{
	const u64 pages = memory->ring_bytes / PAGE_SIZE;
	const int error = charge(memory, pages);
	u8 *buffers;

	if (error)
		return ERR_PTR(error);
	buffers = __vmalloc(memory->ring_bytes, from | __GFP_ZERO | __GFP_NOWARN);
	if (!buffers) {
		uncharge(memory, pages);
		return ERR_PTR(-ENOMEM);
	}
	/* A reader that maps them sees zeros. Pairs with the acquire in buffer_page(). */
	smp_store_release(&memory->buffers[ring], buffers);
	return buffers;
}

/* Returns the page of the tables at this offset, allocated if necessary. With the lock held. */
static struct page *table_page(struct eventlog_memory *memory, u64 offset)
{
	struct page **at = &memory->tables[(offset - memory->head_size) / PAGE_SIZE];

	lockdep_assert_held(&memory->lock);
	if (*at || charge(memory, 1))
		return *at;
	/*
	 * Not charged to a memory cgroup: a provider with little memory would make all
	 * others wait.
	 */
	*at = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!*at)
		uncharge(memory, 1);
	return *at;
}

/* Returns the memory in front of the buffers at this offset, up to the end of its page; or NULL. */
static void *memory_at(struct eventlog_memory *memory, u64 offset)
{
	struct page *page;

	if (offset < memory->head_size)
		return (void *)memory->head + offset;
	page = table_page(memory, offset);
	return page ? page_address(page) + offset_in_page(offset) : NULL;
}

/* Writes data to the tables or compares with it. Returns whether all of it could be done. */
static bool access_tables(struct eventlog_memory *memory, u64 offset, const void *data,
			  size_t size, bool write)
{
	bool done = true;

	mutex_lock(&memory->lock);
	while (size && done) {
		const size_t part = min_t(size_t, size, PAGE_SIZE - offset_in_page(offset));
		void *at = memory_at(memory, offset);

		if (at && write)
			memcpy(at, data, part);
		done = at && (write || !memcmp(at, data, part));
		offset += part;
		data += part;
		size -= part;
	}
	mutex_unlock(&memory->lock);
	return done;
}

/* Writes to the tables. Returns 0 or -ENOMEM. */
int eventlog_region_write(struct eventlog_memory *memory, u64 offset, const void *data, size_t size)
{
	return access_tables(memory, offset, data, size, true) ? 0 : -ENOMEM;
}

/* Compares with what was written to the tables before. */
bool eventlog_region_equals(struct eventlog_memory *memory, u64 offset, const void *data,
			    size_t size)
{
	return access_tables(memory, offset, data, size, false);
}

static struct page *buffer_page(const struct eventlog_memory *memory, u64 offset)
{
	const u64 ring = div64_u64(offset, memory->ring_bytes);
	const u8 *buffers;

	if (ring >= memory->head->ring_count)
		return NULL;
	/* Pairs with the release in eventlog_region_alloc_buffers(). */
	buffers = smp_load_acquire(&memory->buffers[ring]);
	return buffers ? vmalloc_to_page(buffers + offset - ring * memory->ring_bytes) : NULL;
}

/* Buffers without memory cannot be touched. No control word says that they contain anything. */
static vm_fault_t map_page(struct vm_fault *fault)
{
	struct eventlog_memory *memory = fault->vma->vm_private_data;
	const u64 offset = (u64)fault->pgoff << PAGE_SHIFT;
	struct page *page;

	if (offset < memory->head_size) {
		page = vmalloc_to_page((void *)memory->head + offset);
	} else if (offset < memory->head->buffers_offset) {
		mutex_lock(&memory->lock);
		page = table_page(memory, offset);
		mutex_unlock(&memory->lock);
	} else {
		page = buffer_page(memory, offset - memory->head->buffers_offset);
	}
	if (!page)
		return VM_FAULT_SIGBUS;
	/* Pages are freed with the region, which outlives its mappings. */
	get_page(page);
	fault->page = page;
	return 0;
}

static const struct vm_operations_struct map_operations = {
	.fault = map_page,
};

/* Maps the region read-only for good. The mapping holds the file, and the file the region. */
int eventlog_region_map(struct eventlog_memory *memory, struct vm_area_struct *area)
{
	const u64 end = ((u64)area->vm_pgoff << PAGE_SHIFT) + (area->vm_end - area->vm_start);

	if (area->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (end > PAGE_ALIGN(memory->head->total_size))
		return -EINVAL;
#ifdef EVENTLOG_PLAIN_VM_FLAGS /* before Linux 6.3, as Kbuild knows */
	area->vm_flags &= ~(VM_MAYWRITE | VM_MAYEXEC);
	area->vm_flags |= VM_DONTEXPAND | VM_DONTDUMP;
#else
	vm_flags_mod(area, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
#endif
	area->vm_private_data = memory;
	area->vm_ops = &map_operations;
	return 0;
}
