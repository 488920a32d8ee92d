// SPDX-License-Identifier: MIT
//
// Checks that /dev/eventlog of the kernel module reveals no earlier contents of memory, as root:
// the program fills most memory with a pattern and frees it, then checks that all bytes that can be
// mapped, read and queried are those of the layout, or zero. What the C library asks for.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "record_stream.h"

enum { poison = 0xa5, content = 0x11, page_size = 4096 };
enum { buffer_size = 1 << 20, schema_size = 5003, payload_size = 1001, written = 50 };

struct event {
    uint32_t index;
    unsigned char payload[payload_size];
};

static uint32_t index_own;

static uint64_t free_memory(void) {
    char line[256];
    uint64_t free = 0;
    FILE* file = fopen("/proc/meminfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "MemFree:", 8) == 0) {
            free = strtoull(line + 8, NULL, 10) * 1024;
        }
    }
    (void)fclose(file);
    return free;
}

/// Fills memory with the pattern and frees it, so that the kernel allocates these pages next.
static void fill_memory(void) {
    const uint64_t size = free_memory() / 4 * 3 / page_size * page_size;
    void* const memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("memory can be mapped", size > (uint64_t)64 * buffer_size && memory != MAP_FAILED);
    memset(memory, poison, size);
    step("memory is freed", munmap(memory, size) == 0);
}

static bool is_poisoned(const unsigned char* bytes, size_t size) {
    size_t run = 0;
    for (size_t i = 0; i < size; ++i) {
        run = bytes[i] == poison ? run + 1 : 0;
        if (run == sizeof(uint64_t)) {
            return true;
        }
    }
    return false;
}

static bool is_zero(const unsigned char* bytes, size_t size) {
    for (size_t i = 0; i < size; ++i) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

static int begin(uint64_t* total_size) {
    const int file = open_device();
    const struct eventlog_filter_rule rule = {.provider = "*", .event = "*"};
    struct eventlog_subscription_request request = {
        .size = sizeof request,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = 4,
        .buffer_size = buffer_size,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .schemas_size = 1 << 20,
        .read_timeout = 1,
    };
    step("a subscription begins", file >= 0 && ioctl(file, EVENTLOG_SUBSCRIBE, &request) == 0);
    *total_size = request.total_size;
    return file;
}

static void publish_one(void) {
    static unsigned char schema[schema_size];
    memset(schema, content, sizeof schema);
    step("an event is registered",
         register_at("poison struct block a 1001", &word, enable_bit, &index_own) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_own, .level = 3, .name = "one"};
    const struct eventlog_publication subscription_request = {
        .size = sizeof subscription_request,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t)schema,
        .schema_size = sizeof schema,
        .name = "poison",
    };
    step("and published", ioctl(device, EVENTLOG_PUBLISH, &subscription_request) == 0);
}

static void write_some(void) {
    struct event event = {.index = index_own};
    const size_t size = sizeof event.index + sizeof event.payload;
    memset(event.payload, content, sizeof event.payload);
    for (int i = 0; i < written; ++i) {
        if (write(device, &event, size) != (ssize_t)size) {
            step("the event is written", false);
        }
    }
}

/// Checks the buffers of a ring, of which at most the first has records.
static void check_ring(const unsigned char* memory, const struct eventlog_region* region,
                       uint32_t index) {
    const struct eventlog_ring* ring =
        (const void*)(memory + region->rings_offset + (size_t)index * region->ring_stride);
    const size_t size = (size_t)region->buffer_count * region->buffer_size;
    const unsigned char* buffers = memory + region->buffers_offset + index * size;
    const uint64_t position = ring->control & EVENTLOG_POSITION_MASK;
    if (position == EVENTLOG_SEALED) {
        return;
    }
    const size_t used = position * EVENTLOG_RECORD_ALIGNMENT;
    if (used > region->buffer_size || is_poisoned(buffers, used) ||
        !is_zero(buffers + used, size - used)) {
        step("behind the records the buffer is zero", false);
    }
}

/// Checks a region. Padding between records is checked where records are read.
static void check_memory(int file, uint64_t total_size) {
    const unsigned char* memory = mmap(NULL, total_size, PROT_READ, MAP_SHARED, file, 0);
    step("it is mapped", memory != MAP_FAILED);
    const struct eventlog_region* region = (const void*)memory;
    const size_t entries_end =
        region->providers_offset + region->provider_count * sizeof(struct eventlog_provider_entry);
    const size_t schemas_end = region->schemas_offset + region->schemas_used;
    step("the region has one provider",
         region->provider_count == 1 && region->schemas_used == schema_size);
    step("no earlier contents are in front of the buffers",
         !is_poisoned(memory, region->buffers_offset));
    step("the rest of the providers is zero",
         is_zero(memory + entries_end, region->schemas_offset - entries_end));
    step("the rest of the schemas is zero",
         is_zero(memory + schemas_end, region->buffers_offset - schemas_end));
    for (uint32_t i = 0; i + 1 < region->ring_count; ++i) {
        check_ring(memory, region, i);
    }
    (void)munmap((void*)memory, total_size);
}

/// Each byte of a record is of its header, of its payload, or zero. Payloads of this size have
/// extended headers.
static void check_records(int file) {
    static unsigned char bytes[1 << 20];
    const size_t padding = (8 - payload_size % 8) % 8;
    const size_t padded = extended_size + payload_size + padding;
    const ssize_t got = read(file, bytes, sizeof bytes);
    struct record_stream stream = {.at = bytes, .left = got > 0 ? (size_t)got : 0};
    struct stream_item item;
    size_t runs = 0;
    while (next_item(&stream, &item)) {
        runs += item.is_run;
        if (!item.is_run &&
            (item.size != payload_size || item.payload[payload_size - 1] != content ||
             !is_zero(item.payload + payload_size, padding))) {
            step("the padding of a record is zero", false);
        }
    }
    step("all are read at once",
         !stream.damaged && got == (ssize_t)(written * padded + runs * marker_size));
    step("no earlier contents are in the records", !is_poisoned(bytes, (size_t)got));
}

static void check_answers(int file) {
    struct eventlog_provider_query query;
    memset(&query, poison, sizeof query);
    query.size = sizeof query;
    query.provider = 0;
    query.schema = 0;
    step("the provider is found", next_provider(file, &query) == 0);
    const size_t name = strlen(query.name);
    const size_t process = strlen(query.process);
    step(
        "with zeros behind its names",
        is_zero((const unsigned char*)query.name + name, sizeof query.name - name) &&
            is_zero((const unsigned char*)query.process + process, sizeof query.process - process));
    const struct eventlog_statistics counts = statistics(file, EVENTLOG_ALL_RINGS);
    step("the statistics have the counts", counts.recorded == written && counts.overwritten == 0);
}

int main(void) {
    uint64_t total_size = 0;
    device = open_device();
    step("the device can be opened", device >= 0);
    fill_memory();
    const int file = begin(&total_size);
    publish_one();
    write_some();
    check_memory(file, total_size);
    check_answers(file);
    check_records(file);
    (void)close(file);
    (void)close(device);
    puts("ok: no earlier contents");
    return 0;
}
