// SPDX-License-Identifier: GPL-2.0
/*
 * A provider in a module: requests to disks, and their completion.
 *
 *	elog record --via device -e 'block:*'
 *
 * It attaches to two tracepoints of the block layer while its events have
 * listeners.
 */
#include <linux/bio.h>
#include <linux/blk_types.h>
#include <linux/blkdev.h>
#include <linux/eventlog.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>

/* Members of 8 bytes first, then those of 4, 2 and 1. */
struct queued_event {
	u64 sector;
	u32 bytes;
	char disk[DISK_NAME_LEN];
	u8 operation;
};

struct done_event {
	u64 sector;
	s32 error;
	char disk[DISK_NAME_LEN];
	u8 operation;
};

EVENTLOG_ENUMERATION(operation,
		     { "read", REQ_OP_READ }, { "write", REQ_OP_WRITE }, { "flush", REQ_OP_FLUSH },
		     { "discard", REQ_OP_DISCARD }, { "zero", REQ_OP_WRITE_ZEROES });

EVENTLOG_EVENT(queued,
	       EVENTLOG_FIELDS(EVENTLOG_ARRAY(queued, disk, .format = EVENTLOG_FORMAT_CHARACTERS),
			       EVENTLOG_FIELD(queued, operation, .enumeration = &operation_names),
			       EVENTLOG_FIELD(queued, sector, .text = "the first, of 512 bytes"),
			       EVENTLOG_FIELD(queued, bytes,
					      .format = EVENTLOG_FORMAT_BYTE_SIZE)),
	       .text = "A request was sent to a disk", .keywords = BIT_ULL(0));

EVENTLOG_EVENT(done,
	       EVENTLOG_FIELDS(EVENTLOG_ARRAY(done, disk, .format = EVENTLOG_FORMAT_CHARACTERS),
			       EVENTLOG_FIELD(done, operation, .enumeration = &operation_names),
			       EVENTLOG_FIELD(done, sector, .text = "the first that is left"),
			       EVENTLOG_FIELD(done, error, .format = EVENTLOG_FORMAT_ERROR_NUMBER)),
	       .text = "A disk has completed a request, or failed",
	       .when = "the last part of it is complete");

static void on_queue(void *data, struct bio *bio)
{
	struct queued_event payload = {
		.sector = bio->bi_iter.bi_sector,
		.bytes = bio->bi_iter.bi_size,
		.operation = bio_op(bio),
	};

	strscpy(payload.disk, bio->bi_bdev->bd_disk->disk_name, sizeof(payload.disk));
	eventlog_emit(&event_queued, &payload);
}

static void on_complete(void *data, struct request_queue *queue, struct bio *bio)
{
	struct done_event payload = {
		.sector = bio->bi_iter.bi_sector,
		.error = -blk_status_to_errno(bio->bi_status),
		.operation = bio_op(bio),
	};

	strscpy(payload.disk, bio->bi_bdev->bd_disk->disk_name, sizeof(payload.disk));
	eventlog_emit(&event_done, &payload);
}

/* Not exported, like most tracepoints: found by name when the module is loaded. */
static struct tracepoint *bio_queue;

static void match_tracepoint(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "block_bio_queue"))
		bio_queue = tracepoint;
}

static int set_enabled(struct eventlog_provider_event *event, bool enabled)
{
	if (event == &event_done && enabled)
		return register_trace_block_bio_complete(on_complete, NULL);
	if (event == &event_done)
		return unregister_trace_block_bio_complete(on_complete, NULL);
	if (enabled)
		return tracepoint_probe_register(bio_queue, on_queue, NULL);
	return tracepoint_probe_unregister(bio_queue, on_queue, NULL);
}

EVENTLOG_PROVIDER(block, EVENTLOG_PROVIDES(&event_queued, &event_done),
		  EVENTLOG_KEYWORDS({ "requests", 0 }),
		  .text = "What disks do", .set_enabled = set_enabled);

static int __init eventlog_block_init(void)
{
	/* The tracepoint is found by name. Check the type of its probe at compile time. */
	check_trace_callback_type_block_bio_queue(on_queue);
	for_each_kernel_tracepoint(match_tracepoint, NULL);
	if (!bio_queue)
		return -ENOENT;
	return eventlog_provider_register(&block_provider);
}

static void __exit eventlog_block_exit(void)
{
	eventlog_provider_unregister(&block_provider);
}

module_init(eventlog_block_init);
module_exit(eventlog_block_exit);

MODULE_DESCRIPTION("Events of disks for subscribers of /dev/eventlog");
MODULE_LICENSE("GPL");
