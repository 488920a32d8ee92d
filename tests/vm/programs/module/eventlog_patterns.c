// SPDX-License-Identifier: MIT
//
// Tests slow patterns of /dev/eventlog as root, on one processor and a kernel without preemption:
//
// - Subscribing with rules whose comparison is slow yields the processor.
// - Publishing events whose comparison is slow also releases the locks.
// - Closing a file with many providers does not wait for each provider.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

enum { events = 512, bits = 32 };

static volatile uint32_t words[events / bits];
static struct eventlog_published_event offers[events];
static struct eventlog_filter_rule rules[EVENTLOG_RULES_MAX];

static int64_t microseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/// Registers events whose names match long parts of the patterns at every position.
static void register_events(void) {
    for (unsigned i = 0; i < events; ++i) {
        char description[EVENTLOG_IDENTIFIER_SIZE];
        (void)snprintf(description, sizeof description, "patterns_%u u64 a", i);
        if (register_at(description, &words[i / bits], (uint8_t)(i % bits),
                        &offers[i].write_index) != 0) {
            step("all are registered", false);
        }
        offers[i].event = (uint16_t)i;
        offers[i].level = 1;
        memset(offers[i].name, 'a', sizeof offers[i].name - 1);
    }
}

static void publish_events(void) {
    uint32_t number = 0;
    register_events();
    step("all are published", publish(device, "patterns", offers, events, &number) == 0);
}

/// Subscribes with patterns that match all characters but the last one.
static int subscribe_to_none(int file) {
    for (unsigned i = 0; i < EVENTLOG_RULES_MAX; ++i) {
        rules[i].provider[0] = '*';
        memset(rules[i].event, 'a', sizeof rules[i].event / 2);
        rules[i].event[0] = '*';
        rules[i].event[sizeof rules[i].event / 2] = 'b';
    }
    struct eventlog_subscription_request request = {
        .size = sizeof request,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = 2,
        .buffer_size = EVENTLOG_BUFFER_SIZE_MIN,
        .rule_count = EVENTLOG_RULES_MAX,
        .rules = (uintptr_t)rules,
        .schemas_size = 1 << 16,
    };
    return ioctl(file, EVENTLOG_SUBSCRIBE, &request);
}

/// Measures the duration of a subscription, and the longest time in which this process did not run.
static void share_a_processor(void) {
    const int file = open_device();
    step("there is one processor", file >= 0 && run_on(0));
    (void)fflush(stdout);
    const int64_t begin = microseconds();
    const pid_t child = fork();
    if (child == 0) {
        _exit(subscribe_to_none(file) == 0 ? 0 : 1);
    }
    int64_t last = microseconds();
    int64_t longest = 0;
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        const int64_t now = microseconds();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    printf("%lld us, of which at most %lld us without the processor\n", (long long)(last - begin),
           (long long)longest);
    step("a subscription begins", status == 0);
    step("and yields the processor", longest * 4 < last - begin);
    (void)close(file);
}

/// Runs in a child, whose words are separate.
_Noreturn static void publish_at_length(atomic_int* stage) {
    reopen_device();
    register_events();
    uint32_t number = 0;
    atomic_store(stage, 1);
    const int error = publish(device, "patterns", offers, events, &number);
    atomic_store(stage, 2);
    _exit(error);
}

static void check_concurrent_publish(void) {
    enum { enough = 3 };
    atomic_int* const stage =
        mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    volatile uint32_t own = 0;
    uint32_t index = 0;
    const int file = open_device();
    step("a subscription begins", stage != MAP_FAILED && file >= 0 && subscribe_to_none(file) == 0);
    step("one event is registered", register_at("patterns_own u64 a", &own, 0, &index) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        publish_at_length(stage);
    }
    const struct eventlog_published_event offer = {.write_index = index, .level = 1, .name = "own"};
    int meanwhile = 0;
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        const bool has_begun = atomic_load(stage) == 1;
        uint32_t number = 0;
        if (publish(device, "own", &offer, 1, &number) != 0 || unpublish(device, number) != 0) {
            step("other providers are published", false);
        }
        meanwhile += has_begun && atomic_load(stage) == 1;
    }
    printf("other providers were published %d times meanwhile\n", meanwhile);
    step("the slow provider is published", status == 0);
    step("and other providers are published meanwhile", meanwhile >= enough);
    (void)close(file);
}

static void publish_each(uint32_t* numbers, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        char name[EVENTLOG_IDENTIFIER_SIZE];
        (void)snprintf(name, sizeof name, "each_%u", i);
        if (publish(device, name, &offers[i], 1, &numbers[i]) != 0) {
            step("each is published", false);
        }
    }
}

/// A publisher that is killed has no listeners afterwards, also while another subscription compares
/// its events. A subscription that ended before receives no events of it.
static void kill_publisher(void) {
    atomic_int* const stage =
        mmap(NULL, sizeof *stage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    reopen_device();
    register_events();
    struct subscription_request all = {0};
    const int reader = subscribe_or_exit(&all);
    const int slow = open_device();
    step("a subscription with slow rules begins", subscribe_to_none(slow) == 0);
    (void)fflush(stdout);
    const pid_t publisher = fork();
    if (publisher == 0) {
        uint32_t number = 0;
        atomic_store(stage, 1);
        _exit(publish(device, "broken_off", offers, events, &number));
    }
    // The first word is set when the reader is a listener; the slow subscription is compared next.
    while (words[0] == 0) {
        (void)sched_yield();
    }
    const pid_t comparer = fork();
    if (comparer == 0) {
        const int file = open_device();
        atomic_store(stage, 2);
        _exit(subscribe_to_none(file) == 0 ? 0 : 1);
    }
    while (atomic_load(stage) != 2) {
        (void)sched_yield();
    }
    (void)sched_yield();
    (void)kill(publisher, SIGKILL);
    (void)usleep(1000);
    step("it can be ended", end_subscription(reader) == 0);
    const uint64_t before = statistics(reader, EVENTLOG_ALL_RINGS).recorded;
    const uint32_t event[] = {offers[0].write_index, 1, 0};
    (void)!write(device, event, sizeof event);
    step("and records nothing after its end",
         statistics(reader, EVENTLOG_ALL_RINGS).recorded == before);
    int status = -1;
    step("the publisher is killed",
         waitpid(publisher, &status, 0) == publisher && WIFSIGNALED(status));
    step("the comparing process continues",
         waitpid(comparer, &status, 0) == comparer && status == 0);
    (void)close(slow);
    (void)close(reader);
}

/// Unpublishing waits for writers that may still use the provider. A closed file has no writers.
static void close_without_waiting(void) {
    enum { count = 64 };
    uint32_t numbers[count];
    reopen_device();
    register_events();
    publish_each(numbers, count);
    int64_t begin = microseconds();
    for (int i = 0; i < count; ++i) {
        if (unpublish(device, numbers[i]) != 0) {
            step("each is unpublished", false);
        }
    }
    const int64_t unpublishing = microseconds() - begin;
    publish_each(numbers, count);
    begin = microseconds();
    (void)close(device);
    const int64_t closing = microseconds() - begin;
    printf("unpublishing took %lld us, closing %lld us\n", (long long)unpublishing,
           (long long)closing);
    step("closing waits for none of them", closing * 4 < unpublishing);
}

int main(void) {
    device = open_device();
    step("the device can be opened", device >= 0);
    publish_events();
    share_a_processor();
    check_concurrent_publish();
    kill_publisher();
    close_without_waiting();
    puts("ok: all patterns");
    return 0;
}
