// SPDX-License-Identifier: MIT
#include "module/eventlog_relay/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "steps.h"

char text[65536];

void pin(size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    step("pinned", sched_setaffinity(0, sizeof set, &set) == 0);
}

struct options options_of(uint32_t flags) {
    const struct options made = {sizeof made, flags, subbuf_size, subbuf_count, "trial"};
    return made;
}

int try_create(struct options wanted) {
    const int file = open(DEVICE, O_RDWR | O_CLOEXEC);
    step("the device can be opened", file >= 0);
    if (ioctl(file, CREATE, &wanted) == 0) {
        return file;
    }
    const int error = errno;
    (void)close(file);
    return -error;
}

int create(uint32_t flags) {
    const int file = try_create(options_of(flags));
    step("a channel can be made", file >= 0);
    return file;
}

int open_part(const char* name, int how) {
    char path[128];
    (void)snprintf(path, sizeof path, FOLDER "trial/%s", name);
    return open(path, how | O_CLOEXEC);
}

void send_command(const char* command) {
    const int file = open_part("control", O_WRONLY);
    step(command, file >= 0 && write(file, command, strlen(command)) == (ssize_t)strlen(command));
    (void)close(file);
}

int try_command(const char* command) {
    const int file = open_part("control", O_WRONLY);
    const int error = write(file, command, strlen(command)) < 0 ? errno : 0;
    (void)close(file);
    return error;
}

uint64_t stat_of(const char* buffer, const char* what) {
    const int file = open_part("stats", O_RDONLY);
    const ssize_t size = read(file, text, sizeof text - 1);
    (void)close(file);
    step("stats can be read", size > 0);
    text[size] = '\0';
    const char* line = strstr(text, buffer);
    const char* at = line == NULL ? NULL : strstr(line, what);
    return at == NULL ? UINT64_MAX : strtoull(at + strlen(what), NULL, 10);
}

enum { thread = 5, cut = 1, extended = 2 };

struct record record_at(uint64_t time) {
    const struct record made = {{UINT64_C(1) << 42U | (uint64_t)extended << 40U | (uint32_t)time,
                                 (uint64_t)thread << 32U | time >> 32U,
                                 (uint64_t)cut << 16U | payload},
                                {0}};
    return made;
}

bool is_record(const struct record* record) {
    const uint64_t cpu = UINT64_C(0xffff) << 32U;
    return record->words[0] >> 32U == (UINT64_C(1) << 10U | (uint64_t)extended << 8U) &&
           record->words[1] >> 32U == thread &&
           (record->words[2] & ~cpu) == ((uint64_t)cut << 16U | payload);
}

size_t write_batch(int file, size_t count) {
    static struct record batch[1024];
    static uint64_t time;
    for (size_t i = 0; i < count; ++i) {
        batch[i] = record_at(++time);
    }
    const ssize_t written = write(file, batch, count * sizeof batch[0]);
    return written < 0 ? 0 : (size_t)written / sizeof batch[0];
}

void drain(int file, struct seen* seen) {
    static uint8_t bytes[1 << 20];
    ssize_t size = 0;
    ssize_t part = 0;
    while ((part = read(file, bytes + size, sizeof bytes - (size_t)size)) > 0) {
        size += part;
    }
    seen->right = part == 0;
    for (ssize_t at = 0; at < size;) {
        struct header header;
        memcpy(&header, bytes + at, sizeof header.magic);
        if (header.magic == magic) {
            memcpy(&header, bytes + at, sizeof header);
            seen->gaps += header.records_before - seen->next;
            seen->next = header.records_before;
            seen->lost = header.lost_before;
            seen->subbufs += 1;
            at += (ssize_t)sizeof header;
        } else {
            struct record record;
            memcpy(&record, bytes + at, sizeof record);
            seen->right = seen->right && is_record(&record);
            seen->records += 1;
            seen->next += 1;
            at += record_size;
        }
    }
}

pid_t fork_child(void) {
    (void)fflush(stdout);
    const pid_t child = fork();
    step("fork", child >= 0);
    return child;
}
