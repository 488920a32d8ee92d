// SPDX-License-Identifier: MIT
//
// What the C library asks for.
#include "listening.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device_steps.h"

enum { buffer_size = 1 << 17, buffer_count = 2, room = 1 << 17 };

int publish(int file, const char* name, const struct eventlog_published_event* offers,
            uint32_t count, uint32_t* number) {
    static const char schema[] = "schema";
    struct eventlog_publication wanted = {
        .size = sizeof wanted,
        .event_count = count,
        .events = (uintptr_t)offers,
        .schema = (uintptr_t)schema,
        .schema_size = sizeof schema,
        .schema_hash = 1,
    };
    (void)snprintf(wanted.name, sizeof wanted.name, "%s", name);
    const int error = ioctl(file, EVENTLOG_PUBLISH, &wanted) == 0 ? 0 : errno;
    *number = wanted.provider;
    return error;
}

int withdraw(int file, uint32_t number) {
    return ioctl(file, EVENTLOG_UNPUBLISH, &number) == 0 ? 0 : errno;
}

static int try_to_subscribe(int file, const struct wanted* wanted, uint64_t* total_size) {
    struct eventlog_filter_rule rule = {
        .provider = "*", .event = "*", .level = wanted->level, .keywords = wanted->keywords};
    if (wanted->provider != NULL) {
        (void)snprintf(rule.provider, sizeof rule.provider, "%s", wanted->provider);
    }
    if (wanted->event != NULL) {
        (void)snprintf(rule.event, sizeof rule.event, "%s", wanted->event);
    }
    if (wanted->endless) {
        memset(rule.event, '*', sizeof rule.event);
    }
    const struct eventlog_process_filter process = {.pid = wanted->pid};
    struct eventlog_subscription_request request = {
        .size = wanted->size != 0 ? wanted->size : sizeof request,
        .features = wanted->overwrite ? EVENTLOG_FEATURE_OVERWRITE : 0,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = buffer_count,
        .buffer_size = buffer_size,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .process_count = wanted->pid != 0,
        .processes = (uintptr_t)&process,
        .schemas_size = wanted->schemas_size != 0 ? wanted->schemas_size : 1 << 20,
        .flags = wanted->to_relay ? EVENTLOG_TO_RELAY : 0,
        .read_timeout = wanted->timeout,
        .relay = wanted->relay,
        .reserved = wanted->reserved,
    };
    const int error = ioctl(file, EVENTLOG_SUBSCRIBE, &request) == 0 ? 0 : errno;
    *total_size = request.total_size;
    return error;
}

int subscribe(int file, const struct wanted* wanted) {
    uint64_t ignored = 0;
    return try_to_subscribe(file, wanted, &ignored);
}

int end_subscription(int file) {
    return ioctl(file, EVENTLOG_STOP) == 0 ? 0 : errno;
}

int hand_back(int file, const struct eventlog_buffer_release* given) {
    struct eventlog_buffer_release wanted = *given;
    wanted.size = sizeof wanted;
    return ioctl(file, EVENTLOG_RELEASE_BUFFERS, &wanted) == 0 ? 0 : errno;
}

int next_provider(int file, struct eventlog_provider_query* query) {
    return ioctl(file, EVENTLOG_NEXT_PROVIDER, query) == 0 ? 0 : errno;
}

int listen_to(struct wanted* wanted) {
    const int mode = wanted->blocking ? 0 : O_NONBLOCK;
    const int file = open("/dev/eventlog", O_RDWR | O_CLOEXEC | mode);
    step("a subscription begins",
         file >= 0 && try_to_subscribe(file, wanted, &wanted->total_size) == 0);
    return file;
}

struct eventlog_statistics statistics(int file, uint32_t ring) {
    struct eventlog_statistics counts = {.size = sizeof counts, .ring = ring};
    if (ioctl(file, EVENTLOG_STATISTICS, &counts) != 0) {
        step("what has been counted is told", false);
    }
    return counts;
}

static void take_gap(const unsigned char* at, struct tally* tally) {
    struct eventlog_lost_payload missing;
    memcpy(&missing, at + sizeof(struct eventlog_record), sizeof missing);
    tally->lost += missing.lost;
    tally->overwritten += missing.overwritten;
    tally->last_was_gap = true;
}

static void take_record(const unsigned char* at, struct tally* tally) {
    ++tally->records;
    memcpy(&tally->last_value, at + sizeof(struct eventlog_record), sizeof tally->last_value);
    tally->last_was_gap = false;
}

/// Returns its size with padding.
static size_t take(const unsigned char* at, size_t left, struct tally* tally) {
    struct eventlog_record record;
    if (left < sizeof record) {
        step("all records are whole", false);
    }
    memcpy(&record, at, sizeof record);
    const size_t size = ((size_t)record.size + 7) / 8 * 8;
    if (size < sizeof record + 8 || size > left || record.cpu >= 1024) {
        step("all records are whole", false);
    }
    tally->out_of_order |= record.time < tally->last_time[record.cpu];
    tally->last_time[record.cpu] = record.time;
    if (record.provider == EVENTLOG_LOST_PROVIDER) {
        take_gap(at, tally);
    } else {
        take_record(at, tally);
    }
    return size;
}

bool read_some(int file, struct tally* tally) {
    static unsigned char bytes[room];
    const ssize_t got = read(file, bytes, sizeof bytes);
    if (got < 0 && errno != EAGAIN) {
        step("what there is can be read", false);
    }
    for (ssize_t at = 0; at < got;) {
        at += (ssize_t)take(bytes + at, (size_t)(got - at), tally);
    }
    return got > 0;
}

void read_all(int file, struct tally* tally) {
    while (read_some(file, tally)) {
    }
}

bool run_on(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}
