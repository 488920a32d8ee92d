/* SPDX-License-Identifier: MIT */
/*
 * Our event, by LTTng-UST.  Its session, with buffers as large as ours, exists before this is
 * loaded; what it has discarded, only lttng itself knows (bench/peers.py asks it).
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE

#include <time.h>

#include "lttng_load_events.h"
#include "peer.h"

/* Its own threads tell the session about this program, and enable what the session wants. */
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
