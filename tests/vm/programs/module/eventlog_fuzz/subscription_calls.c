// SPDX-License-Identifier: MIT
//
// Calls that publish, subscribe, read, map and release.
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_client.h"
#include "module/eventlog_fuzz/calls.h"
#include "module/eventlog_fuzz/fuzz.h"
#include "user_events_abi.h"

/// Subscribes, publishes an event and writes it, with valid arguments. Few random calls are valid,
/// so that on a slow machine no read might succeed without this.
static void subscribe_and_write(void) {
    // Not on the stack: a child that another thread forks meanwhile keeps the file open, and with
    // it the registration, so that the kernel may write the word after this function.
    static _Thread_local volatile uint32_t word;
    char text[32];
    (void)snprintf(text, sizeof text, "fuzz_valid_%u u32 a", next(names));
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .word_size = sizeof word,
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)text,
    };
    const int writer = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    const int reader = open("/dev/eventlog", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    count(registering, ioctl(writer, USER_EVENTS_REGISTER, &wanted));
    count(subscribing, -subscribe(reader, &(struct subscription_request){.level = 5}));
    const struct eventlog_published_event offer = {
        .write_index = wanted.write_index, .level = 1, .name = "valid"};
    uint32_t number = 0;
    count(publishing, -publish(writer, "fuzz_valid", &offer, 1, &number));
    const uint32_t event[] = {wanted.write_index, next(UINT32_MAX)};
    count(writing, write(writer, event, sizeof event));
    char bytes[page_size];
    count(reading, read(reader, bytes, sizeof bytes));
    void* const header = mmap(NULL, page_size, PROT_READ, MAP_SHARED, reader, 0);
    count(mapping, header == MAP_FAILED ? -1 : 0);
    if (header != MAP_FAILED) {
        (void)munmap(header, page_size);
    }
    count(ending, -end_subscription(reader));
    count(withdrawing, -unpublish(writer, number));
    (void)close(reader);
    (void)close(writer);
}

/// Writes a name. Most are valid.
static void name_at_random(char* name) {
    (void)snprintf(name, EVENTLOG_IDENTIFIER_SIZE, "fuzz_%u", next(names));
    if (next(16) == 0) {
        memset(name, 'x', EVENTLOG_IDENTIFIER_SIZE);
    }
}

static void publish_at_random(int file) {
    struct eventlog_published_event offers[4];
    memset(offers, 0, sizeof offers);
    const uint32_t first = next(8);
    for (uint32_t i = 0; i < 4; ++i) {
        offers[i] = (struct eventlog_published_event){
            .keywords = next(4),
            .write_index = next(8) == 0 ? next(UINT32_MAX) : first + i,
            .event = (uint16_t)next(UINT16_MAX),
            .level = (uint8_t)(1 + next(next(8) == 0 ? 255 : 5)),
            .flags = (uint8_t)next(next(8) == 0 ? 256 : 4),
        };
        name_at_random(offers[i].name);
    }
    struct eventlog_publication wanted = {
        .size = sizeof wanted,
        .event_count = next(8) == 0 ? next(UINT32_MAX) : 1 + next(4),
        .events = next(16) == 0 ? address() : (uintptr_t)offers,
        .schema = next(16) == 0 ? address() : (uintptr_t)offers,
        .schema_size = next(8) == 0 ? next(UINT32_MAX) : 1 + next(sizeof offers),
        .schema_hash = next(4),
        .notification = next(2) == 0 ? next(UINT32_MAX) : 0,
        .reserved = next(32) == 0,
    };
    name_at_random(wanted.name);
    count(publishing, ioctl(file, EVENTLOG_PUBLISH, &wanted));
}

static void withdraw_at_random(int file) {
    struct eventlog_provider_query query = {.size = sizeof query,
                                            .provider = next(2) == 0 ? 0 : next(1000),
                                            .schema = address(),
                                            .schema_size =
                                                next(3) == 0 ? next(UINT32_MAX) : next(page_size)};
    count(asking, ioctl(file, EVENTLOG_NEXT_PROVIDER, &query));
    struct eventlog_listener_query listeners = {.size = sizeof listeners,
                                                .provider = query.provider,
                                                .listener = next(3) == 0 ? next(1000) : 0};
    count(asking, ioctl(file, EVENTLOG_NEXT_LISTENER, &listeners));
    count(withdrawing, ioctl(file, EVENTLOG_UNPUBLISH, &query.provider));
}

static void subscribe_at_random(int file) {
    struct eventlog_filter_rule rules[2] = {{.provider = "*", .event = "*"}};
    name_at_random(rules[1].provider);
    rules[1].event[0] = '*';
    rules[0].level = next(6);
    rules[0].keywords = next(4);
    rules[0].flags = next(3);
    uint64_t sessions[4] = {next(4), next(UINT32_MAX), 0, 1};
    struct eventlog_process_filter of[2] = {{.pid = next(4)}, {.name = "*"}};
    struct eventlog_subscription_request wanted = {
        .size = sizeof wanted,
        .features = next(next(8) == 0 ? 8 : 2),
        .clock = next(8) == 0 ? next(4) : 1 + next(2),
        .buffer_count = next(8) == 0 ? next(128) : 2U << next(2),
        .buffer_size = next(8) == 0 ? next(UINT32_MAX) : EVENTLOG_BUFFER_SIZE_MIN,
        .rule_count = next(8) == 0 ? next(UINT32_MAX) : 1 + next(2),
        .rules = next(16) == 0 ? address() : (uintptr_t)rules,
        .session_count = next(16) == 0 ? next(UINT32_MAX) : next(5),
        .process_count = next(16) == 0 ? next(UINT32_MAX) : next(2) * 2,
        .sessions = (uintptr_t)sessions,
        .processes = (uintptr_t)of,
        .schemas_size = next(8) == 0 ? next(UINT32_MAX) : 0x10000,
        .flags = next(8) == 0 ? next(16) : next(2),
        .read_timeout = 1 + next(20),
        .relay = next(16) == 0 ? (int)next(64) : 0,
    };
    count(subscribing, ioctl(file, EVENTLOG_SUBSCRIBE, &wanted));
}

static void read_records(int file) {
    static _Thread_local char bytes[page_size];
    (void)poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, 0);
    count(reading, read(file, next(16) == 0 ? (char*)address() : bytes, next(sizeof bytes)));
}

static void release_at_random(int file) {
    struct eventlog_statistics counts = {.size = sizeof counts,
                                         .ring = next(2) == 0 ? EVENTLOG_ALL_RINGS : next(5)};
    count(asking, ioctl(file, EVENTLOG_STATISTICS, &counts));
    const struct eventlog_buffer_release given = {
        .size = sizeof given,
        .ring = next(8) == 0 ? next(UINT32_MAX) : next(3),
        .drained = next(8) == 0 ? next(UINT32_MAX) : next(4),
        .seen = next(4),
    };
    count(asking, ioctl(file, EVENTLOG_RELEASE_BUFFERS, &given));
    if (next(8) == 0) {
        count(ending, ioctl(file, EVENTLOG_STOP));
    }
}

/// Maps a part of the region, and reads its header if the mapping allows it.
static void map_region(int file) {
    const int access = next(8) == 0 ? (int)next(8) : PROT_READ;
    const size_t size = (size_t)(1 + next(1024)) * page_size;
    const off_t from = next(2) == 0 ? 0 : (off_t)next(2048) * page_size;
    volatile uint64_t* const region = mmap(NULL, size, access, MAP_SHARED, file, from);
    count(mapping, region == MAP_FAILED ? -1 : 0);
    if (region == MAP_FAILED) {
        return;
    }
    if (from == 0 && access == PROT_READ) {
        (void)*region;
    }
    (void)mprotect((void*)region, size, (int)next(8));
    (void)munmap((void*)region, size);
}

void listen_at_random(int file) {
    switch (next(9)) {
        case 0:
            publish_at_random(file);
            break;
        case 1:
            withdraw_at_random(file);
            break;
        case 2:
            subscribe_at_random(file);
            break;
        case 3:
            release_at_random(file);
            break;
        case 4:
            map_region(file);
            break;
        case 5:
            subscribe_and_write();
            break;
        default:
            read_records(file);
    }
}
