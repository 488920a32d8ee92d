// SPDX-License-Identifier: MIT
//
// Full rings, ends and mappings of subscriptions.
#include <errno.h>
#include <linux/eventlog_device.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"
#include "record_stream.h"

/// Fills a ring until events are lost; returns the number of attempts.
static uint64_t fill(int reader) {
    uint64_t tried = 0;
    while (statistics(reader, EVENTLOG_ALL_RINGS).lost < 10) {
        write_large_or_exit(tried);
        ++tried;
    }
    return tried;
}

void check_discard_mode(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU", run_on(0));
    const uint64_t tried = fill(reader);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the gap follows the records in front of it",
         read_totals.records + read_totals.lost == tried && read_totals.lost == 10 &&
             read_totals.last_was_gap);
    step("in the order of time", !read_totals.out_of_order);
    step("there is room again", write_event(index_large, 0));
    read_all(reader, &read_totals);
    step("and no gap is reported twice",
         read_totals.records + read_totals.lost == tried + 1 && read_totals.lost == 10);
    step("in the order of time", !read_totals.out_of_order);
    (void)close(reader);
}

void check_overwrite_mode(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.overwrite = true});
    uint64_t tried = 0;
    for (; tried < 500; ++tried) {
        write_large_or_exit(tried);
    }
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the newest are read", read_totals.last_value == tried - 1 && read_totals.lost == 0);
    step("the overwritten ones are counted",
         read_totals.records + read_totals.overwritten == tried && read_totals.overwritten > 0);
    (void)close(reader);
}

void end_and_read_the_rest(void) {
    struct subscription_request subscription_request = {.overwrite = true, .blocking = true};
    const int reader = subscribe_or_exit(&subscription_request);
    step("a file without a subscription cannot be ended", end_subscription(device) == EINVAL);
    const unsigned char* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
    step("the region can be mapped", memory != MAP_FAILED);
    for (uint64_t tried = 0; tried < 500; ++tried) {
        write_large_or_exit(tried);
    }
    step("it ends", end_subscription(reader) == 0);
    step("all bits are cleared", word == 0);
    step("no event can be written", !write_event(index_large, 500) && errno == EBADF);
    const struct eventlog_region* region = (const void*)memory;
    step("the mapping has the end", region->state == EVENTLOG_REGION_ENDED);
    struct pollfd polled = {.fd = reader, .events = POLLIN};
    step("and poll reports it",
         poll(&polled, 1, 0) == 1 && (polled.revents & (POLLIN | POLLHUP)) == (POLLIN | POLLHUP));
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the statistics count all events", counts.recorded == 500 && counts.lost == 0);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the newest are read", read_totals.last_value == 499);
    step("the overwritten ones are counted",
         read_totals.records + read_totals.overwritten == 500 && read_totals.overwritten > 0);
    step("read returns the end", read(reader, bytes, room) == 0);
    step("ending again is accepted", end_subscription(reader) == 0);
    step("the file stays a subscription",
         subscribe(reader, &(struct subscription_request){0}) == EBUSY);
    (void)munmap((void*)memory, 4096);
    (void)close(reader);
}

void end_during_wait(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.blocking = true});
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)usleep(100000);
        _exit(end_subscription(reader));
    }
    step("a waiting read returns the end", read(reader, bytes, room) == 0);
    int status = -1;
    step("the ending process succeeds", waitpid(child, &status, 0) == child && status == 0);
    (void)close(reader);
}

void map_for_reading(void) {
    struct subscription_request subscription_request = {0};
    const int reader = subscribe_or_exit(&subscription_request);
    step("it cannot be mapped for writing",
         mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED);
    step("it cannot be mapped privately",
         mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, reader, 0) == MAP_FAILED);
    step("it cannot be mapped beyond its end",
         mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader,
              (off_t)(subscription_request.total_size + 4095) / 4096 * 4096) == MAP_FAILED);
    unsigned char* memory =
        mmap(NULL, subscription_request.total_size, PROT_READ, MAP_SHARED, reader, 0);
    step("the region can be mapped", memory != MAP_FAILED);
    step("and never becomes writable", mprotect(memory, 4096, PROT_READ | PROT_WRITE) == -1);
    step("it never becomes executable", mprotect(memory, 4096, PROT_READ | PROT_EXEC) == -1);
    const struct eventlog_region* region = (const void*)memory;
    step("it is a region", region->magic == EVENTLOG_REGION_MAGIC &&
                               region->total_size == subscription_request.total_size &&
                               region->state == EVENTLOG_REGION_LIVE);
    step("the region has one provider", region->provider_count == 1);
    const struct eventlog_provider_entry* entry = (const void*)(memory + region->providers_offset);
    step("this process",
         entry->state == EVENTLOG_PROVIDER_READY && entry->pid == (uint32_t)getpid());
    step("whose two events have the first numbers",
         entry->event_base == 1 && region->event_numbers == 2);
    step("the region has the schema", memcmp(memory + entry->schema_offset, "schema", 6) == 0);
    step("one is written", run_on(0) && write_event(index_small, 77));
    const unsigned char* buffers = memory + region->buffers_offset;
    const struct stream_item stored = first_record(buffers, first_small_record);
    step("and is in the mapping",
         stored.event == 1 && stored.kind == EVENTLOG_KIND_CONTEXT && item_value(&stored) == 77);
    for (size_t i = first_small_record; i < region->buffer_size; ++i) {
        if (buffers[i] != 0) {
            step("the rest is zero", false);
        }
    }
    step("a buffer in use cannot be released",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = 0, .drained = 1}) ==
             EINVAL);
    step("a buffer of an unknown ring cannot be released",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = region->ring_count}) ==
             EINVAL);
    while (statistics(reader, 0).lost == 0) {
        write_large_or_exit(0);
    }
    step("a full ring is polled",
         poll(&(struct pollfd){.fd = reader, .events = POLLIN}, 1, 0) == 1);
    step("a full buffer can be released",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = 0, .drained = 1}) == 0);
    const uint64_t lost = statistics(reader, 0).lost;
    step("and used again", write_event(index_large, 0) && statistics(reader, 0).lost == lost);
    (void)close(reader);
    step("the mapping stays readable", region->magic == EVENTLOG_REGION_MAGIC);
    step("and the subscription receives events", write_event(index_small, 1));
    (void)munmap(memory, subscription_request.total_size);
    step("unmapping ends the subscription", word == 0);
}
