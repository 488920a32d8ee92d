// SPDX-License-Identifier: MIT
//
// kernel_switches pass COUNT
// kernel_switches without
//
// `pass`: two processes pass a byte back and forth COUNT times, so that their CPU switches between
// them. `without`: a subscription to `switch` of the kernel module's provider `kernel` that
// excludes its reader has no switches of this process; one without that flag has them.
#include <errno.h>
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record_stream.h"
#include "steps.h"

enum { room = 1 << 17, rounds = 50 };

static void send(int to) {
    const char byte = 1;
    if (write(to, &byte, 1) != 1) {
        _exit(1);
    }
}

static void receive(int from) {
    char byte = 0;
    if (read(from, &byte, 1) != 1) {
        _exit(1);
    }
}

/// The caller and a child alternate.
static void pass(long count) {
    int there[2];
    int back[2];
    step("pipes", pipe(there) == 0 && pipe(back) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (long i = 0; i < count; ++i) {
            receive(there[0]);
            send(back[1]);
        }
        _exit(0);
    }
    for (long i = 0; i < count; ++i) {
        send(there[1]);
        receive(back[0]);
    }
    int status = 0;
    step("the bytes have been passed", waitpid(child, &status, 0) == child && status == 0);
    (void)close(there[0]);
    (void)close(there[1]);
    (void)close(back[0]);
    (void)close(back[1]);
}

static int subscribe_to_switches(uint32_t flags) {
    struct eventlog_filter_rule rule = {.provider = "kernel", .event = "switch"};
    struct eventlog_subscription_request request = {
        .size = sizeof request,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = 4,
        .buffer_size = room,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .schemas_size = 1 << 20,
        .flags = flags,
    };
    const int file = open(EVENTLOG_DEVICE_PATH, O_RDWR | O_NONBLOCK);
    step("a subscription begins", file >= 0 && ioctl(file, EVENTLOG_SUBSCRIBE, &request) == 0);
    return file;
}

/// Counts all switches, and those from or to this process.
static void count_switches(int file, unsigned* all, unsigned* own) {
    static _Alignas(8) char bytes[room];
    const uint32_t self = (uint32_t)getpid();
    bool is_whole = true;
    *all = 0;
    *own = 0;
    while (true) {
        const ssize_t got = read(file, bytes, sizeof bytes);
        if (got <= 0) {
            step("all records are read", got < 0 && errno == EAGAIN);
            step("no events are lost", is_whole);
            return;
        }
        struct record_stream stream = {.at = (const unsigned char*)bytes, .left = (size_t)got};
        struct stream_item item;
        while (next_item(&stream, &item)) {
            if (item.is_run) {
                is_whole = is_whole && item.run.lost == 0 && item.run.overwritten == 0;
                continue;
            }
            uint32_t next = 0;
            memcpy(&next, item.payload, sizeof next);
            *all += 1;
            *own += item.thread == self || next == self;
        }
        is_whole = is_whole && !stream.damaged;
    }
}

static void exclude_reader(void) {
    unsigned all = 0;
    unsigned own = 0;
    // The earlier subscription may have more switches, of the time between both.
    const int without = subscribe_to_switches(EVENTLOG_EXCLUDE_READER);
    const int with = subscribe_to_switches(0);
    pass(rounds);
    unsigned all_without = 0;
    unsigned own_without = 0;
    count_switches(with, &all, &own);
    count_switches(without, &all_without, &own_without);
    step("switches are counted", all >= 2 * rounds);
    step("also those of this process", own >= rounds);
    step("excluded switches are absent", own_without == 0);
    step("switches of other processes are complete", all_without >= all - own);
    (void)close(with);
    (void)close(without);
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "pass") == 0) {
        pass(strtol(argv[2], NULL, 10));
    } else if (argc == 2 && strcmp(argv[1], "without") == 0) {
        exclude_reader();
        (void)puts("ok: own switches excluded");
    } else {
        (void)fputs("usage: kernel_switches pass COUNT | without\n", stderr);
        return 2;
    }
    return 0;
}
