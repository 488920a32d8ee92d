/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/eventlog_relay: channels for many records, read as files of debugfs.
 *
 *   ioctl EVENTLOG_RELAY_CREATE  makes a channel, for CAP_SYS_ADMIN alone.  It
 *                                goes when this open file is closed.
 *   ioctl EVENTLOG_RELAY_ATTACH  names a channel that is there, to write to it.
 *   ioctl EVENTLOG_RELAY_CREATE_FILES    gives a channel made without files its files.
 *   write                        a batch: whole records, struct eventlog_record
 *                                and payload, each padded with zeros to
 *                                EVENTLOG_RECORD_ALIGNMENT.
 *
 * A subscription of /dev/eventlog can have a channel, too: see EVENTLOG_TO_RELAY.
 *
 * What is read from a file of a channel, see eventlog_relay(4), is sub-buffers.
 * Each begins with a struct eventlog_relay_header, and then has whole records.
 * read(2) leaves out the unused end of a sub-buffer, so there the next header
 * follows the last record: a record's first four bytes are its size, which is
 * never EVENTLOG_RELAY_MAGIC.
 */
#ifndef _UAPI_LINUX_EVENTLOG_RELAY_H
#define _UAPI_LINUX_EVENTLOG_RELAY_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_RELAY_PATH "/dev/eventlog_relay"

#define EVENTLOG_RELAY_NAME_SIZE 32 /* with its NUL: letters, digits, '-' and '_' */
#define EVENTLOG_RELAY_SIZE_MIN 4096U
#define EVENTLOG_RELAY_SIZE_MAX 0x01000000U /* 16 MiB */
#define EVENTLOG_RELAY_COUNT_MIN 2U
#define EVENTLOG_RELAY_COUNT_MAX 1024U
#define EVENTLOG_RELAY_BYTES_MAX 0x10000000U /* 256 MiB: of one buffer, size times count */
#define EVENTLOG_RELAY_BATCH_MAX 0x00010000U /* 64 KiB: of one write */

/* What is new takes the place of the oldest; else it is lost while there is no room. */
#define EVENTLOG_RELAY_OVERWRITE 1U
/* One buffer for all CPUs, with a lock; else one for each. */
#define EVENTLOG_RELAY_GLOBAL 2U
/* No files until EVENTLOG_RELAY_CREATE_FILES. */
#define EVENTLOG_RELAY_DEFER_FILES 4U
/* No EVENTLOG_RELAY_ATTACH: only who has made it writes, and modules of the kernel. */
#define EVENTLOG_RELAY_PRIVATE 8U
#define EVENTLOG_RELAY_FLAGS 15U /* all there are */

struct eventlog_relay_options {
	__u32 size; /* of this struct */
	__u32 flags;
	__u32 subbuf_size; /* in bytes, a multiple of 8 */
	__u32 subbuf_count;
	char name[EVENTLOG_RELAY_NAME_SIZE];
};

#define EVENTLOG_RELAY_MAGIC 0x594c4552U /* "RELY" */

/*
 * What a sub-buffer begins with.  Sub-buffers of one buffer are numbered from 0
 * on, also over a reset.  records_before and lost_before count from the channel's
 * beginning, on this buffer alone: what is missing between two sub-buffers that
 * have been read was lost (lost_before) or overwritten (records_before).
 */
struct eventlog_relay_header {
	__u32 magic;
	__u32 cpu; /* 0 if all CPUs have one buffer */
	__u64 sequence;
	__u64 records_before;
	__u64 lost_before;
	__u32 records; /* 0 until the sub-buffer is full or flushed */
	__u32 used; /* bytes, this header with them; 0 until then, stored last */
};

#define EVENTLOG_RELAY_CREATE _IOW('*', 64, struct eventlog_relay_options)
#define EVENTLOG_RELAY_ATTACH _IOW('*', 65, char[EVENTLOG_RELAY_NAME_SIZE])
#define EVENTLOG_RELAY_CREATE_FILES _IO('*', 66)

#endif /* _UAPI_LINUX_EVENTLOG_RELAY_H */
