// SPDX-License-Identifier: MIT
//
// Calls /dev/eventlog of the kernel module at random from several processes and threads, as root,
// for the number of seconds in the first argument.
//
// - The test passes if the kernel reports no fault and if each allowed kind of call succeeded at
//   least once. The program runs for up to one more minute to reach that.
// - All processes share one file; the threads of a process share its other files and its memory.
// - One process traces the events. Another one turns a second processor off and on, and tries to
//   unload the module, which the kernel must reject because its device is open.
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "module/eventlog_fuzz/fuzz.h"
#include "module/eventlog_fuzz/processes.h"
#include "steps.h"

static const char* const name_of_kind[kinds] = {"registered",
                                                "unregistered",
                                                "deleted",
                                                "written",
                                                "traced",
                                                "published",
                                                "withdrawn",
                                                "subscribed",
                                                "read",
                                                "mapped",
                                                "asked",
                                                "ended",
                                                "processors turned off and on",
                                                "not unloaded"};

static bool can_other_user_delete(void) {
    char answer = 'Y';
    const int file = open("/sys/module/eventlog/parameters/remove_idle", O_RDONLY);
    step("the parameter remove_idle can be read", read(file, &answer, 1) == 1);
    (void)close(file);
    return answer == 'Y';
}

int main(int argc, char** argv) {
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    // Otherwise the kernel patches its code when an event is enabled, which can crash emulated
    // machines with several processors.
    set_file(TRACING "options/record-cmd", "0");
    may_delete = can_other_user_delete();
    has_processors = access(SECOND_PROCESSOR, W_OK) == 0;
    has_module = access("/sys/module/eventlog/refcnt", F_OK) == 0;
    counted =
        mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    opened[0] = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    (void)fflush(stdout);
    for (uintptr_t process = 0; process < processes; ++process) {
        if (fork() == 0) {
            if (process == 0) {
                run_tracer();
            } else if (process == 1) {
                run_disturber();
            } else {
                run_caller(process);
            }
            _exit(0);
        }
    }
    int status = 0;
    int worst = 0;
    while (wait(&status) > 0) {
        worst |= status;
    }
    stop_tracing();
    for (int kind = 0; kind < kinds; ++kind) {
        printf("%s: %lu of %lu\n", name_of_kind[kind], atomic_load(&counted->succeeded[kind]),
               atomic_load(&counted->calls[kind]));
    }
    return worst == 0 && has_each_kind_succeeded() ? 0 : 1;
}
