// SPDX-License-Identifier: MIT
//
// Waiting readers, and the ends of channels and processes.
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/eventlog_relay/channel.h"
#include "module/eventlog_relay/trials.h"
#include "steps.h"

/// The state of a process as in ps(1): S can be interrupted, D cannot.
static char state_of(pid_t process) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    (void)close(file);
    text[size < 0 ? 0 : size] = '\0';
    const char* name = strrchr(text, ')');
    return name == NULL || name[1] == '\0' ? '?' : name[2];
}

/// Waits until the process sleeps in one of the states at five asleep in a row.
static void wait_until_asleep(pid_t process, const char* states) {
    int asleep = 0;
    for (int tries = 0; asleep < 5 && tries < 6000; ++tries) {
        (void)usleep(10000);
        asleep = strchr(states, state_of(process)) != NULL ? asleep + 1 : 0;
    }
    step("it waits", asleep == 5);
}

static void expect_exit(pid_t child) {
    int status = -1;
    step("it ends", waitpid(child, &status, 0) == child && WIFEXITED(status) && status == 0);
}

void try_waiting_for_the_end(void) {
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)close(file);
        struct pollfd one = {.fd = buffer, .events = POLLIN};
        _exit(poll(&one, 1, -1) == 1 && (one.revents & POLLERR) != 0 ? 0 : 1);
    }
    wait_until_asleep(child, "S");
    (void)close(file);
    expect_exit(child);
    (void)close(buffer);
}

/// Reads to a page that userfaultfd never supplies, so that the read does not return.
static void read_for_ever(int buffer) {
    const int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_api api = {.api = UFFD_API};
    struct uffdio_register range = {.range = {.start = (uintptr_t)page, .len = 4096},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 &&
        ioctl(faults, UFFDIO_REGISTER, &range) == 0) {
        (void)read(buffer, page, 4096);
    }
    _exit(1);
}

void try_reading_at_length(void) {
    struct options other = options_of(0);
    memcpy(other.name, "other", sizeof "other");
    const int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    (void)close(faults);
    if (faults < 0) {
        puts("without: reading at length, for which the kernel has no userfaultfd");
        return;
    }
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    (void)write_batch(file, 10);
    const pid_t reader = fork_child();
    if (reader == 0) {
        (void)close(file);
        read_for_ever(buffer);
    }
    wait_until_asleep(reader, "SD");
    const pid_t resetter = fork_child();
    if (resetter == 0) {
        (void)close(file);
        _exit(try_command("reset") == EINTR ? 0 : 1);
    }
    wait_until_asleep(resetter, "D");
    int ends[2];
    char byte = 0;
    step("a pipe", pipe(ends) == 0);
    const pid_t last = fork_child();
    if (last == 0) {
        _exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
    }
    (void)close(file);
    step("the last owner of the channel ends", write(ends[1], &byte, 1) == 1);
    wait_until_asleep(last, "D");
    step("its name is still in use", try_create(options_of(0)) == -EEXIST);
    const int attached = open(DEVICE, O_RDWR | O_CLOEXEC);
    step("but attaching does not find it", ioctl(attached, ATTACH, "trial") < 0 && errno == ENOENT);
    const int another = try_create(other);
    step("another is made meanwhile", another >= 0 && ioctl(attached, ATTACH, "other") == 0);
    (void)close(attached);
    (void)close(another);
    step("the resetting process can be killed", kill(resetter, SIGKILL) == 0);
    step("and ends", waitpid(resetter, NULL, 0) == resetter);
    expect_exit(last);
    (void)close(create(0));
    (void)close(ends[0]);
    (void)close(ends[1]);
    step("the reading process can be killed, too", kill(reader, SIGKILL) == 0);
    step("and ends, too", waitpid(reader, NULL, 0) == reader);
    (void)close(buffer);
}

void open_concurrently(void) {
    enum { rounds = 100 };
    const pid_t child = fork_child();
    if (child == 0) {
        pin(1);
        while (getppid() != 1) {
            const int buffer = open_part("cpu0", O_RDONLY);
            struct pollfd one = {.fd = buffer, .events = POLLIN};
            if (buffer >= 0 && (poll(&one, 1, 0) < 0 || read(buffer, text, sizeof text) < 0)) {
                _exit(1);
            }
            (void)close(buffer);
        }
        _exit(0);
    }
    for (int round = 0; round < rounds; ++round) {
        const int file = create(0);
        (void)write_batch(file, 1);
        (void)close(file);
    }
    int status = 0;
    step("nothing has failed", waitpid(child, &status, WNOHANG) == 0 && kill(child, SIGKILL) == 0);
    step("it has ended", waitpid(child, NULL, 0) == child);
}

void try_killed(void) {
    int ends[2];
    char byte = 0;
    step("a pipe", pipe(ends) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)create(0);
        (void)write(ends[1], &byte, 1);
        for (;;) {
            (void)pause();
        }
    }
    step("a channel of another process",
         read(ends[0], &byte, 1) == 1 && access(FOLDER "trial", F_OK) == 0);
    step("killed", kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
    step("its channel is removed", access(FOLDER "trial", F_OK) < 0 && errno == ENOENT);
}

void try_open_buffer(void) {
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    (void)close(file);
    step("R8: rmmod is refused",
         syscall(SYS_delete_module, "eventlog", O_NONBLOCK) < 0 && errno == EWOULDBLOCK);
    (void)close(buffer);
    step("the module stays", true);
}
