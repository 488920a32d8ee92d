/* SPDX-License-Identifier: MIT */
/* Timed scopes of providers that are defined at run time. Part of eventlog.h. */
#ifndef EVENTLOG_TIMED_SCOPE_H
#define EVENTLOG_TIMED_SCOPE_H

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
 * The first field of a timed event, the same as that of eventlog::timed in C++. The event has the
 * kind EVENTLOG_KIND_END.
 *
 *     static const struct eventlog_field_definition query_fields[] = {
 *         EVENTLOG_DURATION_FIELD,
 *         {.name = "rows", .type = EVENTLOG_TYPE_UNSIGNED_32},
 *     };
 *     static const struct eventlog_event_definition database_events[] = {
 *         {.name = "query", .kind = EVENTLOG_KIND_END, .fields = query_fields, .field_count = 2},
 *     };
 */
#define EVENTLOG_DURATION_FIELD \
    { .name = "duration", .type = EVENTLOG_TYPE_SIGNED_64, .format = EVENTLOG_FORMAT_DURATION }

/*
 * Measures a scope and emits one event at its end:
 *
 *     struct eventlog_timed_scope scope;
 *     eventlog_timed_scope_begin(&scope, database, query);
 *     uint32_t rows = run(sql);
 *     eventlog_timed_scope_end(&scope, (struct eventlog_value[]){eventlog_unsigned(rows)}, 1);
 *
 * Without a listener at the begin nothing is emitted, and no clock is read: the begin is two loads
 * and a branch, and the end a test of a member.
 *
 * The struct is plain memory of the application. It may be freed without a call; then there is no
 * event. An object belongs to one thread at a time. Another thread may end it, and then emits the
 * event. The child of a fork() has a copy: if it ends the scope, too, it emits an event of its own.
 *
 * All functions: any thread, any signal handler, any forked child. They take no lock, do not
 * allocate and do not wait.
 */
struct eventlog_timed_scope {
    struct eventlog_provider* provider EVENTLOG_ZERO;
    uint64_t session EVENTLOG_ZERO;
    int64_t began EVENTLOG_ZERO;   /* 0: not begun, without a listener, or ended */
    int64_t stopped EVENTLOG_ZERO; /* 0: the clock runs */
    uint32_t event EVENTLOG_ZERO;
    bool in_session EVENTLOG_ZERO;
    uint64_t reserved EVENTLOG_ZERO; /* 0; room to grow */
};

/* Returns nanoseconds of CLOCK_MONOTONIC, which are never 0. */
EVENTLOG_API int64_t eventlog_monotonic_time(void);

/* Begins a scope for a timed event that is not session-bound. `provider` is a handle; not NULL. */
static inline void eventlog_timed_scope_begin(struct eventlog_timed_scope* scope,
                                              struct eventlog_provider* provider, uint32_t event) {
    const struct eventlog_timed_scope begun = {provider, 0, 0, 0, event, false, 0};
    *scope = begun;
    if (eventlog_enabled(provider, event)) {
        scope->began = eventlog_monotonic_time();
    }
}

/*
 * Begins a scope for a session-bound timed event. `session` must have begun. The scope keeps only
 * its number: the session may be copied, or end, before the scope does.
 */
static inline void eventlog_timed_scope_begin_in_session(struct eventlog_timed_scope* scope,
                                                         const struct eventlog_session* session,
                                                         uint32_t event) {
    const struct eventlog_timed_scope begun = {
        session->provider, session->id, 0, 0, event, true, 0};
    *scope = begun;
    if (eventlog_session_enabled(session, event)) {
        scope->began = eventlog_monotonic_time();
    }
}

/* Whether the end will emit an event: ask before costly work for its values. */
static inline bool eventlog_timed_scope_is_measured(const struct eventlog_timed_scope* scope) {
    return scope->began != 0;
}

/*
 * Stops the clock: the end emits the duration until here, without the time that the values take.
 * Does nothing if the clock has stopped, or does not run.
 */
static inline void eventlog_timed_scope_stop(struct eventlog_timed_scope* scope) {
    if (scope->began != 0 && scope->stopped == 0) {
        scope->stopped = eventlog_monotonic_time();
    }
}

/* Emits the event of a measured scope. Called by eventlog_timed_scope_end. */
EVENTLOG_API enum eventlog_error eventlog_timed_scope_emit(struct eventlog_timed_scope* scope,
                                                           const struct eventlog_value* values,
                                                           size_t count);

/*
 * Ends the scope and emits its event. The values are those of the fields behind the duration. Does
 * nothing, without an error, if there was no listener at the begin, or if the scope has ended.
 *
 * Errors are those of eventlog_emit (values.h), and of eventlog_session_emit in a session. They are
 * found only if there was a listener. EVENTLOG_ERROR_VALUE_TYPE: perhaps the event is not timed,
 * because its first field is not EVENTLOG_DURATION_FIELD. The scope has ended nevertheless.
 */
static inline enum eventlog_error eventlog_timed_scope_end(struct eventlog_timed_scope* scope,
                                                           const struct eventlog_value* values,
                                                           size_t count) {
    return scope->began == 0 ? EVENTLOG_ERROR_NONE
                             : eventlog_timed_scope_emit(scope, values, count);
}

/* Ends the scope without an event. */
static inline void eventlog_timed_scope_cancel(struct eventlog_timed_scope* scope) {
    scope->began = 0;
}

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_TIMED_SCOPE_H */
