// SPDX-License-Identifier: MIT
//
// Threads that use /dev/eventlog of the kernel module concurrently with one file and one page, as
// root, for the number of seconds in the argument: they write, enable, register, unregister, close,
// fork and unmap. Each thread knows the results of its own calls, independent of the other threads.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_steps.h"

// Words of one page whose bits the kernel changes.
enum { enabled_word, passing_word, own_word, words_count };
enum { page_size = 4096, bits = 32 };

static const char enabled_event[] = "threads_enabled u32 a";
static const char passing[] = "threads_passing u32 a";
static const char own[] = "threads_own u32 a";

static _Alignas(4096) _Atomic uint32_t words[page_size / sizeof(uint32_t)];
static uint32_t enabled_index;
/// Always a file in which `passing` has the number 0. A thread replaces the file.
static int passing_file;
static atomic_bool is_over;

/// Ends the program if the result is not right.
static void check(const char* what, bool right) {
    if (!right) {
        (void)dprintf(STDOUT_FILENO, "WRONG: %s\nerrno is %d: %s\n", what, errno, strerror(errno));
        _exit(1);
    }
}

static int register_in(int file, const char* description, _Atomic uint32_t* at, uint8_t bit) {
    struct user_events_registration wanted = registration_of(description);
    wanted.word_address = (uintptr_t)at;
    wanted.bit = bit;
    return ioctl(file, USER_EVENTS_REGISTER, &wanted) == 0 ? 0 : errno;
}

static bool is_set(_Atomic uint32_t* at, uint8_t bit) {
    return (atomic_load(at) >> bit & 1U) != 0;
}

static void enable(const char* event, bool on) {
    char path[128];
    (void)snprintf(path, sizeof path, OUR_EVENTS "%s/enable", event);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    check(path, file >= 0 && write(file, on ? "1" : "0", 1) == 1);
    (void)close(file);
}

/// True if the event is enabled.
static bool write_to(int file, uint32_t index) {
    const uint32_t event[] = {index, 7};
    const bool written = write(file, event, sizeof event) == sizeof event;
    check("an event is written if it is enabled", written || errno == EBADF);
    return written;
}

static void write_enabled(void) {
    (void)write_to(device, enabled_index);
}

static void listen(void) {
    enable("threads_enabled", true);
    check("enabling sets the bit", is_set(&words[enabled_word], 0));
    check("and the event is written", write_to(device, enabled_index));
    enable("threads_enabled", false);
    check("disabling clears it", !is_set(&words[enabled_word], 0));
    check("and the event is not written", !write_to(device, enabled_index));
}

static void map_and_unmap(void) {
    const uint8_t bit = 1;
    check("another bit is registered",
          register_in(device, enabled_event, &words[enabled_word], bit) == 0);
    check("once", register_in(device, enabled_event, &words[enabled_word], bit) == EADDRINUSE);
    check("and unregistered", unregister_bit(&words[enabled_word], bit) == 0);
    check("cleared", !is_set(&words[enabled_word], bit));
    check("once", unregister_bit(&words[enabled_word], bit) == ENOENT);
}

static void open_and_close(void) {
    const int file = open_device();
    check("a file is opened", file >= 0);
    check("an event is registered", register_in(file, own, &words[own_word], 0) == 0);
    check("its bit is clear", atomic_load(&words[own_word]) == 0);
    enable("threads_own", true);
    check("its bit is set", atomic_load(&words[own_word]) == 1);
    check("the event is written", write_to(file, 0));
    enable("threads_own", false);
    check("its bit is cleared", atomic_load(&words[own_word]) == 0);
    check("an event of another file is registered",
          register_in(file, enabled_event, &words[own_word], 1) == 0);
    check("its bit is unregistered", unregister_bit(&words[own_word], 0) == 0);
    (void)close(file);
    // A child may have the file, too, until it ends.
    int error = EADDRINUSE;
    while (error == EADDRINUSE) {
        error = register_in(device, enabled_event, &words[own_word], 1);
    }
    check("the other bit is unregistered with the file", error == 0);
    check("it is unregistered", unregister_bit(&words[own_word], 1) == 0);
    error = delete_event("threads_own");
    check("the event can be removed", error == 0 || error == ENOENT || error == EBUSY);
}

/// Replaces a file while other threads write to it.
static void replace_file(void) {
    static uint8_t bit;
    bit = (uint8_t)((bit + 1) % bits);
    const int file = open_device();
    check("a file is opened", file >= 0);
    const int error = register_in(file, passing, &words[passing_word], bit);
    check("it has the event, if the file before last is closed", error == 0 || error == EADDRINUSE);
    if (error == 0) {
        check("the file is replaced", dup3(file, passing_file, O_CLOEXEC) == passing_file);
    }
    (void)close(file);
}

static void write_passing(void) {
    check("the event exists all the time", write_to(passing_file, 0));
}

_Noreturn static void run_child(void) {
    check("a child has no words", unregister_bit(&words[enabled_word], 0) == ENOENT);
    check("and can have them", register_in(device, enabled_event, &words[enabled_word], 0) == 0);
    for (int i = 0; i < 10; ++i) {
        write_enabled();
        write_passing();
    }
    _exit(0);
}

static void fork_and_kill(void) {
    static unsigned count;
    const pid_t child = fork();
    if (child == 0) {
        run_child();
    }
    check("there is a child", child > 0);
    int status = 0;
    const bool is_killed = ++count % 2 == 0;
    if (is_killed) {
        (void)usleep(count % 32 * 100);
        (void)kill(child, SIGKILL);
    }
    check("the child ends", waitpid(child, &status, 0) == child);
    check("and was killed or succeeded", status == 0 || (is_killed && WIFSIGNALED(status)));
}

static void unmap(void) {
    static unsigned count;
    const int kind = ++count % 2 == 0 ? MAP_SHARED : MAP_PRIVATE;
    void* const page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    check("there is a page", page != MAP_FAILED);
    check("a word of it is registered", register_in(device, enabled_event, page, 0) == 0);
    if (count % 3 == 0) {
        check("the page is emptied", madvise(page, page_size, MADV_DONTNEED) == 0);
    }
    check("the page is unmapped", munmap(page, page_size) == 0);
    check("the word is unregistered", unregister_bit(page, 0) == 0);
}

struct worker {
    const char* name;
    void (*work)(void);
    unsigned long rounds;
    pthread_t thread;
};

static struct worker workers[] = {
    {.name = "write_enabled", .work = write_enabled},
    {.name = "write_passing", .work = write_passing},
    {.name = "listen", .work = listen},
    {.name = "map_and_unmap", .work = map_and_unmap},
    {.name = "open_and_close", .work = open_and_close},
    {.name = "replace_file", .work = replace_file},
    {.name = "fork_and_kill", .work = fork_and_kill},
    {.name = "unmap", .work = unmap},
};
enum { workers_count = sizeof workers / sizeof *workers };

static void* run(void* argument) {
    struct worker* const worker = argument;
    do {
        worker->work();
        ++worker->rounds;
    } while (!atomic_load(&is_over));
    return NULL;
}

int main(int argc, char** argv) {
    device = open_device();
    passing_file = open_device();
    step("the device can be opened", device >= 0 && passing_file >= 0);
    // Otherwise the kernel patches its code when an event is enabled, which can crash emulated
    // machines with several processors.
    set_file(TRACING "options/record-cmd", "0");
    step("an event is registered",
         register_at(enabled_event, (void*)&words[enabled_word], 0, &enabled_index) == 0);
    step("and one that changes its file",
         register_in(passing_file, passing, &words[passing_word], 0) == 0);
    enable("threads_passing", true);
    (void)fflush(stdout);
    for (int i = 0; i < workers_count; ++i) {
        step("a thread is started",
             pthread_create(&workers[i].thread, NULL, run, &workers[i]) == 0);
    }
    (void)sleep(argc > 1 ? (unsigned)strtol(argv[1], NULL, 10) : 1);
    atomic_store(&is_over, true);
    for (int i = 0; i < workers_count; ++i) {
        (void)pthread_join(workers[i].thread, NULL);
        printf("%s: %lu rounds\n", workers[i].name, workers[i].rounds);
    }
    listen();
    step("no other bit is left", atomic_load(&words[enabled_word]) == 0);
    enable("threads_passing", false);
    (void)close(passing_file);
    (void)close(device);
    step("all events are removed", wait_until_removed(""));
    puts("ok: all threads");
    return 0;
}
