// SPDX-License-Identifier: MIT
//
// Options, files and batches of channels.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module/eventlog_relay/channel.h"
#include "module/eventlog_relay/trials.h"
#include "steps.h"

void try_options(void) {
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

void try_files(void) {
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
    step("R21: the mapping is counted", stat_of("cpu0", "mapped ") == 1);
    void* again = mmap(NULL, all, PROT_READ, MAP_SHARED, buffer, 0);
    step("R21: and each further one",
         again != MAP_FAILED && stat_of("cpu0", "mapped ") == 2 && stat_of("cpu1", "mapped ") == 0);
    (void)munmap(again, all);
    step("R21: until it ends", stat_of("cpu0", "mapped ") == 1);
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

void try_global(void) {
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

void try_hidden(void) {
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

void try_hotplug(void) {
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

// `volatile` hides from the compiler that some calls pass an invalid pointer on purpose.
static int error_of(int file, const void* volatile bytes, size_t size) {
    return write(file, bytes, size) < 0 ? errno : 0;
}

/// A batch of words.
#define ERROR_OF(file, ...) \
    error_of(file, (const uint64_t[]){__VA_ARGS__}, sizeof(const uint64_t[]){__VA_ARGS__})

/// Word 0 of a record of event 1.
static uint64_t head_of(uint64_t kind, uint64_t size) {
    return UINT64_C(1) << 42U | kind << 40U | size << 32U;
}

static void try_bad_records(int file) {
    enum { short_one = 0, context = 1, extended = 2, marker = 3 };
    const uint64_t thread = UINT64_C(5) << 32U;
    step("without a context", ERROR_OF(file, head_of(short_one, 8), 0) == EINVAL);
    step("behind an extended one",
         ERROR_OF(file, head_of(extended, 0), thread, 0, head_of(short_one, 0)) == EINVAL);
    step("behind context 0, which is none",
         ERROR_OF(file, head_of(context, 0), 0, head_of(short_one, 0)) == EINVAL);
    step("without an event", ERROR_OF(file, 0, 0) == EINVAL);
    step("a marker", ERROR_OF(file, head_of(marker, 0), thread) == EINVAL);
    step("half a context", ERROR_OF(file, head_of(context, 0)) == EINVAL);
    step("half an extended header", ERROR_OF(file, head_of(extended, 0), thread) == EINVAL);
    step("two sizes", ERROR_OF(file, head_of(extended, 8), thread, 8, 0) == EINVAL);
    step("extension words",
         ERROR_OF(file, head_of(extended, 0), thread, UINT64_C(1) << 48U, 0) == EINVAL);
    step("reserved bits",
         ERROR_OF(file, head_of(extended, 0), thread, UINT64_C(1) << 56U) == EINVAL);
    step("a good one",
         ERROR_OF(file, head_of(context, 8), thread, 1, head_of(short_one, 1), 1) == 0);
}

void try_bad_batches(void) {
    static uint8_t large[65544];
    const int other = open(DEVICE, O_RDWR | O_CLOEXEC);
    const struct record good = record_at(1);
    struct record record = good;
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
    step("half a word", error_of(other, &record, 4) == EINVAL);
    record.words[2] |= 0xffff;
    step("larger than all", error_of(other, &record, sizeof record) == EINVAL);
    record = good;
    record.words[2] |= 4U << 16U;
    step("an unknown flag", error_of(other, &record, sizeof record) == EINVAL);
    record = good;
    --record.words[2];
    record.payload[payload - 1] = 1;
    step("padding that is not zero", error_of(other, &record, sizeof record) == EINVAL);
    record = good;
    record.words[2] += subbuf_size - record_size;
    memcpy(large, record.words, sizeof record.words);
    step("R17: too large for a sub-buffer", error_of(other, large, subbuf_size) == EINVAL);
    step("an invalid address", error_of(other, (void*)8, 64) == EFAULT);
    step("none of these is recorded", stat_of("cpu0", "recorded ") == 1);
    try_bad_records(other);
    step("all or nothing of a batch", stat_of("cpu0", "recorded ") == 3);
    (void)close(file);
    step("after its end", error_of(other, &good, sizeof good) == ENODEV);
    (void)close(other);
}
