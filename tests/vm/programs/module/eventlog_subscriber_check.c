// SPDX-License-Identifier: MIT
//
// Checks that a subscriber in the kernel receives exactly the events that this program writes
// through /dev/eventlog, as root, with eventlog loaded.
//
// eventlog_subscriber_check SUBSCRIBER COUNT CYCLES: the path of the module
// eventlog_test_subscriber, the number of events of each writer, and how often the subscriber is
// loaded while they write.
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

#define SUBSCRIBER_PARAMETERS "/sys/module/eventlog_test_subscriber/parameters/"

enum { writers = 4, batch = 50, sale_bit = 30, refund_bit = 29, note_bit = 28, events = 3 };

// The parameters of the subscriber's module.
static char text[4096];
static const char* subscriber;
static uint32_t index_of[events];
static atomic_bool* is_over;

static void load(const char* parameters) {
    const int file = open(subscriber, O_RDONLY | O_CLOEXEC);
    const bool loaded = syscall(SYS_finit_module, file, parameters, 0) == 0;
    (void)close(file);
    step("the subscriber is loaded", loaded);
}

static void unload(void) {
    step("the subscriber is unloaded",
         syscall(SYS_delete_module, "eventlog_test_subscriber", O_NONBLOCK) == 0);
}

static const char* parameter(const char* name) {
    char path[128];
    (void)snprintf(path, sizeof path, SUBSCRIBER_PARAMETERS "%s", name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = read(file, text, sizeof text - 1);
    (void)close(file);
    if (size < 0) {
        step("the subscriber's parameter can be read", false);
    }
    text[size] = '\0';
    return text;
}

static unsigned long number_of(const char* name) {
    return strtoul(parameter(name), NULL, 10);
}

/// The bits of the events that have a listener.
static uint64_t gate(void) {
    return word >> note_bit;
}

static void try_gates(void) {
    static const struct {
        const char* parameters;
        uint64_t bits;
    } wishes[] = {
        {"", 7},
        {"provider=checked", 7},
        {"provider=che?ked event=re*", 2},
        {"provider=h", 0},
        {"event=sal", 0},
        {"provider=checked level=3", 6},
        {"level=2", 2},
        {"level=1", 0},
        {"keywords=2", 3},
        {"keywords=1 level=3", 4},
    };
    step("no event has a listener", gate() == 0);
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; ++i) {
        load(wishes[i].parameters);
        if (gate() != wishes[i].bits) {
            (void)printf("%s: %llx\n", wishes[i].parameters, (unsigned long long)gate());
            step("the requested events have a listener", false);
        }
        unload();
        step("no event has a listener afterwards", gate() == 0);
    }
}

struct event {
    uint32_t index;
    uint64_t number;
    uint64_t more[4];
} __attribute__((packed));

static bool write_one(uint32_t which, uint64_t number) {
    const struct event event = {.index = index_of[which], .number = number};
    return write(device, &event, sizeof event) == sizeof event;
}

static void try_payload(void) {
    char expected[512];
    step("without a subscriber the write is rejected", !write_one(0, 1) && errno == EBADF);
    load("provider=checked event=sale");
    step("with a subscriber the write is accepted", write_one(0, UINT64_C(0x1122334455667788)));
    step("events that it does not request are rejected", !write_one(1, 1) && errno == EBADF);
    (void)snprintf(expected, sizeof expected,
                   "checked:sale number=7 level=3 keywords=1 schema=7 hash=1 owner=eventlog_subscr "
                   "process=%d thread=%d user=0 payload=8877665544332211%064d\n",
                   (int)getpid(), (int)getpid(), 0);
    if (strcmp(parameter("last"), expected) != 0) {
        (void)printf("%s%s", text, expected);
        step("all values of the event are right", false);
    }
    step("it is received once", number_of("received") == 1 && number_of("left_out") == 0);
    unload();
    step("without the subscriber it is rejected again", !write_one(0, 1) && errno == EBADF);
}

/// A provider is published and unpublished while the subscriber is loaded.
static void try_publishing(void) {
    volatile uint64_t late __attribute__((aligned(8))) = 0;
    uint32_t number = 0;
    struct eventlog_published_event offer = {.level = 3, .name = "late"};
    load("provider=later");
    const int own = device;
    device = open_device();
    step("another event",
         register_at("checked_late u64 a", &late, sale_bit, &offer.write_index) == 0);
    step("an unpublished event has no listener", late == 0);
    step("it is published", publish(device, "later", &offer, 1, &number) == 0 && late != 0);
    const uint32_t event[3] = {offer.write_index, 1, 0};
    step("and received",
         write(device, event, sizeof event) == sizeof event && number_of("received") == 1);
    step("it is unpublished", unpublish(device, number) == 0 && late == 0);
    step("and its events are not received",
         write(device, event, sizeof event) < 0 && number_of("received") == 1);
    (void)close(device);
    device = own;
    unload();
}

struct many {
    uint32_t first, zero;
    struct {
        struct eventlog_batch_entry entry;
        uint64_t number;
        uint64_t more[4];
    } of[batch];
};

/// Writes one event and a batch. Returns whether all are accepted.
static bool write_some(void) {
    struct many many = {.first = EVENTLOG_BATCH};
    for (unsigned i = 0; i < batch; ++i) {
        many.of[i].entry = (struct eventlog_batch_entry){.write_index = index_of[0], .size = 40};
    }
    return write_one(0, 0) && write(device, &many, sizeof many) == sizeof many;
}

static void write_counted(unsigned long rounds) {
    for (unsigned long i = 0; i < rounds; ++i) {
        if (!write_some()) {
            _exit(1);
        }
    }
    _exit(0);
}

/// Writes with and without a listener.
static void write_until_the_end(unsigned long rounds) {
    (void)rounds;
    while (!atomic_load(is_over)) {
        if (!write_some() && errno != EBADF) {
            _exit(1);
        }
    }
    _exit(0);
}

static void begin(pid_t* processes, void (*run)(unsigned long), unsigned long rounds) {
    (void)fflush(stdout);
    for (int i = 0; i < writers; ++i) {
        processes[i] = fork();
        if (processes[i] == 0) {
            run(rounds);
        }
    }
}

static void end(const pid_t* processes) {
    bool right = true;
    for (int i = 0; i < writers; ++i) {
        int status = -1;
        right &= waitpid(processes[i], &status, 0) == processes[i] && status == 0;
    }
    step("all writers succeed", right);
}

/// The subscriber receives all events beside a subscription whose ring may lose events.
static void conserve(unsigned long count, const char* parameters, bool echoes) {
    static struct read_totals read_totals;
    pid_t processes[writers];
    const unsigned long rounds = count / (batch + 1) + 1;
    const unsigned long attempted = writers * rounds * (batch + 1);
    read_totals = (struct read_totals){0};
    load(parameters);
    const int reader = subscribe_or_exit(&(struct subscription_request){.provider = "checked"});
    begin(processes, write_counted, rounds);
    end(processes);
    read_all(reader, &read_totals);
    (void)close(reader);
    const unsigned long received = number_of("received");
    const unsigned long left_out = number_of("left_out");
    (void)printf("conserved: attempted %lu, received %lu, left out %lu, read %lu, lost %lu\n",
                 attempted, received, left_out, (unsigned long)read_totals.records,
                 (unsigned long)read_totals.lost);
    step("all events are received", received == attempted);
    step("and no echoes", left_out == (echoes ? attempted : 0));
    step("a subscription beside it has or counts the same",
         read_totals.records + read_totals.lost == attempted);
    unload();
}

static void reload_subscriber(unsigned long cycles) {
    pid_t processes[writers];
    unsigned long received = 0;
    begin(processes, write_until_the_end, 0);
    for (unsigned long i = 0; i < cycles; ++i) {
        load(i % 2 != 0 ? "provider=checked" : "echo=1");
        for (int tries = 0; number_of("received") == 0 && tries < 10000; ++tries) {
            (void)usleep(1000);
        }
        received += number_of("received") > 0;
        unload();
    }
    atomic_store(is_over, true);
    end(processes);
    step("it received events each time", received == cycles);
    step("at the end no event has a listener", gate() == 0 && !write_one(0, 1) && errno == EBADF);
}

int main(int count, char** arguments) {
    step("there are three arguments", count == 4);
    subscriber = arguments[1];
    device = open_device();
    is_over =
        mmap(NULL, sizeof *is_over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    step("three events are registered", is_over != MAP_FAILED &&
                                            register_at("checked_sale u64 a; struct block b 32",
                                                        &word, sale_bit, &index_of[0]) == 0 &&
                                            register_at("checked_refund u64 a; struct block b 32",
                                                        &word, refund_bit, &index_of[1]) == 0 &&
                                            register_at("checked_note u64 a; struct block b 32",
                                                        &word, note_bit, &index_of[2]) == 0);
    const struct eventlog_published_event offers[events] = {
        {.write_index = index_of[0], .event = 7, .level = 3, .keywords = 1, .name = "sale"},
        {.write_index = index_of[1], .event = 8, .level = 2, .keywords = 2, .name = "refund"},
        {.write_index = index_of[2], .event = 9, .level = 4, .name = "note"},
    };
    uint32_t number = 0;
    step("and published", publish(device, "checked", offers, events, &number) == 0);
    try_gates();
    try_payload();
    try_publishing();
    conserve(strtoul(arguments[2], NULL, 10), "provider=checked", false);
    conserve(strtoul(arguments[2], NULL, 10), "echo=1", true);
    reload_subscriber(strtoul(arguments[3], NULL, 10));
    puts("ok: all subscriber checks");
    return 0;
}
