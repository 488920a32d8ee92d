// SPDX-License-Identifier: MIT
//
// Layout of a gate and of the counters behind it, which a process shares with its consumers.
#pragma once

#include <linux/eventlog.h>

/// A gate has EVENTLOG_EVENTS_MAX words and, EVENTLOG_GATE_SIZE bytes behind its start, a struct
/// eventlog_counters_page. It begins at a multiple of the page size. A gate word is only changed by
/// atomic or / and: the kernel owns two of its bits.
#define EVENTLOG_GATE_SIZE 4096
#define EVENTLOG_COUNTERS_SIZE 4096

/// Bits of gate words that the process itself sets, for its collectors: they listen from within,
/// and consumers neither set nor read these bits.
#define EVENTLOG_GATE_COLLECTORS 0x001e0000U

/// Fate of a provider's events on one route, one count for each listener. Added to by its
/// process (relaxed). Writers wait for a holder of the shared ring's lock once, for 50 ms.
struct eventlog_route_counters {
    __u64 written;          // without those in written_by_cpu
    __u64 truncated;        // included in the written ones: with EVENTLOG_RECORD_TRUNCATED
    __u64 lost_full;        // no room in the ring, or no memory for it
    __u64 lost_too_large;   // over EVENTLOG_RECORD_SIZE_MAX; for user_events over 4048
    __u64 lost_busy;        // still locked then, or locked by the code that a handler interrupted
    __u64 lost_unattached;  // not attached (yet) to the subscription or to tracefs
    __u64 lost_refused;     // rejected by the kernel
    __u64 reserved;
};

#define EVENTLOG_COUNTERS_MEMORY 0       // index of a route: subscriptions in shared memory
#define EVENTLOG_COUNTERS_USER_EVENTS 1  // the kernel's user_events
#define EVENTLOG_ROUTES_MAX 2
#define EVENTLOG_CPU_COUNTERS_MAX 480
#define EVENTLOG_UNATTACHED_COUNT_BITS 40
#define EVENTLOG_UNATTACHED_COUNT_MASK 0xffffffffffULL
// 1 to 0xffffff: a word of 0 belongs to no subscription.
#define EVENTLOG_UNATTACHED_TAG(serial) ((serial) % 0xffffffU + 1)

/// Counters of a provider.
///
/// Each CPU has a word in written_by_cpu, which threads on that CPU add to
/// inside restartable sequences. The process spreads the words as far as its
/// number of CPUs allows; readers add up all of them, and have what was written
/// to shared memory. A process that is killed between an event's commit and its
/// counting leaves one too few.
struct eventlog_counters_page {
    eventlog_route_counters routes[EVENTLOG_ROUTES_MAX];
    /// Events of the memory route that were lost as unattached, by slot: below, their number,
    /// above, which subscription of the slot they belong to, EVENTLOG_UNATTACHED_TAG of the
    /// serial that the process file had for the slot. Changed by compare-and-swap; another
    /// tag begins with 0. Included in lost_unattached.
    __u64 unattached[EVENTLOG_SUBSCRIPTIONS_MAX];
    __u64 written_by_cpu[EVENTLOG_CPU_COUNTERS_MAX];
};

EVENTLOG_ABI(sizeof(struct eventlog_route_counters) == 64);
EVENTLOG_ABI_AT(eventlog_route_counters, lost_unattached, 40);
EVENTLOG_ABI_AT(eventlog_route_counters, lost_refused, 48);
EVENTLOG_ABI(sizeof(struct eventlog_counters_page) == EVENTLOG_COUNTERS_SIZE);
EVENTLOG_ABI_AT(eventlog_counters_page, unattached, 128);
EVENTLOG_ABI_AT(eventlog_counters_page, written_by_cpu, 256);
EVENTLOG_ABI(EVENTLOG_EVENTS_MAX * sizeof(__u32) == EVENTLOG_GATE_SIZE);
