// SPDX-License-Identifier: MIT
//
// The process that calls at random.
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/eventlog_fuzz/calls.h"
#include "module/eventlog_fuzz/fuzz.h"
#include "module/eventlog_fuzz/processes.h"
#include "steps.h"
#include "user_events_abi.h"

static void move_memory(void) {
    char* const page = memory + (size_t)next(pages) * page_size;
    // Replaces the page in one step: a hole could receive a mapping of another thread.
    const int access = next(4) == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
    const int shared = next(2) == 0 ? MAP_SHARED : MAP_PRIVATE;
    (void)mmap(page, page_size, access, shared | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/// Replaces the file of a descriptor, which other threads may be using.
static void reopen(int file) {
    const int fresh = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    (void)dup3(fresh, file, O_CLOEXEC);
    (void)close(fresh);
}

static void call_at_random(unsigned depth);

/// Forks a child that ends, or is killed, during its calls while the parent continues.
static void have_child(unsigned depth) {
    static _Thread_local pid_t last;
    if (last > 0) {
        (void)waitpid(last, NULL, 0);
    }
    const pid_t child = fork();
    if (child == 0) {
        state ^= 0x9e3779b9U;
        for (unsigned i = 0; i < 20; ++i) {
            call_at_random(depth + 1);
        }
        _exit(0);
    }
    if (child > 0 && next(2) == 0) {
        (void)kill(child, SIGKILL);
    }
    last = child;
}

static void call_at_random(unsigned depth) {
    const int file = opened[next(files)];
    switch (next(40)) {
        case 0:
            reopen(opened[1 + next(files - 1)]);
            break;
        case 1:
            move_memory();
            break;
        case 2:
            if (next(2) == 0) {
                delete_random_event(file);
            } else if (may_delete) {
                delete_fresh_event(file);
            }
            break;
        case 3:
            (void)ioctl(file, USER_EVENTS_REGISTER + next(4), address());
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
            register_event(file);
            break;
        case 9:
        case 10:
        case 11:
            unregister_word(file);
            break;
        case 12:
        case 13:
        case 14:
        case 15:
        case 16:
        case 17:
        case 18:
        case 19:
            listen_at_random(file);
            break;
        case 20:
            write_many(file);
            break;
        default:
            write_event(file);
    }
}

static void* run_thread(void* seed) {
    state = (uint32_t)(uintptr_t)seed * 2654435761U + 1;
    while (!is_over()) {
        call_at_random(0);
    }
    return NULL;
}

/// Leaves the process with the rights of a member of the group that may open the device.
static void drop_capabilities(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}};
    step("all capabilities are dropped", syscall(SYS_capset, &head, none) == 0);
}

void run_caller(uintptr_t process) {
    drop_capabilities();
    // One page more, because reads at the last address may write beyond `pages`.
    memory = mmap(NULL, (size_t)(pages + 1) * page_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 1; i < files; ++i) {
        opened[i] = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    }
    pthread_t started[threads];
    for (uintptr_t i = 0; i < threads; ++i) {
        (void)pthread_create(&started[i], NULL, run_thread, (void*)(process * threads + i));
    }
    for (int i = 0; i < threads; ++i) {
        (void)pthread_join(started[i], NULL);
    }
}
