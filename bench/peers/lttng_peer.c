/* SPDX-License-Identifier: MIT */
/*
 * The event with LTTng-UST. Its session exists before this object is loaded and has buffers of
 * eventlog's size. Only lttng itself knows the number of discarded events (bench/peers.py queries
 * it).
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include <time.h>

#include "lttng_load_events.h"
#include "peer.h"

/* LTTng's threads register this program with the session and enable the session's events. */
static int is_enabled_soon(void) {
    const struct timespec moment = {0, 10000000};
    for (int attempt = 0; attempt < 1000; ++attempt) {
        if (lttng_ust_tracepoint_enabled(load, retransmission)) {
            return 1;
        }
        nanosleep(&moment, NULL);
    }
    return 0;
}

const char* peer_begin(const char* argument) {
    (void)argument;
    return is_enabled_soon() ? NULL : "its session does not enable the event within 10 s.";
}

void peer_burst(uint64_t events, const char* reason) {
    for (uint64_t i = 0; i < events; ++i) {
        lttng_ust_tracepoint(load, retransmission, i, (uint32_t)i, (uint32_t)(i >> 32), reason);
    }
}

void peer_rest(void) {}

uint64_t peer_end(void) {
    return 0;
}
