// SPDX-License-Identifier: MIT
//
// Checks that subscriptions of /dev/eventlog count each lost event, as root: in both modes, with
// several writing processes, while CPUs are turned off and on, and when writers or readers are
// killed. The argument is the number of seconds of each part.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

enum { writers = 4, batch = 50 };

/// Counts of all processes, in shared memory.
struct shared {
    atomic_ulong begun;  // events passed to write(2)
    atomic_ulong done;   // events that it has written
    atomic_bool is_over;
};

static struct shared* shared;
static uint32_t index_own;

struct many {
    uint32_t first, zero;
    struct {
        struct eventlog_batch_entry entry;
        uint64_t a;
        uint64_t more[4];
    } of[batch];
};

/// Writers continue when the subscription has ended.
static void write_until_the_end(void) {
    const uint32_t one[11] = {index_own};
    while (!atomic_load(&shared->is_over)) {
        if (write(device, one, sizeof one) == sizeof one) {
            atomic_fetch_add(&shared->done, 1);
        } else if (errno != EBADF) {
            _exit(1);
        }
    }
    _exit(0);
}

/// Writes single events and batches.
static void write_on(void) {
    static struct many many;
    many.first = EVENTLOG_BATCH;
    for (unsigned i = 0; i < batch; ++i) {
        many.of[i].entry = (struct eventlog_batch_entry){.write_index = index_own, .size = 40};
    }
    uint32_t one[11] = {index_own};
    while (!atomic_load(&shared->is_over)) {
        atomic_fetch_add(&shared->begun, batch + 1);
        const bool right = write(device, &many, sizeof many) == sizeof many &&
                           write(device, one, sizeof one) == sizeof one;
        if (!right) {
            _exit(1);
        }
        atomic_fetch_add(&shared->done, batch + 1);
    }
    _exit(0);
}

static void begin(pid_t* processes, void (*run)(void)) {
    atomic_store(&shared->begun, 0);
    atomic_store(&shared->done, 0);
    atomic_store(&shared->is_over, false);
    (void)fflush(stdout);
    for (int i = 0; i < writers; ++i) {
        processes[i] = fork();
        if (processes[i] == 0) {
            run();
        }
    }
}

static void begin_to_write(pid_t* processes) {
    begin(processes, write_on);
}

static bool end_writing(const pid_t* processes) {
    bool right = true;
    atomic_store(&shared->is_over, true);
    for (int i = 0; i < writers; ++i) {
        int status = -1;
        right &= waitpid(processes[i], &status, 0) == processes[i] && status == 0;
    }
    return right;
}

static bool is_later(const struct timespec* end) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

static struct timespec in_seconds(int seconds) {
    struct timespec end;
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    return end;
}

/// Reads slowly, so that events are lost.
static void read_for(int reader, int seconds, struct read_totals* read_totals) {
    const struct timespec end = in_seconds(seconds);
    while (!is_later(&end)) {
        (void)usleep(20000);
        for (int reads = 0; reads < 8 && read_once(reader, read_totals); ++reads) {
        }
    }
}

/// Reads nothing until more has been written than all buffers hold, so that a ring is full even on
/// a slow machine.
static void let_some_be_missing(void) {
    enum { ring_bytes = 2 << 17, least_record = 48 };
    const uint64_t rings = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
    const uint64_t enough = atomic_load(&shared->done) + rings * ring_bytes / least_record;
    while (atomic_load(&shared->done) <= enough) {
        (void)usleep(20000);
    }
}

static void conserve(const char* mode, bool overwrite, int seconds) {
    pid_t processes[writers];
    static struct read_totals read_totals;
    read_totals = (struct read_totals){0};
    const int reader = subscribe_or_exit(&(struct subscription_request){.overwrite = overwrite});
    begin_to_write(processes);
    read_for(reader, seconds, &read_totals);
    let_some_be_missing();
    step("all writers succeed", end_writing(processes));
    read_all(reader, &read_totals);
    const uint64_t attempted = atomic_load(&shared->done);
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    (void)printf("%s: attempted %lu, read %lu, lost %lu, overwritten %lu\n", mode,
                 (unsigned long)attempted, (unsigned long)read_totals.records,
                 (unsigned long)read_totals.lost, (unsigned long)read_totals.overwritten);
    step("each attempted event is read or counted",
         read_totals.records + read_totals.lost + read_totals.overwritten == attempted);
    step("the kernel's counts match",
         counts.recorded + counts.lost == attempted && counts.read == read_totals.records &&
             counts.lost == read_totals.lost && counts.overwritten == read_totals.overwritten);
    step("some events are read and some are lost",
         read_totals.records > 0 && (overwrite ? read_totals.overwritten : read_totals.lost) > 0);
    (void)close(reader);
}

/// No event is recorded after the end, and no earlier event is missing. The end can occur between a
/// write's acceptance and its record, so that each writer may have one accepted event more.
static void conserve_what_was_before_the_end(int seconds) {
    pid_t processes[writers];
    static struct read_totals read_totals;
    const int reader = subscribe_or_exit(&(struct subscription_request){.overwrite = true});
    begin(processes, write_until_the_end);
    read_for(reader, seconds, &read_totals);
    step("it ends while writers run", end_subscription(reader) == 0);
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    read_all(reader, &read_totals);
    step("all writers succeed", end_writing(processes));
    const uint64_t counted_at_end =
        read_totals.records + read_totals.lost + read_totals.overwritten;
    const uint64_t attempted = atomic_load(&shared->done);
    step("each event up to the end is read or counted",
         counted_at_end == counts.recorded + counts.lost && read_totals.records > 0);
    const struct eventlog_statistics later = statistics(reader, EVENTLOG_ALL_RINGS);
    step("and none follows the end",
         later.recorded == counts.recorded && later.lost == counts.lost);
    step("their number is that of the attempts",
         attempted >= counted_at_end && attempted - counted_at_end <= writers);
    (void)close(reader);
}

static bool set_cpu(const char* state) {
    const int file = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC);
    const bool done = file >= 0 && write(file, state, 1) == 1;
    (void)close(file);
    return done;
}

static void conserve_under_cpu_hotplug(int seconds) {
    if (!set_cpu("0")) {
        puts("without: a second CPU");
        return;
    }
    pid_t processes[writers];
    static struct read_totals read_totals;
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    const uint64_t memory = statistics(reader, EVENTLOG_ALL_RINGS).memory;
    begin_to_write(processes);
    read_for(reader, 1, &read_totals);
    step("a CPU is turned on", set_cpu("1"));
    step("and has memory", statistics(reader, EVENTLOG_ALL_RINGS).memory > memory);
    const struct timespec end = in_seconds(seconds);
    while (!is_later(&end)) {
        (void)read_once(reader, &read_totals);
        step("it is turned off and on", set_cpu("0") && set_cpu("1"));
    }
    read_for(reader, 1, &read_totals);
    step("all writers succeed", end_writing(processes));
    read_all(reader, &read_totals);
    step("each attempted event is read or counted",
         read_totals.records + read_totals.lost == atomic_load(&shared->done));
    step("also on the new CPU", statistics(reader, 1).recorded > 0);
    (void)close(reader);
}

static void survive_writers(void) {
    pid_t processes[writers];
    static struct read_totals read_totals;
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    begin_to_write(processes);
    read_for(reader, 1, &read_totals);
    for (int i = 0; i < writers; ++i) {
        (void)kill(processes[i], SIGKILL);
        (void)waitpid(processes[i], NULL, 0);
    }
    read_all(reader, &read_totals);
    const uint64_t counted_at_end = read_totals.records + read_totals.lost;
    step("all events that killed writers had written are there",
         counted_at_end >= atomic_load(&shared->done) &&
             counted_at_end <= atomic_load(&shared->begun));
    (void)close(reader);
}

static void survive_readers(void) {
    int ready[2];
    step("there is a pipe", pipe(ready) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int reader = subscribe_or_exit(&(struct subscription_request){.blocking = true});
        char byte = 0;
        (void)!write(ready[1], &byte, 1);
        (void)!read(reader, &byte, 1);
        _exit(0);
    }
    char byte = 0;
    step("the subscription sets the bit",
         read(ready[0], &byte, 1) == 1 && (word >> enable_bit & 1U) != 0);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    step("killing the reader clears it", (word >> enable_bit & 1U) == 0);
    (void)close(ready[0]);
    (void)close(ready[1]);
}

int main(int count, char** arguments) {
    const int seconds = count > 1 ? atoi(arguments[1]) : 1;
    device = open_device();
    step("the device can be opened", device >= 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    step("an event is registered",
         shared != MAP_FAILED &&
             register_at("conserve u64 a; struct block b 32", &word, enable_bit, &index_own) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_own, .level = 3, .name = "one"};
    uint32_t number = 0;
    step("and published", publish(device, "conserve", &offer, 1, &number) == 0);
    conserve("discard", false, seconds);
    conserve("overwrite", true, seconds);
    conserve_what_was_before_the_end(seconds);
    conserve_under_cpu_hotplug(seconds);
    survive_writers();
    survive_readers();
    (void)close(device);
    puts("ok: all events are counted");
    return 0;
}
