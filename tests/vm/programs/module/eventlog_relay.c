// SPDX-License-Identifier: MIT
//
// Tests relay channels of the kernel module as root on two processors: creating, writing, reading,
// mapping and losses. The numbers of steps are those of the list in test_relay.py.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"

#define DEVICE "/dev/eventlog_relay"
#define FOLDER "/sys/kernel/debug/eventlog/"

enum { overwrite = 1, global = 2, hidden = 4, magic = 0x594c4552 };
enum { subbuf_size = 4096, subbuf_count = 4, payload = 40, record_size = 64, writers = 4 };
enum { in_subbuf = (subbuf_size - 40) / record_size };

struct options {
    uint32_t size, flags, subbuf_size, subbuf_count;
    char name[32];
};

struct header {
    uint32_t magic, cpu;
    uint64_t sequence, records_before, lost_before;
    uint32_t records, used;
};

struct record {
    uint32_t size;
    uint16_t provider, event;
    uint64_t time;
    uint32_t thread;
    uint16_t cpu, flags;
    uint8_t payload[payload];
};

#define CREATE _IOW('*', 64, struct options)
#define ATTACH _IOW('*', 65, char[32])
#define SHOW _IO('*', 66)

static char text[65536];

static void pin(size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    step("pinned", sched_setaffinity(0, sizeof set, &set) == 0);
}

static struct options options_of(uint32_t flags) {
    const struct options made = {sizeof made, flags, subbuf_size, subbuf_count, "trial"};
    return made;
}

static int try_create(struct options wanted) {
    const int file = open(DEVICE, O_RDWR | O_CLOEXEC);
    step("the device can be opened", file >= 0);
    if (ioctl(file, CREATE, &wanted) == 0) {
        return file;
    }
    const int error = errno;
    (void)close(file);
    return -error;
}

static int create(uint32_t flags) {
    const int file = try_create(options_of(flags));
    step("a channel can be made", file >= 0);
    return file;
}

static int open_part(const char* name, int how) {
    char path[128];
    (void)snprintf(path, sizeof path, FOLDER "trial/%s", name);
    return open(path, how | O_CLOEXEC);
}

static void send_command(const char* command) {
    const int file = open_part("control", O_WRONLY);
    step(command, file >= 0 && write(file, command, strlen(command)) == (ssize_t)strlen(command));
    (void)close(file);
}

static int try_command(const char* command) {
    const int file = open_part("control", O_WRONLY);
    const int error = write(file, command, strlen(command)) < 0 ? errno : 0;
    (void)close(file);
    return error;
}

/// A number of the file `stats`; UINT64_MAX if it is missing.
static uint64_t stat_of(const char* buffer, const char* what) {
    const int file = open_part("stats", O_RDONLY);
    const ssize_t size = read(file, text, sizeof text - 1);
    (void)close(file);
    step("stats can be read", size > 0);
    text[size] = '\0';
    const char* line = strstr(text, buffer);
    const char* at = line == NULL ? NULL : strstr(line, what);
    return at == NULL ? UINT64_MAX : strtoull(at + strlen(what), NULL, 10);
}

static size_t write_batch(int file, size_t count) {
    static struct record batch[1024];
    static uint64_t time;
    for (size_t i = 0; i < count; ++i) {
        batch[i] = (struct record){.size = record_size, .event = 1, .time = ++time};
    }
    const ssize_t written = write(file, batch, count * sizeof batch[0]);
    return written < 0 ? 0 : (size_t)written / sizeof batch[0];
}

struct seen {
    uint64_t records, subbufs, first, next, lost, gaps;
    bool right;
};

/// Reads a buffer until it is empty, and adds what was read to `seen`.
static void drain(int file, struct seen* seen) {
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
            seen->right = seen->right && record.size == record_size && record.event == 1;
            seen->records += 1;
            seen->next += 1;
            at += record_size;
        }
    }
}

static void try_options(void) {  // R1
    struct options wanted = options_of(0);
    wanted.subbuf_size = 0;
    step("R1: no size", try_create(wanted) == -EINVAL);
    wanted = options_of(0);
    wanted.subbuf_count = 0;
    step("R1: no count", try_create(wanted) == -EINVAL);
    wanted = options_of(0);
    wanted.subbuf_size = 1U << 24;
    wanted.subbuf_count = 1024;
    step("R1: too much", try_create(wanted) == -EINVAL);
    wanted = options_of(16);
    step("R1: an unknown flag", try_create(wanted) == -EINVAL);
    wanted = options_of(0);
    memcpy(wanted.name, "../up", 6);
    step("R1: a name with a path", try_create(wanted) == -EINVAL);
    memset(wanted.name, 'a', sizeof wanted.name);
    step("R1: a name without a NUL", try_create(wanted) == -EINVAL);
    const int file = create(0);
    step("R1: a name that is in use", try_create(options_of(0)) == -EEXIST);
    (void)close(file);
}

static void try_files(void) {  // R2, R5, R7, R8, R22
    step("R8: no file before", open_part("cpu0", O_RDONLY) < 0 && errno == ENOENT);
    const int file = create(0);
    struct stat status;
    step("R2: cpu0", stat(FOLDER "trial/cpu0", &status) == 0);
    step("R2: its mode", (status.st_mode & 07777) == 0400);
    step("R2: cpu1", stat(FOLDER "trial/cpu1", &status) == 0);
    step("R2: no more", stat(FOLDER "trial/cpu2", &status) < 0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const size_t all = (size_t)subbuf_size * subbuf_count;
    void* whole = mmap(NULL, all, PROT_READ, MAP_SHARED, buffer, 0);
    step("R5: all of it is mapped", whole != MAP_FAILED);
    step("R5: a part is not",
         mmap(NULL, subbuf_size, PROT_READ, MAP_SHARED, buffer, 0) == MAP_FAILED);
    step("R5: nor memory behind it",
         mmap(NULL, all, PROT_READ, MAP_SHARED, buffer, (off_t)all) == MAP_FAILED &&
             errno == EINVAL);
    const struct header* first = whole;
    step("R12, R13, R22: it begins with a header",
         first->magic == magic && first->sequence == 0 && first->used == 0);
    (void)write_batch(file, 1);
    const int out = open("/tmp/out", O_WRONLY | O_CREAT, 0600);
    step("R7: sendfile is refused", sendfile(out, buffer, NULL, 64) < 0);
    (void)close(out);
    (void)close(file);
    step("R8: the file is removed with the channel", open_part("cpu0", O_RDONLY) < 0);
    struct pollfd one = {.fd = buffer, .events = POLLIN};
    step("R6: poll reports the end", poll(&one, 1, -1) == 1 && (one.revents & POLLERR) != 0);
    step("R14: the current sub-buffer is ended",
         __atomic_load_n(&first->used, __ATOMIC_ACQUIRE) == sizeof *first + record_size);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R8: an open file stays readable", seen.right && seen.records == 1);
    (void)munmap(whole, all);
    (void)close(buffer);
}

static void try_discard(void) {  // R3, R4, R6, R9, R16, R18, R25
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    struct pollfd one = {.fd = buffer, .events = POLLIN};
    struct seen seen = {0};
    step("R6: nothing yet", poll(&one, 1, 0) == 0);
    step("R3: a sub-buffer and one more", write_batch(file, in_subbuf + 1) == in_subbuf + 1);
    step("R6: a sub-buffer is full",
         poll(&one, 1, -1) == 1 && (one.revents & (POLLIN | POLLRDNORM)) != 0);
    drain(buffer, &seen);
    step("R3, R4: without padding",
         seen.right && seen.records == in_subbuf + 1 && seen.subbufs == 2);
    const uint64_t before = stat_of("cpu0", "recorded ");
    step("R9: more than there is room for", write_batch(file, 1000) == 1000);
    const uint64_t lost = stat_of("cpu0", "lost ");
    step("R9, R16, R25: recorded and lost are all",
         lost > 0 && stat_of("cpu0", "recorded ") - before + lost == 1000);
    drain(buffer, &seen);
    step("R9: until there is room again", write_batch(file, 1) == 1);
    drain(buffer, &seen);
    step("R9: the loss is reported at its place",
         seen.right && seen.lost == lost && seen.gaps == 0);
    step("R9: all records are read or lost", seen.records + lost == in_subbuf + 1 + 1000 + 1);
    const uint64_t subbufs = stat_of("cpu0", "produced ");
    send_command("flush");
    step("R18: flush ends a sub-buffer", stat_of("cpu0", "produced ") == subbufs + 1);
    send_command("flush");
    step("R18: but none that is empty", stat_of("cpu0", "produced ") == subbufs + 1);
    (void)write_batch(file, 10);
    send_command("reset");
    (void)write_batch(file, 1);
    struct seen after = {.next = seen.next};
    drain(buffer, &after);
    step("R18: reset leaves a gap", after.records == 1 && after.gaps == 10);
    step("an unknown command", try_command("flush me") == EINVAL);
    (void)write_batch(file, 1000);
    drain(buffer, &after);
    const uint64_t all_lost = stat_of("cpu0", "lost ");
    step("more is lost, and not yet reported", all_lost > lost && after.lost < all_lost);
    (void)close(file);
    drain(buffer, &after);
    step("R9: the end reports the last losses", after.lost == all_lost);
    (void)close(buffer);
}

/// Reads a part of a sub-buffer, and then releases the whole sub-buffer.
static void try_reading_and_consuming(void) {
    struct header header;
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    step("two sub-buffers", write_batch(file, (size_t)2 * in_subbuf) == (size_t)2 * in_subbuf);
    step("a part is read", read(buffer, text, sizeof header + (size_t)3 * record_size) ==
                               (ssize_t)(sizeof header + (size_t)3 * record_size));
    send_command("consumed 0 0");
    struct record record;
    step("nothing is released",
         read(buffer, &record, sizeof record) == sizeof record && record.size == record_size);
    step("nothing is read twice",
         read(buffer, text, (size_t)2 * record_size) == (ssize_t)2 * record_size);
    send_command("consumed 0 1");
    step("R14: the next one is read from its beginning",
         read(buffer, &header, sizeof header) == sizeof header && header.magic == magic &&
             header.sequence == 1);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("a part of the last one", write_batch(file, 2) == 2);
    drain(buffer, &seen);
    send_command("consumed 0 1");
    step("R14: an incomplete sub-buffer is not released", read(buffer, text, sizeof text) == 0);
    (void)close(buffer);
    (void)close(file);
}

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

/// A reader that waits for records wakes when the channel ends.
static void try_waiting_for_the_end(void) {
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

static pid_t fork_child(void) {
    (void)fflush(stdout);
    const pid_t child = fork();
    step("fork", child >= 0);
    return child;
}

/// A read that does not return blocks resetting and closing its channel, and no other channel.
static void try_reading_at_length(void) {
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

/// Opening a buffer while its channel begins or ends yields a complete buffer or an error.
static void open_concurrently(void) {
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

static void try_mapped(void) {  // R5, R14, R21
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const size_t all = (size_t)subbuf_size * subbuf_count;
    const uint8_t* whole = mmap(NULL, all, PROT_READ, MAP_SHARED, buffer, 0);
    step("mapped", whole != MAP_FAILED);
    uint64_t records = 0;
    for (uint64_t round = 0; round < 50; ++round) {
        step("R14: a batch that fits", write_batch(file, in_subbuf) == in_subbuf);
        send_command("flush");
        const struct header* header =
            (const void*)(whole + (round % subbuf_count) * (size_t)subbuf_size);
        step("R14: the next sub-buffer", __atomic_load_n(&header->used, __ATOMIC_ACQUIRE) ==
                                                 sizeof *header + (size_t)in_subbuf * record_size &&
                                             header->sequence == round &&
                                             header->records_before == records &&
                                             header->lost_before == 0);
        records += header->records;
        send_command("consumed 0 1");
    }
    step("R14: nothing is lost", stat_of("cpu0", "lost ") == 0 && records == 50ULL * in_subbuf);
    send_command("consumed 0 4");
    step("R14: no more than there is",
         stat_of("cpu0", "consumed ") == stat_of("cpu0", "produced "));
    step("R14: more than there can be", try_command("consumed 0 5") == EINVAL);
    step("R14: a processor that does not exist", try_command("consumed 4000000000 1") == EINVAL);
    (void)munmap((void*)(uintptr_t)whole, all);
    (void)close(buffer);
    (void)close(file);
}

static void try_overwrite(void) {  // R10, R14
    const int file = create(overwrite);
    const int buffer = open_part("cpu0", O_RDONLY);
    step("R10: never full", write_batch(file, 1000) == 1000);
    send_command("consumed 0 4");
    step("R14: consuming is ignored", stat_of("cpu0", "consumed ") == 0);
    const uint64_t overwritten_records = stat_of("cpu0", "overwritten ");
    step("R10: nothing is lost", stat_of("cpu0", "lost ") == 0 && overwritten_records > 0);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R10: the newest are read", seen.right && seen.next == 1000);
    step("R10: the rest was overwritten",
         seen.gaps == overwritten_records && seen.records + overwritten_records == 1000);
    (void)close(buffer);
    (void)close(file);
}

static void try_global(void) {  // R19
    const int file = create(global);
    const int buffer = open_part("all", O_RDONLY);
    step("R19: one file", buffer >= 0 && open_part("cpu0", O_RDONLY) < 0);
    (void)write_batch(file, 3);
    pin(1);
    (void)write_batch(file, 4);
    pin(0);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R19: for all processors", seen.right && seen.records == 7 && seen.subbufs == 1);
    (void)close(buffer);
    (void)close(file);
}

static void try_hidden(void) {  // R20
    const int file = create(hidden);
    step("R20: no file", open_part("cpu0", O_RDONLY) < 0 && errno == ENOENT);
    (void)write_batch(file, in_subbuf + 5);
    step("R20: late files", ioctl(file, SHOW) == 0);
    step("R20: only once", ioctl(file, SHOW) < 0 && errno == EEXIST);
    const int buffer = open_part("cpu0", O_RDONLY);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R20: with what was written before", seen.right && seen.records == in_subbuf + 5);
    (void)close(buffer);
    (void)close(file);
}

static void try_hotplug(void) {  // R23
    set_file("/sys/devices/system/cpu/cpu1/online", "0");
    const int file = create(0);
    step("R23: no file of an offline processor", open_part("cpu1", O_RDONLY) < 0);
    set_file("/sys/devices/system/cpu/cpu1/online", "1");
    const int buffer = open_part("cpu1", O_RDONLY);
    step("R23: the file appears with its processor", buffer >= 0);
    pin(1);
    (void)write_batch(file, 9);
    pin(0);
    set_file("/sys/devices/system/cpu/cpu1/online", "0");
    send_command("flush");
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R23: its records stay", seen.right && seen.records == 9);
    set_file("/sys/devices/system/cpu/cpu1/online", "1");
    (void)close(buffer);
    (void)close(file);
}

static int error_of(int file, const void* bytes, size_t size) {
    return write(file, bytes, size) < 0 ? errno : 0;
}

static void try_bad_batches(void) {  // R17, R24
    static uint8_t large[65544];
    const int other = open(DEVICE, O_RDWR | O_CLOEXEC);
    struct record record = {.size = record_size};
    char name[32] = "trial";
    step("R24: without a channel", error_of(other, &record, sizeof record) == EBADF);
    step("no such channel", ioctl(other, ATTACH, name) < 0 && errno == ENOENT);
    const int file = create(0);
    step("attached", ioctl(other, ATTACH, name) == 0);
    step("once", ioctl(other, ATTACH, name) < 0 && errno == EBUSY);
    step("only the creator can show the files", ioctl(other, SHOW) < 0 && errno == EPERM);
    step("a good one", error_of(other, &record, sizeof record) == 0);
    step("too large a batch", error_of(other, large, sizeof large) == E2BIG);
    step("half a record", error_of(other, &record, 24) == EINVAL);
    step("half a header", error_of(other, &record, 8) == EINVAL);
    record.size = 8;
    step("smaller than its header", error_of(other, &record, sizeof record) == EINVAL);
    record.size = UINT32_MAX;
    step("larger than all", error_of(other, &record, sizeof record) == EINVAL);
    record.size = record_size;
    record.flags = 4;
    step("an unknown flag", error_of(other, &record, sizeof record) == EINVAL);
    record.flags = 0;
    record.size = record_size - 1;
    record.payload[payload - 1] = 1;
    step("padding that is not zero", error_of(other, &record, sizeof record) == EINVAL);
    ((struct record*)(void*)large)->size = subbuf_size;
    step("R17: too large for a sub-buffer", error_of(other, large, subbuf_size) == EINVAL);
    step("an invalid address", error_of(other, (void*)8, 64) == EFAULT);
    step("none of these is recorded", stat_of("cpu0", "recorded ") == 1);
    (void)close(file);
    record.size = record_size;
    step("after its end", error_of(other, &record, sizeof record) == ENODEV);
    (void)close(other);
}

/// Each written record is in a buffer, lost or overwritten. The buffer reports each record that its
/// reader misses.
static void conserve(uint32_t flags) {
    enum { rounds = 200, each = 50 };
    const int file = create(flags);
    (void)fflush(stdout);
    for (int i = 0; i < writers; ++i) {
        if (fork() == 0) {
            for (int round = 0; round < rounds; ++round) {
                if (write_batch(file, each) != each) {
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    const char* names[] = {"cpu0", "cpu1"};
    struct seen seen[2] = {{0}, {0}};
    int buffers[2] = {open_part("cpu0", O_RDONLY), open_part("cpu1", O_RDONLY)};
    bool good = true;
    for (int left = writers; left > 0;) {
        int status = 0;
        const bool ended = waitpid(-1, &status, WNOHANG) > 0;
        left -= ended;
        good = good && (!ended || status == 0);
        for (int i = 0; i < 2 && (flags & overwrite) == 0; ++i) {
            drain(buffers[i], &seen[i]);
        }
    }
    step("writers end well", good);
    uint64_t all = 0;
    for (int i = 0; i < 2; ++i) {
        drain(buffers[i], &seen[i]);
        if ((flags & overwrite) == 0) {
            send_command("flush");  // A new sub-buffer reports the last losses.
        }
        drain(buffers[i], &seen[i]);
        all += seen[i].records + seen[i].lost + seen[i].gaps;
        step("the counts match stats", seen[i].right &&
                                           seen[i].lost == stat_of(names[i], "lost ") &&
                                           seen[i].next == stat_of(names[i], "recorded ") &&
                                           seen[i].gaps == stat_of(names[i], "overwritten "));
        (void)close(buffers[i]);
    }
    printf("read %" PRIu64 " lost %" PRIu64 " overwritten %" PRIu64 "\n",
           seen[0].records + seen[1].records, seen[0].lost + seen[1].lost,
           seen[0].gaps + seen[1].gaps);
    step("all are accounted for", all == (uint64_t)writers * rounds * each);
    (void)close(file);
}

static void try_killed(void) {
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

/// An open file of a buffer keeps the module loaded after its channel has ended.
static void try_open_buffer(void) {
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    (void)close(file);
    step("R8: rmmod is refused",
         syscall(SYS_delete_module, "eventlog", O_NONBLOCK) < 0 && errno == EWOULDBLOCK);
    (void)close(buffer);
    step("the module stays", true);
}

int main(int count, char** arguments) {
    pin(0);
    if (count > 1 && strcmp(arguments[1], "held") == 0) {
        try_open_buffer();
        return 0;
    }
    try_options();
    try_files();
    try_discard();
    try_mapped();
    try_overwrite();
    try_global();
    try_hidden();
    try_hotplug();
    try_bad_batches();
    try_reading_and_consuming();
    try_waiting_for_the_end();
    try_reading_at_length();
    open_concurrently();
    cpu_set_t both;
    CPU_ZERO(&both);
    CPU_SET(0, &both);
    CPU_SET(1, &both);
    (void)sched_setaffinity(0, sizeof both, &both);
    conserve(0);
    conserve(overwrite);
    try_killed();
    step("all relay steps", true);
    return 0;
}
