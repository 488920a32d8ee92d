// SPDX-License-Identifier: MIT
//
// Runs the loops of the module eventlog_measure in turns, writes events one by one and in batches,
// and prints the times: bench/kernel.py, in a virtual machine, as root.
//
// usage: kernel_bench TURNS
//
// Prints a line for each turn of each loop: its name, nanoseconds for one event, events lost.
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <linux/eventlog_relay.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "listening.h"

enum { in_kernel = 4000, written = 1000, fields = 4 };
#define TURN "/sys/module/eventlog_measure/parameters/turn"

struct payload {
    uint64_t field[fields];
};

struct single {
    uint32_t index;
    struct payload payload;
} __attribute__((packed));

static struct {
    uint32_t head[2];
    struct {
        struct eventlog_batch_entry head;
        struct payload payload;
    } of[written];
} batch;

// One with its context, then records that leave it out.
static struct {
    uint64_t first[2];
    struct {
        uint64_t head;
        struct payload payload;
    } of[written];
} records;

static int device = -1;
static int relay = -1;
static struct single single;
static uint32_t word;  // not 0 while there is a listener

static void publish(void) {
    struct eventlog_registration registration = {
        .size = sizeof registration,
        .enable_size = sizeof word,
        .enable_addr = (uintptr_t)&word,
        .name_args = (uintptr_t) "bench_written u64 first; u64 second; u64 third; u64 fourth",
    };
    device = open(EVENTLOG_DEVICE_PATH, O_RDWR | O_CLOEXEC);
    check(device >= 0, EVENTLOG_DEVICE_PATH " cannot be opened");
    check(ioctl(device, EVENTLOG_REGISTER, &registration) == 0, "the event is not registered");
    single.index = registration.write_index;
    const struct eventlog_published_event offer = {
        .write_index = single.index, .level = 3, .name = "written"};
    static const char schema[] = "schema";
    const struct eventlog_publication publication = {
        .size = sizeof publication,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t)schema,
        .schema_size = sizeof schema,
        .schema_hash = 1,
        .name = "measure",
    };
    check(ioctl(device, EVENTLOG_PUBLISH, &publication) == 0, "the provider is not published");
}

static void make_channel(void) {
    const struct eventlog_relay_options options = {
        .size = sizeof options,
        .flags = EVENTLOG_RELAY_OVERWRITE | EVENTLOG_RELAY_DEFER_FILES,
        .subbuf_size = buffer_size,
        .subbuf_count = buffer_count,
        .name = "measure",
    };
    relay = open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC);
    check(relay >= 0 && ioctl(relay, EVENTLOG_RELAY_CREATE, &options) == 0,
          "there is no relay channel");
}

static void fill_in(void) {
    batch.head[0] = EVENTLOG_BATCH;
    for (uint32_t each = 0; each < written; ++each) {
        batch.of[each].head.write_index = single.index;
        batch.of[each].head.size = sizeof(struct payload);
        batch.of[each].payload.field[0] = each;
        records.of[each].head = UINT64_C(1) << EVENTLOG_EVENT_SHIFT |
                                (uint64_t)sizeof(struct payload) << EVENTLOG_SHORT_SIZE_SHIFT;
        records.of[each].payload.field[0] = each;
    }
    records.first[0] = UINT64_C(1) << EVENTLOG_EVENT_SHIFT | (uint64_t)EVENTLOG_KIND_CONTEXT
                                                                 << EVENTLOG_KIND_SHIFT;
    records.first[1] = UINT64_C(1) << EVENTLOG_THREAD_SHIFT;
}

/// Runs a loop of the module. If the subscription wants the loop's events, counts those received.
static void run_in_kernel(const char* name, bool is_subscribed) {
    const uint64_t before = count_recorded();
    char answer[64] = {0};
    int file = open(TURN, O_RDWR | O_CLOEXEC);
    check(file >= 0 && dprintf(file, "%s %d\n", name, in_kernel) > 0, name);
    (void)close(file);
    file = open(TURN, O_RDONLY | O_CLOEXEC);
    check(file >= 0 && read(file, answer, sizeof answer - 1) > 0, name);
    (void)close(file);
    char* end = answer;
    const uint64_t taken = strtoull(answer, &end, 10);
    uint64_t lost = strtoull(end, NULL, 10);
    if (is_subscribed) {
        lost += in_kernel - (count_recorded() - before);
    }
    report(name, (double)taken / in_kernel, lost);
}

static void write_singles(void) {
    const uint64_t before = count_recorded();
    const uint64_t begin = now();
    for (uint32_t each = 0; each < written; ++each) {
        single.payload.field[0] = each;
        if (write(device, &single, sizeof single) != sizeof single) {
            check(false, "an event is not taken");
        }
    }
    const uint64_t taken = now() - begin;
    report("single", (double)taken / written, written - (count_recorded() - before));
}

static void write_batch(void) {
    const uint64_t before = count_recorded();
    const uint64_t begin = now();
    check(write(device, &batch, sizeof batch) == sizeof batch, "the batch is not taken");
    const uint64_t taken = now() - begin;
    report("batch", (double)taken / written, written - (count_recorded() - before));
}

/// The kernel rejects incomplete records, and in this mode nothing is lost, so there is no count.
static void write_records(void) {
    const uint64_t begin = now();
    check(write(relay, &records, sizeof records) == sizeof records, "the records are not taken");
    report("relay_batch", (double)(now() - begin) / written, 0);
}

int main(int argc, char** argv) {
    static const char* const of_module[] = {"nothing", "clock", "disabled", "ftrace", "relay"};
    const long turns = read_turns(argc, argv);
    publish();
    // Without the event `disabled` of the module.
    subscribe("measure", "recorded", "written");
    check(word != 0, "the event has no listener");
    make_channel();
    fill_in();
    for (long turn = 0; turn < turns; ++turn) {
        for (size_t each = 0; each < sizeof of_module / sizeof of_module[0]; ++each) {
            run_in_kernel(of_module[each], false);
        }
        run_in_kernel("emit", true);
        write_singles();
        write_batch();
        write_records();
    }
    return 0;
}
