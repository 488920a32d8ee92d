// SPDX-License-Identifier: MIT
//
// Layout and protocol of the file in which a process publishes its providers.
#pragma once

#include <linux/eventlog.h>

#include "ring/gate_layout.hpp"

/// A process publishes its providers in one file in tmpfs: processes/PID.START_TIME, with .1, .2
/// and so on behind it where that name is taken (by a second copy of the library).
///
///   0                     struct eventlog_process_file
///   EVENTLOG_PROCESS_DIRECTORY_OFFSET
///                         the first block of the directory: struct eventlog_directory_block, then
///                         struct eventlog_published_provider [capacity], up to byte 4096
///   shared_gate_offset    the shared gate
///   gate_offset           the own gate of a provider
///   schema_offset         the schema of a provider, schema_size bytes
///   next_offset           the next block of the directory
///
/// The process maps the shared gate over the gates of all its providers, until one of them has a
/// listener: a provider that was never enabled then needs no memory of its own. Consumers set bits
/// in the provider's own gate, whether the process has mapped it or not, then read `gate_mapped`.
/// While that is 0, they set EVENTLOG_GATE_NOTIFICATION in the same words of the shared gate. No
/// other bit is ever set there, and none is cleared. The next emit of such an event maps the
/// provider's own gate and stores `gate_mapped`, in this order, and finds the bits. So the own gate
/// says which subscriptions listen in either case. A consumer that cannot set bits there, because a
/// gate has no memory before its first listener, sets the notifications of all the provider's
/// events in the shared gate: a process that finds no bits in an own gate scans the subscriptions.
///
/// The file has its name when it is complete, and grows. An entry is complete when its state is
/// EVENTLOG_PUBLISHED_READY; the entry of a withdrawn provider may be used again, with another
/// generation: compare the entry before and after reading what it refers to. Blocks are never moved
/// or removed; each is behind the one before it.
///
/// The file is removed with the last provider, or later by another process that finds its process
/// dead. It keeps its name while one of its providers has losses whose number a reader may still
/// have to find there: see may_have_unread_losses().
#define EVENTLOG_PROCESS_MAGIC 0x535345434f525045ULL  // "EPROCESS"
#define EVENTLOG_PROCESS_VERSION 2
#define EVENTLOG_PROCESS_DIRECTORY_OFFSET 1024
#define EVENTLOG_PROCESS_HEADER_SIZE 4096  // with the first block of the directory
#define EVENTLOG_PROCESS_PROVIDERS_MAX EVENTLOG_PROVIDERS_MAX  // entries of all blocks

struct eventlog_process_file {
    __u64 magic;
    __u32 version;
    // The EVENTLOG_FEATURE_... of regions that the process can attach to, for tools.
    __u32 region_features;
    __u32 pid;
    __u32 uid;
    __u64 start_time;     // field 22 of /proc/PID/stat, in the first time namespace
    __u64 pid_namespace;  // inode of /proc/PID/ns/pid
    __u32 parent;         // when the file was created, in the process's pid namespace; 0: unknown
    __u32 generation;     // changes with each provider that is published or withdrawn
    char process[EVENTLOG_PROCESS_NAME_SIZE];
    __u64 shared_gate_offset;
    __u64 scope_token[2];  // 0: none
    __u64 reserved[39];
    /// The serial of the region in each slot, so that the process knows which subscription its
    /// unattached events belong to. Stored before bits of the slot are set, by the consumer,
    /// and by the process where it sets them.
    __u64 slot_serial[EVENTLOG_SUBSCRIPTIONS_MAX];
};

struct eventlog_directory_block {
    __u64 next_offset;  // of the next block, beyond this one; 0: none yet
    __u32 capacity;     // entries behind this head
    __u32 used;         // entries that were ever used: the first ones
    __u64 reserved[6];
};

enum eventlog_published_state {
    EVENTLOG_PUBLISHED_EMPTY = 0,  // also while it is being written
    EVENTLOG_PUBLISHED_READY = 1,
    EVENTLOG_PUBLISHED_REMOVED = 2,  // the provider was withdrawn
    // The same, but its counters and schema stay: it has losses whose number a reader may not have
    // read. Never used again.
    EVENTLOG_PUBLISHED_COUNTED = 3,
};

// A provider of the process.
struct eventlog_published_provider {
    __u32 state;       // enum eventlog_published_state, stored last
    __u32 generation;  // how often the entry was used
    __u32 event_count;
    __u32 schema_size;
    __u64 schema_offset;
    __u64 schema_hash;
    __u64 gate_offset;
    __u32 gate_mapped;  // set by the process: it reads its own gate from now on
    // Set by the process: it wants EVENTLOG_GATE_NOTIFICATION for all subscriptions.
    __u32 wants_notifications;
    __u32 schema_room;  // bytes at schema_offset, at least schema_size
    __u32 removal;      // of a withdrawn provider: its number among them, for the process
    // Set to 1 by consumers through tracefs and perf, which then set EVENTLOG_GATE_NOTIFICATION.
    // The process clears it and emits its state to all listeners in the kernel.
    __u32 state_requested;
    __u32 reserved;
    /// By slot: EVENTLOG_EARLY_LISTENS while a subscription wants events of this provider, and
    /// below it, how many the process has lost because it reads the shared gate, or has missed a
    /// subscription. The consumer changes the bit, beside those in the own gate; the process adds,
    /// and moves the number to the counters behind the own gate when it has mapped that.
    __u32 early[EVENTLOG_SUBSCRIPTIONS_MAX];
};

#define EVENTLOG_EARLY_LISTENS 0x80000000U

EVENTLOG_ABI(sizeof(struct eventlog_process_file) == 528);
EVENTLOG_ABI(sizeof(struct eventlog_process_file) <= EVENTLOG_PROCESS_DIRECTORY_OFFSET);
EVENTLOG_ABI_AT(eventlog_process_file, start_time, 24);
EVENTLOG_ABI_AT(eventlog_process_file, parent, 40);
EVENTLOG_ABI_AT(eventlog_process_file, process, 48);
EVENTLOG_ABI_AT(eventlog_process_file, shared_gate_offset, 64);
EVENTLOG_ABI_AT(eventlog_process_file, slot_serial, 400);
EVENTLOG_ABI(sizeof(struct eventlog_directory_block) == 64);
EVENTLOG_ABI(sizeof(struct eventlog_published_provider) == 128);
EVENTLOG_ABI_AT(eventlog_published_provider, schema_offset, 16);
EVENTLOG_ABI_AT(eventlog_published_provider, gate_mapped, 40);
EVENTLOG_ABI_AT(eventlog_published_provider, wants_notifications, 44);
EVENTLOG_ABI_AT(eventlog_published_provider, state_requested, 56);
EVENTLOG_ABI_AT(eventlog_published_provider, early, 64);
