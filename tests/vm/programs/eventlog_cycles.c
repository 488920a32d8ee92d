// SPDX-License-Identifier: MIT
//
// The kernel module is loaded and unloaded again and again, as root, while other processes use its
// device and listen to its events. It goes when nobody does at that moment, which they take care
// that there is: an event that nobody needs is removed at once.
//
// eventlog_cycles MODULE COUNT
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_steps.h"

enum { users = 3, listeners = 1, tries_max = 100000 };

/// What processes have done in all cycles together.
struct tally {
    _Atomic unsigned long opened;
    _Atomic unsigned long registered;
    _Atomic unsigned long written;
    _Atomic unsigned long listened;
    _Atomic unsigned long odd;  // answers that there must not be
};
static struct tally* tally;

static bool is_one_of(int error, int one, int other) {
    return error == 0 || error == one || error == other;
}

/// One program from its beginning to its end.
static void use_device(const char* name) {
    char description[64];
    uint32_t event[2] = {0, 4711};
    device = open_device();
    if (device < 0) {
        tally->odd += errno != ENOENT && errno != ENXIO && errno != ENODEV;
        return;
    }
    ++tally->opened;
    (void)snprintf(description, sizeof description, "%s u32 a", name);
    const int error = register_at(description, &word, word_bit, event);
    tally->odd += error != 0;
    tally->registered += error == 0;
    for (int i = 0; error == 0 && i < 4; ++i) {
        if (write(device, event, sizeof event) == (ssize_t)sizeof event) {
            ++tally->written;
        } else {
            tally->odd += errno != EBADF;
        }
    }
    tally->odd += error == 0 && unregister_bit(&word, word_bit) != 0;
    (void)close(device);
    device = open_device();
    if (device >= 0) {
        // Another one may be using it, or listen.
        tally->odd += !is_one_of(delete_event(name), EBUSY, ENOENT);
        (void)close(device);
    }
}

static void use_for_ever(unsigned number) {
    char name[16];
    (void)snprintf(name, sizeof name, "fire_%u", number % 2);
    for (;;) {
        use_device(name);
        // So that the module can go.
        (void)usleep(500 + (unsigned)rand() % 2000);
    }
}

static void listen_for_ever(void) {
    for (;;) {
        for (char on = '1'; on >= '0'; --on) {
            const int file = open(OUR_EVENTS "enable", O_WRONLY | O_CLOEXEC);
            tally->listened += file >= 0 && write(file, &on, 1) == 1 && on == '1';
            (void)close(file);
        }
        (void)usleep(1000);
    }
}

static void begin(pid_t* processes) {
    for (unsigned i = 0; i < users + listeners; ++i) {
        processes[i] = fork();
        step("there can be another process", processes[i] >= 0);
        if (processes[i] == 0) {
            srand(i + 1);
            if (i < users) {
                use_for_ever(i);
            }
            listen_for_ever();
        }
    }
}

static void end(const pid_t* processes) {
    for (unsigned i = 0; i < users + listeners; ++i) {
        int status = 0;
        (void)kill(processes[i], SIGKILL);
        (void)waitpid(processes[i], &status, 0);
        step("a process has lived until then", WIFSIGNALED(status));
    }
}

static void cycle(const char* path, unsigned long* refused) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const unsigned long before = tally->registered;
    const bool loaded = syscall(SYS_finit_module, file, "remove_idle=1", 0) == 0;
    (void)close(file);
    step("the module is loaded", loaded);
    int tries = 0;
    while (tally->registered < before + 2 && ++tries < tries_max) {
        (void)usleep(200);
    }
    step("processes use it", tries < tries_max);
    tries = 0;
    while (syscall(SYS_delete_module, "eventlog", O_NONBLOCK) != 0 && ++tries < tries_max) {
        tally->odd += errno != EWOULDBLOCK && errno != EBUSY;
        (void)usleep(200);
    }
    *refused += (unsigned long)tries;
    step("the module is unloaded", tries < tries_max);
}

int main(int argc, char** argv) {
    pid_t processes[users + listeners];
    unsigned long refused = 0;
    step("there is a module and a number", argc == 3);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    step("memory is shared", tally != MAP_FAILED);
    begin(processes);
    const long count = strtol(argv[2], NULL, 10);
    for (long i = 0; i < count; ++i) {
        cycle(argv[1], &refused);
    }
    end(processes);
    printf("%ld cycles: %lu opened, %lu registered, %lu written, %lu listened, %lu refused to go\n",
           count, tally->opened, tally->registered, tally->written, tally->listened, refused);
    step("no answer was odd", tally->odd == 0);
    step("it was listened to", tally->listened > 0 && tally->written > 0);
    puts("ok: all cycles");
    return 0;
}
