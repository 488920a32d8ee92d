/* SPDX-License-Identifier: MIT */
/* Gauges of providers that are defined at run time. Part of eventlog.h. */
#ifndef EVENTLOG_GAUGE_H
#define EVENTLOG_GAUGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>
#include <eventlog/definition.h>
#include <eventlog/session.h>
#include <eventlog/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A number that emits an event whenever it changes. The event has the kind EVENTLOG_KIND_GAUGE and
 * one field, an integer:
 *
 *     static const struct eventlog_field_definition jobs = {.name = "jobs",
 *                                                           .type = EVENTLOG_TYPE_SIGNED_64};
 *     static const struct eventlog_event_definition printer_events[] = {
 *         {.name = "queue_length", .kind = EVENTLOG_KIND_GAUGE, .fields = &jobs, .field_count = 1},
 *     };
 *
 *     static struct eventlog_gauge queue;
 *     eventlog_gauge_init(&queue, printer, queue_length, 0);
 *     eventlog_gauge_add(&queue, 1);
 *
 * Without a listener a change is an atomic operation, two loads and a branch. A gauge that is zero
 * as a whole counts without emitting, so it may change before eventlog_gauge_init.
 *
 * The struct is plain memory of the application. It may be freed without a call. Several threads
 * may change a gauge. Two concurrent changes may be emitted in either order, each with the value
 * that it made. The child of a fork() continues with a copy.
 *
 * All functions: any thread, any signal handler, any forked child. They take no lock, do not
 * allocate and do not wait. eventlog_gauge_init and eventlog_gauge_init_in_session: not while
 * another thread uses the gauge.
 *
 * Errors are those of eventlog_emit (values.h), and of eventlog_session_emit in a session. add and
 * set find them only if there is a listener, eventlog_gauge_emit_current always. The number has
 * changed nevertheless. EVENTLOG_ERROR_VALUE_COUNT: the event does not have exactly one field, or
 * is session-bound and the gauge is in no session.
 */
struct eventlog_gauge {
    struct eventlog_provider* provider EVENTLOG_ZERO; /* NULL: emits nothing */
    uint64_t session EVENTLOG_ZERO;
    int64_t number EVENTLOG_ZERO; /* read it with eventlog_gauge_value */
    uint32_t event EVENTLOG_ZERO;
    bool in_session EVENTLOG_ZERO;
    uint64_t reserved EVENTLOG_ZERO; /* 0; room to grow */
};

/*
 * Makes a gauge of an event that is not session-bound. Emits nothing. `provider` is a handle or
 * NULL.
 */
static inline void eventlog_gauge_init(struct eventlog_gauge* gauge,
                                       struct eventlog_provider* provider, uint32_t event,
                                       int64_t number) {
    const struct eventlog_gauge made = {provider, 0, number, event, false, 0};
    *gauge = made;
}

/*
 * Makes a gauge of a session-bound event. `session` must have begun. The gauge keeps only its
 * number: the session may be copied, or end, before the gauge does.
 */
static inline void eventlog_gauge_init_in_session(struct eventlog_gauge* gauge,
                                                  const struct eventlog_session* session,
                                                  uint32_t event, int64_t number) {
    const struct eventlog_gauge made = {session->provider, session->id, number, event, true, 0};
    *gauge = made;
}

/* The current number. */
static inline int64_t eventlog_gauge_value(const struct eventlog_gauge* gauge) {
    return __atomic_load_n(&gauge->number, __ATOMIC_RELAXED);
}

/* Emits `number` as the value of the gauge, which keeps its own. The other functions call it. */
static inline enum eventlog_error eventlog_gauge_emit(const struct eventlog_gauge* gauge,
                                                      int64_t number) {
    const struct eventlog_value value = eventlog_signed(number);
    if (gauge->in_session) {
        const struct eventlog_session session = {gauge->provider, gauge->session, true, 0};
        return eventlog_session_emit(&session, gauge->event, &value, 1);
    }
    return eventlog_emit(gauge->provider, gauge->event, &value, 1);
}

/*
 * Emits the current number, for the callback of eventlog_provider_on_new_listener (abi.h). Checks
 * it even without a listener. EVENTLOG_ERROR_NOT_DEFINED: the gauge has no provider.
 */
static inline enum eventlog_error eventlog_gauge_emit_current(const struct eventlog_gauge* gauge) {
    return eventlog_gauge_emit(gauge, eventlog_gauge_value(gauge));
}

/* Stores `number` and emits it, also if it has not changed. */
static inline enum eventlog_error eventlog_gauge_set(struct eventlog_gauge* gauge, int64_t number) {
    __atomic_store_n(&gauge->number, number, __ATOMIC_RELAXED);
    /* NOLINTNEXTLINE(modernize-use-nullptr): also compiled as C */
    return gauge->provider != NULL && eventlog_enabled(gauge->provider, gauge->event)
               ? eventlog_gauge_emit(gauge, number)
               : EVENTLOG_ERROR_NONE;
}

/* Adds atomically and emits the sum, which wraps around. */
static inline enum eventlog_error eventlog_gauge_add(struct eventlog_gauge* gauge,
                                                     int64_t difference) {
    const int64_t sum = __atomic_add_fetch(&gauge->number, difference, __ATOMIC_RELAXED);
    /* NOLINTNEXTLINE(modernize-use-nullptr): also compiled as C */
    return gauge->provider != NULL && eventlog_enabled(gauge->provider, gauge->event)
               ? eventlog_gauge_emit(gauge, sum)
               : EVENTLOG_ERROR_NONE;
}

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_GAUGE_H */
