// SPDX-License-Identifier: MIT
#include "device_client.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device_steps.h"
#include "record_stream.h"

enum { buffer_size = 1 << 17, buffer_count = 2, room = 1 << 17 };

int publish(int file, const char* name, const struct eventlog_published_event* offers,
            uint32_t count, uint32_t* number) {
    static const char schema[] = "schema";
    struct eventlog_publication subscription_request = {
        .size = sizeof subscription_request,
        .event_count = count,
        .events = (uintptr_t)offers,
        .schema = (uintptr_t)schema,
        .schema_size = sizeof schema,
        .schema_hash = 1,
    };
    (void)snprintf(subscription_request.name, sizeof subscription_request.name, "%s", name);
    const int error = ioctl(file, EVENTLOG_PUBLISH, &subscription_request) == 0 ? 0 : errno;
    *number = subscription_request.provider;
    return error;
}

int unpublish(int file, uint32_t number) {
    return ioctl(file, EVENTLOG_UNPUBLISH, &number) == 0 ? 0 : errno;
}

static int try_to_subscribe(int file, const struct subscription_request* subscription_request,
                            uint64_t* total_size) {
    struct eventlog_filter_rule rule = {.provider = "*",
                                        .event = "*",
                                        .level = subscription_request->level,
                                        .keywords = subscription_request->keywords};
    if (subscription_request->provider != NULL) {
        (void)snprintf(rule.provider, sizeof rule.provider, "%s", subscription_request->provider);
    }
    if (subscription_request->event != NULL) {
        (void)snprintf(rule.event, sizeof rule.event, "%s", subscription_request->event);
    }
    if (subscription_request->unterminated_pattern) {
        memset(rule.event, '*', sizeof rule.event);
    }
    const struct eventlog_process_filter process = {.pid = subscription_request->pid};
    struct eventlog_subscription_request request = {
        .size = subscription_request->size != 0 ? subscription_request->size : sizeof request,
        .features = subscription_request->overwrite ? EVENTLOG_FEATURE_OVERWRITE : 0,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = buffer_count,
        .buffer_size = buffer_size,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .process_count = subscription_request->pid != 0,
        .processes = (uintptr_t)&process,
        .schemas_size =
            subscription_request->schemas_size != 0 ? subscription_request->schemas_size : 1 << 20,
        .flags = subscription_request->to_relay ? EVENTLOG_TO_RELAY : 0,
        .read_timeout = subscription_request->timeout,
        .relay = subscription_request->relay,
        .reserved = subscription_request->reserved,
    };
    const int error = ioctl(file, EVENTLOG_SUBSCRIBE, &request) == 0 ? 0 : errno;
    *total_size = request.total_size;
    return error;
}

int subscribe(int file, const struct subscription_request* subscription_request) {
    uint64_t ignored = 0;
    return try_to_subscribe(file, subscription_request, &ignored);
}

int end_subscription(int file) {
    return ioctl(file, EVENTLOG_STOP) == 0 ? 0 : errno;
}

int release_buffers(int file, const struct eventlog_buffer_release* given) {
    struct eventlog_buffer_release subscription_request = *given;
    subscription_request.size = sizeof subscription_request;
    return ioctl(file, EVENTLOG_RELEASE_BUFFERS, &subscription_request) == 0 ? 0 : errno;
}

int next_provider(int file, struct eventlog_provider_query* query) {
    return ioctl(file, EVENTLOG_NEXT_PROVIDER, query) == 0 ? 0 : errno;
}

int subscribe_or_exit(struct subscription_request* subscription_request) {
    const int mode = subscription_request->blocking ? 0 : O_NONBLOCK;
    const int file = open("/dev/eventlog", O_RDWR | O_CLOEXEC | mode);
    step("a subscription begins",
         file >= 0 &&
             try_to_subscribe(file, subscription_request, &subscription_request->total_size) == 0);
    return file;
}

struct eventlog_statistics statistics(int file, uint32_t ring) {
    struct eventlog_statistics counts = {.size = sizeof counts, .ring = ring};
    if (ioctl(file, EVENTLOG_STATISTICS, &counts) != 0) {
        step("the statistics can be read", false);
    }
    return counts;
}

static void count_gap(const struct eventlog_run* run, struct read_totals* read_totals) {
    if (run->ring >= 1024 || run->reserved != 0) {
        step("all runs are of a ring", false);
    }
    read_totals->lost += run->lost;
    read_totals->overwritten += run->overwritten;
    read_totals->last_was_gap = true;
}

static void count_record(const struct stream_item* item, struct read_totals* read_totals) {
    ++read_totals->records;
    read_totals->last_value = item_value(item);
    read_totals->last_was_gap = false;
    read_totals->out_of_order |= item->time < read_totals->last_time[item->cpu];
    read_totals->last_time[item->cpu] = item->time;
}

/// A read begins with a marker, and each marker without a gap is in front of a record.
static void count_item(const struct stream_item* item, bool is_first,
                       struct read_totals* read_totals) {
    if (is_first && !item->is_run) {
        step("a read begins with a marker", false);
    }
    if (item->is_run) {
        count_gap(&item->run, read_totals);
        read_totals->out_of_order |= item->run.time < read_totals->last_time[item->run.ring];
    } else {
        if (item->size < 8 || item->cpu >= 1024) {
            step("all records are whole", false);
        }
        count_record(item, read_totals);
    }
}

bool read_once(int file, struct read_totals* read_totals) {
    static unsigned char bytes[room];
    const ssize_t bytes_read = read(file, bytes, sizeof bytes);
    if (bytes_read < 0 && errno != EAGAIN) {
        step("records can be read", false);
    }
    struct record_stream stream = {.at = bytes, .left = bytes_read > 0 ? (size_t)bytes_read : 0};
    struct stream_item item;
    for (bool is_first = true; next_item(&stream, &item); is_first = false) {
        count_item(&item, is_first, read_totals);
    }
    if (stream.damaged) {
        step("all records are whole", false);
    }
    return bytes_read > 0;
}

void read_all(int file, struct read_totals* read_totals) {
    while (read_once(file, read_totals)) {
    }
}

bool run_on(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}
