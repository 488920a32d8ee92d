/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * /dev/eventlog: events of applications as trace events of the system
 * `eventlog`, for perf, ftrace and BPF.
 *
 * It speaks what user_events speaks (Documentation/trace/user_events.rst),
 * with the same structs and numbers, so that one program can use either:
 *
 *   ioctl EVENTLOG_REGISTER    describes an event, and names a word in the
 *                              memory of the process with a bit in it.  The
 *                              bit is set while somebody listens.
 *   write, writev              one event: its write_index, then its payload,
 *                              packed as described.
 *   ioctl EVENTLOG_UNREGISTER  gives the word back, and clears the bit.
 *   ioctl EVENTLOG_DELETE      removes an event that nobody uses.
 *
 * What differs, see eventlog(4): the system's name; the word's page is pinned,
 * so that it has to be anonymous memory or of tmpfs; a forked child registers
 * words of its own; events do not persist; a payload that is too large for a
 * listener is refused.
 */
#ifndef _UAPI_LINUX_EVENTLOG_DEVICE_H
#define _UAPI_LINUX_EVENTLOG_DEVICE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EVENTLOG_DEVICE_PATH "/dev/eventlog"

/* Of a description, with its NUL. */
#define EVENTLOG_DESCRIPTION_MAX 512
/* Of an array of char in it. */
#define EVENTLOG_ARRAY_MAX 1024
/*
 * Of a payload: what every listener can take.  ftrace's buffers have pages of
 * 4096 bytes, of which headers take 32, and a whole time stamp would take 8.
 */
#define EVENTLOG_PAYLOAD_MAX (4096 - 48)

/*
 * An event of this name may have other fields than the one that is there.  It
 * then gets another name: NAME_HASH, with a hash of its fields.
 */
#define EVENTLOG_REGISTER_MULTI_FORMAT 2

struct eventlog_registration {
	__u32 size; /* of this struct */
	__u8 enable_bit;
	__u8 enable_size; /* of the word in bytes: 4 or 8 */
	__u16 flags;
	__u64 enable_addr; /* of the word, a multiple of its size */
	__u64 name_args; /* address of "NAME [TYPE FIELD[; TYPE FIELD]...]" */
	__u32 write_index; /* the answer: the event's number for this open file */
} __attribute__((__packed__));

struct eventlog_unregistration {
	__u32 size; /* of this struct */
	__u8 disable_bit;
	__u8 reserved_byte; /* 0 */
	__u16 reserved; /* 0 */
	__u64 disable_addr;
} __attribute__((__packed__));

#define EVENTLOG_REGISTER _IOWR('*', 0, struct eventlog_registration *)
#define EVENTLOG_DELETE _IOW('*', 1, char *)
#define EVENTLOG_UNREGISTER _IOW('*', 2, struct eventlog_unregistration *)

#endif /* _UAPI_LINUX_EVENTLOG_DEVICE_H */
