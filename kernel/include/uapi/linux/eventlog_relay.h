/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/eventlog_relay: channels for many records, read as files of debugfs.
 *
 * PURPOSE
 *
 * A channel carries more records than trace events can. Programs and kernel
 * modules write batches of records to it; readers get them from files, with
 * every loss exact and at its position. See eventlog_relay(4).
 *
 * INTERFACE
 *
 *   ioctl EVENTLOG_RELAY_CREATE        creates a channel; needs CAP_SYS_ADMIN. It
 *                                      is closed with this open file.
 *   ioctl EVENTLOG_RELAY_ATTACH        names an existing channel to write to.
 *   ioctl EVENTLOG_RELAY_CREATE_FILES  gives a channel created without files its
 *                                      files.
 *   write                              a batch: complete records as in
 *                                      linux/eventlog.h, each padded with zeros to
 *                                      EVENTLOG_RECORD_ALIGNMENT.
 *
 * A subscription of /dev/eventlog can have a channel, too: see
 * EVENTLOG_TO_RELAY.
 *
 * LAYOUT
 *
 * A file has sub-buffers. Each begins with a header, which complete records
 * follow:
 *
 *   +------------------------------+--------+--------+-----+--------+
 *   | struct eventlog_relay_header | record | record | ... | unused |
 *   +------------------------------+--------+--------+-----+--------+
 *
 * RULES FOR WRITERS
 *
 *   1. A batch can be read alone: no SHORT record precedes its first CONTEXT record, or
 *      follows one whose word 1 is 0. There are no markers and no extension words.
 *   2. Records keep event, thread, time, flags and payload. They get the number of the CPU
 *      that stores them, and the kind that is shortest there.
 *
 * RULES FOR READERS
 *
 *   1. read(2) omits the unused end of a sub-buffer, so the next header follows
 *      the last record. EVENTLOG_RELAY_MAGIC is the first word of no record.
 *   2. Sub-buffers of one buffer are numbered from 0, also across a reset.
 *   3. records_before and lost_before count from the channel's creation, on this
 *      buffer alone: what is missing between two sub-buffers that were read was
 *      lost (lost_before) or overwritten (records_before).
 *   4. A sub-buffer can be read alone: no SHORT record precedes its first CONTEXT record.
 *      A buffer of all CPUs has EXTENDED records only.
 *   5. `used` is stored last, with release. In a mapping, load it first: if it is
 *      not 0, the header and the records are complete. With EVENTLOG_RELAY_OVERWRITE
 *      that holds only while nothing writes: a reused sub-buffer may change meanwhile.
 *
 * STATE MACHINE OF A SUB-BUFFER
 *
 *   free --previous one ends--> open --full or flushed--> complete --consumed--> free
 *                              used 0                     used > 0
 *
 *   With EVENTLOG_RELAY_OVERWRITE a complete sub-buffer is reused without being
 *   consumed.
 *
 * TRADE-OFFS
 *
 * - Losses are in headers of sub-buffers, so their position is known to a
 *   sub-buffer.
 * - Channels are built on the kernel's relay, whose buffers cannot be changed in
 *   NMIs: records of NMIs are lost, and counted.
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
#define EVENTLOG_RELAY_BYTES_MAX 0x10000000U /* 256 MiB: size times count of one buffer */
#define EVENTLOG_RELAY_BATCH_MAX 0x00010000U /* 64 KiB per write */

/* New records overwrite the oldest; without it they are lost while there is no room. */
#define EVENTLOG_RELAY_OVERWRITE 1U
/* One buffer for all CPUs, with a lock; otherwise one for each CPU. */
#define EVENTLOG_RELAY_GLOBAL 2U
/* No files until EVENTLOG_RELAY_CREATE_FILES. */
#define EVENTLOG_RELAY_DEFER_FILES 4U
/* Only the creator and kernel modules write: no EVENTLOG_RELAY_ATTACH. */
#define EVENTLOG_RELAY_PRIVATE 8U
#define EVENTLOG_RELAY_FLAGS 15U /* all of them */

struct eventlog_relay_options {
	__u32 size; /* of this struct */
	__u32 flags;
	__u32 subbuf_size; /* in bytes, a multiple of 8 */
	__u32 subbuf_count;
	char name[EVENTLOG_RELAY_NAME_SIZE];
};

#define EVENTLOG_RELAY_MAGIC 0x594c4552ULL /* "RELY": as a record's word 0 it has no event */

/* Header of a sub-buffer. */
struct eventlog_relay_header {
	__u64 magic;
	__u32 cpu; /* 0 if all CPUs share one buffer */
	__u32 reserved; /* 0 */
	__u64 sequence;
	__u64 records_before;
	__u64 lost_before;
	__u32 records; /* 0 until the sub-buffer is full or flushed */
	__u32 used; /* in bytes, with this header; 0 until then, stored last */
};

#define EVENTLOG_RELAY_CREATE _IOW('*', 64, struct eventlog_relay_options)
#define EVENTLOG_RELAY_ATTACH _IOW('*', 65, char[EVENTLOG_RELAY_NAME_SIZE])
#define EVENTLOG_RELAY_CREATE_FILES _IO('*', 66)

#endif /* _UAPI_LINUX_EVENTLOG_RELAY_H */
