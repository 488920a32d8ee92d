// SPDX-License-Identifier: MIT
//
// The processes that trace, switch a processor and unload the module.
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "module/eventlog_fuzz/fuzz.h"
#include "module/eventlog_fuzz/processes.h"
#include "steps.h"

static void write_quietly(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    if (file >= 0) {
        count(tracing, write(file, text, strlen(text)));
        (void)close(file);
    }
}

static void read_quietly(const char* path) {
    char text[4096];
    const int file = open(path, O_RDONLY | O_NONBLOCK);
    if (file >= 0) {
        (void)!read(file, text, sizeof text);
        (void)!read(file, text, sizeof text);
        (void)close(file);
    }
}

/// Enables, filters and reads events through tracefs.
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

void run_tracer(void) {
    state = 1;
    while (!is_over()) {
        trace_at_random();
    }
}

void stop_tracing(void) {
    write_quietly(TRACING "events/eventlog/enable", "0");
    for (int i = 0; i < names; ++i) {
        char path[128];
        (void)snprintf(path, sizeof path, TRACING "events/eventlog/fuzz_%d/trigger", i);
        write_quietly(path, "!hist:keys=a");
    }
}

static bool switch_processor(const char* wanted) {
    const int file = open(SECOND_PROCESSOR, O_WRONLY | O_CLOEXEC);
    const bool done = file >= 0 && write(file, wanted, 1) == 1;
    (void)close(file);
    return done;
}

void run_disturber(void) {
    while (!is_over()) {
        if (has_processors) {
            count(switching, switch_processor("0") && switch_processor("1") ? 0 : -1);
        }
        if (has_module) {
            const long unloaded = syscall(SYS_delete_module, "eventlog", O_NONBLOCK);
            count(unloading, unloaded == 0 ? -1 : 0);
            if (unloaded == 0) {
                (void)fputs("WRONG: the module has been unloaded while it was in use\n", stderr);
                _exit(1);
            }
        }
        (void)usleep(disturber_pause);
    }
    // The programs that run after this one need both processors.
    (void)switch_processor("1");
}
