// SPDX-License-Identifier: MIT
//
// Calls /dev/eventlog of the kernel module at random, from several processes, for as many seconds
// as its argument says, while one of them has its events traced, as root. What becomes of the calls
// does not matter: the kernel must not complain. What the C library asks for.
#define _GNU_SOURCE  // NOLINT(bugprone-reserved-identifier,readability-identifier-naming)
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

enum { files = 4, pages = 4, page_size = 4096, names = 12, processes = 3 };

static uint32_t state;
static int opened[files];
static char* memory;
static unsigned long calls;
static unsigned long taken;

static uint32_t next(uint32_t below) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    return state % below;
}

/// Most of them good.
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

static uintptr_t address(void) {
    if (next(16) == 0) {
        return next(UINT32_MAX);
    }
    return (uintptr_t)memory + (uintptr_t)next(pages * page_size / 8) * 8;
}

static void note(long result) {
    ++calls;
    taken += result >= 0;
}

static void register_event(int file) {
    char text[128];
    describe(text, sizeof text);
    struct word_registration wanted = {
        .size = sizeof wanted,
        .bit = (uint8_t)next(33),
        .word_size = next(8) == 0 ? (uint8_t)next(16) : 4,
        .flags = (uint16_t)(next(3) == 0 ? next(8) : 2),
        .word_address = address(),
        .description = (uintptr_t)text,
    };
    note(ioctl(file, USER_EVENTS_REGISTER, &wanted));
}

static void unregister_word(int file) {
    const struct word_unregistration end = {
        .size = sizeof end, .bit = (uint8_t)next(33), .word_address = address()};
    note(ioctl(file, USER_EVENTS_UNREGISTER, &end));
}

static void delete_event(int file) {
    char name[32];
    (void)snprintf(name, sizeof name, "fuzz_%u", next(names));
    note(ioctl(file, USER_EVENTS_DELETE, name));
}

static void write_event(int file) {
    uint32_t event[64];
    for (size_t i = 0; i < sizeof event / sizeof *event; ++i) {
        event[i] = next(4) == 0 ? next(UINT32_MAX) : next(32) << 16U | next(128);
    }
    event[0] = next(16);
    if (next(2) == 0) {
        memset(event + 32, 0, sizeof event / 2);
    }
    note(write(file, event, next(sizeof event)));
}

static void move_memory(void) {
    char* const page = memory + (size_t)next(pages) * page_size;
    (void)munmap(page, page_size);
    if (next(4) != 0) {
        const int shared = next(2) == 0 ? MAP_SHARED : MAP_PRIVATE;
        (void)mmap(page, page_size, PROT_READ | PROT_WRITE, shared | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0);
    }
}

static void reopen(int* file) {
    (void)close(*file);
    *file = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
}

static void call_at_random(unsigned depth);

/// Which ends in the middle of something, or is killed there.
static void have_child(unsigned depth) {
    const pid_t child = fork();
    if (child == 0) {
        state ^= 0x9e3779b9U;
        for (unsigned i = 0; i < 20; ++i) {
            call_at_random(depth + 1);
        }
        _exit(0);
    }
    if (child > 0) {
        if (next(2) == 0) {
            (void)kill(child, SIGKILL);
        }
        (void)waitpid(child, NULL, 0);
    }
}

static void call_at_random(unsigned depth) {
    int* const file = &opened[next(files)];
    switch (next(32)) {
        case 0:
            reopen(file);
            break;
        case 1:
            move_memory();
            break;
        case 2:
            delete_event(*file);
            break;
        case 3:
            note(ioctl(*file, USER_EVENTS_REGISTER + next(4), address()));
            break;
        case 4:
            if (depth == 0) {
                have_child(depth);
            }
            break;
        case 5:
        case 6:
        case 7:
        case 8:
            register_event(*file);
            break;
        case 9:
        case 10:
        case 11:
            unregister_word(*file);
            break;
        default:
            write_event(*file);
    }
}

static void write_quietly(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    if (file >= 0) {
        note(write(file, text, strlen(text)));
        (void)close(file);
    }
}

static void read_quietly(const char* path) {
    char text[4096];
    const int file = open(path, O_RDONLY | O_NONBLOCK);
    if (file >= 0) {
        note(read(file, text, sizeof text));
        note(read(file, text, sizeof text));
        (void)close(file);
    }
}

/// Whoever listens comes and goes.
static void trace_at_random(void) {
    char path[128];
    (void)snprintf(path, sizeof path, TRACING "events/eventlog/fuzz_%u/%s", next(names),
                   (const char*[]){"enable", "trigger", "filter", "format"}[next(4)]);
    switch (next(6)) {
        case 0:
            write_quietly(TRACING "events/eventlog/enable", next(2) == 0 ? "0" : "1");
            break;
        case 1:
            write_quietly(path, next(2) == 0 ? "hist:keys=a" : "!hist:keys=a");
            break;
        case 2:
            write_quietly(path, next(2) == 0 ? "a == 1" : "0");
            break;
        case 3:
            write_quietly(path, next(2) == 0 ? "b ~ \"*x*\"" : "1");
            break;
        case 4:
            read_quietly(path);
            break;
        default:
            read_quietly(TRACING "trace");
    }
}

static bool is_over(const struct timespec* end) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > end->tv_sec;
}

static int run(uint32_t seed, const struct timespec* end) {
    state = seed * 2654435761U + 1;
    memory = mmap(NULL, (size_t)pages * page_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < files; ++i) {
        opened[i] = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    }
    while (!is_over(end)) {
        if (seed == 0) {
            trace_at_random();
        } else {
            call_at_random(0);
        }
    }
    printf("process %u: calls %lu taken %lu\n", seed, calls, taken);
    return calls > 0 && taken > 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    (void)fflush(stdout);
    for (uint32_t seed = 0; seed < processes; ++seed) {
        if (fork() == 0) {
            const int status = run(seed, &end);
            (void)fflush(stdout);
            _exit(status);
        }
    }
    int status = 0;
    int worst = 0;
    while (wait(&status) > 0) {
        worst |= status;
    }
    // Else nothing would go away.
    write_quietly(TRACING "events/eventlog/enable", "0");
    for (int i = 0; i < names; ++i) {
        char path[128];
        (void)snprintf(path, sizeof path, TRACING "events/eventlog/fuzz_%d/trigger", i);
        write_quietly(path, "!hist:keys=a");
    }
    return worst == 0 ? 0 : 1;
}
