// SPDX-License-Identifier: MIT
//
// kernel_switches pass COUNT
// kernel_switches without
//
// Two processes that pass a byte to and fro, so often, and so have their CPU go from one to the
// other. Or: who asks the kernel module's provider `kernel` for switches without its own gets none
// of its own, and who does not ask for that gets them, too.
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

#include "steps.h"

enum { room = 1 << 17, rounds = 50 };

static void give(int to) {
    const char byte = 1;
    if (write(to, &byte, 1) != 1) {
        _exit(1);
    }
}

static void take(int from) {
    char byte = 0;
    if (read(from, &byte, 1) != 1) {
        _exit(1);
    }
}

/// The caller and a child; each waits for the other.
static void pass(long count) {
    int there[2];
    int back[2];
    step("pipes", pipe(there) == 0 && pipe(back) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (long i = 0; i < count; ++i) {
            take(there[0]);
            give(back[1]);
        }
        _exit(0);
    }
    for (long i = 0; i < count; ++i) {
        give(there[1]);
        take(back[0]);
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
    step("a subscription", file >= 0 && ioctl(file, EVENTLOG_SUBSCRIBE, &request) == 0);
    return file;
}

/// How many switches there were in all, and how many to or from this process.
static void count_switches(int file, unsigned* all, unsigned* own) {
    static _Alignas(8) char bytes[room];
    const uint32_t self = (uint32_t)getpid();
    bool is_whole = true;
    *all = 0;
    *own = 0;
    while (true) {
        const ssize_t got = read(file, bytes, sizeof bytes);
        if (got <= 0) {
            step("all is read", got < 0 && errno == EAGAIN);
            step("nothing is missing", is_whole);
            return;
        }
        for (size_t at = 0; at < (size_t)got;) {
            struct eventlog_record record;
            uint32_t next = 0;
            memcpy(&record, bytes + at, sizeof record);
            memcpy(&next, bytes + at + sizeof record, sizeof next);
            is_whole = is_whole && record.provider != EVENTLOG_LOST_PROVIDER;
            *all += 1;
            *own += record.thread == self || next == self;
            at += (record.size + 7U) & ~(size_t)7;
        }
    }
}

static void exclude_reader(void) {
    unsigned all = 0;
    unsigned own = 0;
    // What happens in between, only the one that is there longer has.
    const int without = subscribe_to_switches(EVENTLOG_EXCLUDE_READER);
    const int with = subscribe_to_switches(0);
    pass(rounds);
    unsigned all_without = 0;
    unsigned own_without = 0;
    count_switches(with, &all, &own);
    count_switches(without, &all_without, &own_without);
    step("switches are counted", all >= 2 * rounds);
    step("its own among them", own >= rounds);
    step("and not if it does not want them", own_without == 0);
    step("others all the same", all_without >= all - own);
    (void)close(with);
    (void)close(without);
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "pass") == 0) {
        pass(strtol(argv[2], NULL, 10));
    } else if (argc == 2 && strcmp(argv[1], "without") == 0) {
        exclude_reader();
        (void)puts("ok: without its own");
    } else {
        (void)fputs("usage: kernel_switches pass COUNT | without\n", stderr);
        return 2;
    }
    return 0;
}
