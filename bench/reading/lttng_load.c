/* SPDX-License-Identifier: MIT */
/*
 * Emits with LTTng-UST the events that load.cpp emits with eventlog, to compare readers.
 *
 *     lttng_load EVENTS RATE
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lttng_load_events.h"

static const char* const reasons[] = {"lost_segment", "late_segment", "dup_segments",
                                      "peer_silence"};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char** words) {
    if (count != 3) {
        fprintf(stderr, "usage: lttng_load EVENTS RATE\n");
        return 2;
    }
    const uint64_t events = strtoull(words[1], NULL, 10);
    const double rate = strtod(words[2], NULL);
    const struct timespec interval = {0, 500000};
    const double begin = now();
    uint64_t emitted = 0;
    while (emitted < events) {
        const double due = (now() - begin + 0.0005) * rate;
        for (; emitted < events && (double)emitted < due; ++emitted) {
            lttng_ust_tracepoint(load, retransmission, emitted, (uint32_t)(emitted % 1448), 0,
                                 reasons[emitted % 4]);
        }
        nanosleep(&interval, NULL);
    }
    return 0;
}
