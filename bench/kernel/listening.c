// SPDX-License-Identifier: MIT
#include "listening.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

static int subscription = -1;

void check(bool is_good, const char* what) {
    if (!is_good) {
        (void)fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static struct eventlog_filter_rule rule_of(const char* provider, const char* event) {
    struct eventlog_filter_rule rule = {.level = 0};
    (void)snprintf(rule.provider, sizeof rule.provider, "%s", provider);
    (void)snprintf(rule.event, sizeof rule.event, "%s", event);
    return rule;
}

void subscribe(const char* provider, const char* first, const char* second) {
    const struct eventlog_filter_rule rules[] = {rule_of(provider, first),
                                                 rule_of(provider, second)};
    struct eventlog_subscription_request request = {
        .size = sizeof request,
        .features = EVENTLOG_FEATURE_OVERWRITE,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = buffer_count,
        .buffer_size = buffer_size,
        .rule_count = 2,
        .rules = (uintptr_t)rules,
        .schemas_size = 1 << 16,
    };
    subscription = open(EVENTLOG_DEVICE_PATH, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    check(subscription >= 0 && ioctl(subscription, EVENTLOG_SUBSCRIBE, &request) == 0,
          "there is no subscription");
}

uint64_t count_recorded(void) {
    struct eventlog_statistics counts = {.size = sizeof counts, .ring = EVENTLOG_ALL_RINGS};
    check(ioctl(subscription, EVENTLOG_STATISTICS, &counts) == 0, "nothing is counted");
    return counts.recorded;
}

uint64_t now(void) {
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void report(const char* name, double taken, uint64_t lost) {
    (void)printf("%s %.3f %llu\n", name, taken, (unsigned long long)lost);
}

long read_turns(int argc, char** argv) {
    const long turns = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (turns <= 0) {
        (void)fprintf(stderr, "usage: %s TURNS\n", argv[0]);
        exit(2);
    }
    return turns;
}
