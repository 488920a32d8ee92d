// SPDX-License-Identifier: MIT
//
// Loads and unloads the kernel module repeatedly, as root, while other processes use its device and
// enable its events. The module can be unloaded while it has no users; the processes pause for
// that, and the module removes unused events at once.
//
// eventlog_reload MODULE COUNT
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

/// Counts of all processes and cycles.
struct read_totals {
    _Atomic unsigned long opened;
    _Atomic unsigned long registered;
    _Atomic unsigned long written;
    _Atomic unsigned long listened;
    _Atomic unsigned long odd;  // unexpected results
};
static struct read_totals* read_totals;

static bool is_one_of(int error, int one, int other) {
    return error == 0 || error == one || error == other;
}

/// One user of the device, from opening to closing.
static void use_device(const char* name) {
    char description[64];
    uint32_t event[2] = {0, 4711};
    device = open_device();
    if (device < 0) {
        read_totals->odd += errno != ENOENT && errno != ENXIO && errno != ENODEV;
        return;
    }
    ++read_totals->opened;
    (void)snprintf(description, sizeof description, "%s u32 a", name);
    const int error = register_at(description, &word, enable_bit, event);
    read_totals->odd += error != 0;
    read_totals->registered += error == 0;
    for (int i = 0; error == 0 && i < 4; ++i) {
        if (write(device, event, sizeof event) == (ssize_t)sizeof event) {
            ++read_totals->written;
        } else {
            read_totals->odd += errno != EBADF;
        }
    }
    read_totals->odd += error == 0 && unregister_bit(&word, enable_bit) != 0;
    (void)close(device);
    device = open_device();
    if (device >= 0) {
        // Another process may use it, or have it enabled.
        read_totals->odd += !is_one_of(delete_event(name), EBUSY, ENOENT);
        (void)close(device);
    }
}

static void use_for_ever(unsigned number) {
    char name[16];
    (void)snprintf(name, sizeof name, "fire_%u", number % 2);
    for (;;) {
        use_device(name);
        // Allows the module to be unloaded.
        (void)usleep(500 + (unsigned)rand() % 2000);
    }
}

static void listen_for_ever(void) {
    for (;;) {
        for (char on = '1'; on >= '0'; --on) {
            const int file = open(OUR_EVENTS "enable", O_WRONLY | O_CLOEXEC);
            read_totals->listened += file >= 0 && write(file, &on, 1) == 1 && on == '1';
            (void)close(file);
        }
        (void)usleep(1000);
    }
}

static void begin(pid_t* processes) {
    for (unsigned i = 0; i < users + listeners; ++i) {
        processes[i] = fork();
        step("fork", processes[i] >= 0);
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
        step("the process ran until it was killed", WIFSIGNALED(status));
    }
}

static void cycle(const char* path, unsigned long* refused) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const unsigned long before = read_totals->registered;
    const bool loaded = syscall(SYS_finit_module, file, "remove_idle=1", 0) == 0;
    (void)close(file);
    step("the module is loaded", loaded);
    int tries = 0;
    while (read_totals->registered < before + 2 && ++tries < tries_max) {
        (void)usleep(200);
    }
    step("processes use it", tries < tries_max);
    tries = 0;
    while (syscall(SYS_delete_module, "eventlog", O_NONBLOCK) != 0 && ++tries < tries_max) {
        read_totals->odd += errno != EWOULDBLOCK && errno != EBUSY;
        (void)usleep(200);
    }
    *refused += (unsigned long)tries;
    step("the module is unloaded", tries < tries_max);
}

int main(int argc, char** argv) {
    pid_t processes[users + listeners];
    unsigned long refused = 0;
    step("the arguments are a module and a number", argc == 3);
    read_totals =
        mmap(NULL, sizeof *read_totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    step("memory is shared", read_totals != MAP_FAILED);
    begin(processes);
    const long count = strtol(argv[2], NULL, 10);
    long cycles = 0;
    // On a busy machine the processes may have met no enabled event yet: more cycles follow.
    while (cycles < count ||
           (cycles < 10 * count && (read_totals->listened == 0 || read_totals->written == 0))) {
        cycle(argv[1], &refused);
        ++cycles;
    }
    end(processes);
    printf(
        "%ld cycles: %lu opened, %lu registered, %lu written, %lu listened, %lu unloads rejected\n",
        cycles, read_totals->opened, read_totals->registered, read_totals->written,
        read_totals->listened, refused);
    step("no result was unexpected", read_totals->odd == 0);
    step("events were enabled and written", read_totals->listened > 0 && read_totals->written > 0);
    puts("ok: all cycles");
    return 0;
}
