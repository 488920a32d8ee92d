// SPDX-License-Identifier: MIT
#pragma once

#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stdint.h>

// Subscriptions through /dev/eventlog of the kernel module. Single-threaded.

#ifdef __cplusplus
extern "C" {
#endif

/// A request. Zero: all events, in discard mode, without waiting.
struct subscription_request {
    const char* provider;  // patterns
    const char* event;
    uint32_t level;
    uint64_t keywords;
    uint32_t pid;
    bool overwrite;
    bool blocking;
    bool unterminated_pattern;  // a pattern without a NUL
    uint32_t timeout;
    uint64_t schemas_size;  // 0: 1 MiB
    bool to_relay;
    int relay;            // the field; with `to_relay`, a file that has created a channel
    uint32_t reserved;    // the field
    uint32_t size;        // of the request; 0: the current size
    uint64_t total_size;  // the answer
};

/// The sum of what has been read. Zero before the first read.
struct read_totals {
    uint64_t records;
    uint64_t lost;
    uint64_t overwritten;
    uint64_t last_value;  // the first eight bytes of the last payload
    bool last_was_gap;
    bool out_of_order;         // in one ring, by time
    uint64_t last_time[1024];  // by ring
};

/// Each returns 0 or an errno.
int publish(int file, const char* name, const struct eventlog_published_event* offers,
            uint32_t count, uint32_t* number);
int unpublish(int file, uint32_t number);
int subscribe(int file, const struct subscription_request* subscription_request);
int end_subscription(int file);
int release_buffers(int file, const struct eventlog_buffer_release* given);
int next_provider(int file, struct eventlog_provider_query* query);

/// A new subscription; ends the program if that fails. The answer is written to `wanted`.
int subscribe_or_exit(struct subscription_request* subscription_request);

/// Ends the program if that fails.
struct eventlog_statistics statistics(int file, uint32_t ring);

/// Reads once; false without records, or at the end of the subscription. Ends the program at an
/// incomplete record.
bool read_once(int file, struct read_totals* read_totals);

/// Reads until there are no records or the subscription has ended. The caller guarantees that
/// writers do not write faster.
void read_all(int file, struct read_totals* read_totals);

bool run_on(unsigned cpu);

#ifdef __cplusplus
}
#endif
