/* SPDX-License-Identifier: MIT */
/*
 * The event of load.cpp as a declaration of LTTng-UST. LTTng's headers include this file several
 * times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER load

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_load_events.h"

#if !defined(LTTNG_LOAD_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_LOAD_EVENTS_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(
    load, retransmission,
    LTTNG_UST_TP_ARGS(uint64_t, sequence, uint32_t, bytes, uint32_t, window, const char*, reason),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, sequence, sequence)
                            lttng_ust_field_integer(uint32_t, bytes, bytes)
                                lttng_ust_field_integer(uint32_t, window, window)
                                    lttng_ust_field_string(reason, reason)))

#endif

#include <lttng/tracepoint-event.h>
