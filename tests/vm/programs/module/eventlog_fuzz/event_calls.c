// SPDX-License-Identifier: MIT
//
// Calls of the ABI of user_events, and batches.
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "module/eventlog_fuzz/calls.h"
#include "module/eventlog_fuzz/fuzz.h"
#include "user_events_abi.h"

/// Writes a description of an event. Most are valid.
static void describe(char* text, size_t size) {
    static const char* const fields[] = {
        "",
        " u32 a",
        " u64 a; __rel_loc char[] b",
        " __rel_loc char[] a; __rel_loc u8[] b; __data_loc char[] c",
        " char[16] a; struct f64 b 8",
        " s8 a; struct u16x7 b 14; __rel_loc u64[] c",
    };
    (void)snprintf(text, size, "fuzz_%u%s", next(names), fields[next(6)]);
    if (next(8) == 0) {
        text[next((uint32_t)strlen(text))] = (char)next(256);
    }
}

void register_event(int file) {
    char text[128];
    describe(text, sizeof text);
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .bit = bit(),
        .word_size = next(8) == 0 ? (uint8_t)next(16) : 4,
        .flags = (uint16_t)(next(3) == 0 ? next(8) : 2),
        .word_address = address(),
        .description = (uintptr_t)text,
    };
    count(registering, ioctl(file, USER_EVENTS_REGISTER, &wanted));
}

void unregister_word(int file) {
    const struct user_events_unregistration wanted = {
        .size = sizeof wanted, .bit = bit(), .word_address = address()};
    count(unregistering, ioctl(file, USER_EVENTS_UNREGISTER, &wanted));
}

void delete_random_event(int file) {
    char name[32];
    (void)snprintf(name, sizeof name, "fuzz_%u", next(names));
    count(deleting, ioctl(file, USER_EVENTS_DELETE, name));
}

void delete_fresh_event(int file) {
    static _Thread_local volatile uint32_t word;  // not on the stack: see subscribe_and_write()
    char text[32];
    const uint32_t number = names + next(1000000);
    (void)snprintf(text, sizeof text, "fuzz_%u u32 a", number);
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .word_size = sizeof word,
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)text,
    };
    const int own = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    count(registering, ioctl(own, USER_EVENTS_REGISTER, &wanted));
    (void)close(own);
    (void)snprintf(text, sizeof text, "fuzz_%u", number);
    count(deleting, ioctl(file, USER_EVENTS_DELETE, text));
}

void write_many(int file) {
    uint32_t events[64];
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i) {
        events[i] = next(64) == 0 ? next(UINT32_MAX) : i % 4 == 3 ? 8 : next(8);
    }
    events[0] = EVENTLOG_BATCH;
    events[1] = next(16) == 0 ? next(UINT32_MAX) : next(2) * EVENTLOG_BATCH_TIMED;
    count(writing, write(file, events, next(sizeof events)));
}

void write_event(int file) {
    uint32_t event[64];
    for (size_t i = 0; i < sizeof event / sizeof *event; ++i) {
        event[i] = next(4) == 0 ? next(UINT32_MAX) : next(32) << 16U | next(128);
    }
    event[0] = next(16);
    if (next(2) == 0) {
        memset(event + 32, 0, sizeof event / 2);
    }
    count(writing, write(file, event, next(sizeof event)));
}
