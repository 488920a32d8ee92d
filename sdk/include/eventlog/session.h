/* SPDX-License-Identifier: MIT */
/* Sessions of providers that are defined at run time. Part of eventlog.h. */
#ifndef EVENTLOG_SESSION_H
#define EVENTLOG_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>
#include <eventlog/definition.h>
#include <eventlog/values.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The events that begin and end sessions, the same as those of a provider in C++: two members of an
 * eventlog_definition's events, at any position.
 *
 *     enum { packet_lost, station_begins, station_ends };
 *     static const struct eventlog_event_definition station_events[] = {
 *         [packet_lost] = {.name = "packet_lost", .session_bound = true},
 *         [station_begins] = EVENTLOG_SESSION_BEGIN_EVENT,
 *         [station_ends] = EVENTLOG_SESSION_END_EVENT,
 *     };
 */
#define EVENTLOG_SESSION_BEGIN_EVENT                                                    \
    {                                                                                   \
        .name = "session_begin", .description = "A session begins",                     \
        .when = "the application opens a session", .kind = EVENTLOG_KIND_SESSION_BEGIN, \
        .session_bound = true                                                           \
    }
#define EVENTLOG_SESSION_END_EVENT                                                     \
    {                                                                                  \
        .name = "session_end", .description = "A session ends",                        \
        .when = "the application closes a session", .kind = EVENTLOG_KIND_SESSION_END, \
        .session_bound = true                                                          \
    }

/*
 * An observed entity, such as a connection or a request, whose events a listener can select by its
 * number:
 *
 *     struct eventlog_session session;
 *     eventlog_session_begin(&session, net, 4711);
 *     eventlog_session_emit(&session, packet_lost, NULL, 0);
 *     eventlog_session_end(&session);
 *
 * Record only this session:
 * elog record -e net --session 4711
 *
 * Record this session in more detail than the rest:
 * elog record -e net@warn -e 'net:*@trace#' --session 4711
 *
 * The application chooses the number; listeners cannot distinguish two sessions with the same
 * number. The listener chooses sessions and levels. The program compares the numbers, so events of
 * other sessions are not copied.
 *
 * The struct is plain memory of the application. eventlog_session_begin fills it in. It may be
 * read, copied, and freed without a call. An object belongs to one thread at a time;
 * eventlog_session_emit and eventlog_session_enabled may be called from several threads. The child
 * of a fork() has a copy: if it ends the session as well, that is a second end, an event of the
 * child.
 */
struct eventlog_session {
    struct eventlog_provider* provider EVENTLOG_ZERO;
    uint64_t id EVENTLOG_ZERO;
    bool open EVENTLOG_ZERO;         /* begun and not ended */
    uint64_t reserved EVENTLOG_ZERO; /* 0; room to grow */
};

/*
 * Begins a session of a provider that was defined at run time: emits the provider's first event of
 * kind session_begin. The object is usable in every case, also after an error:
 *
 * - EVENTLOG_ERROR_ARGUMENT: `session` is NULL.
 * - EVENTLOG_ERROR_NOT_DEFINED: the handle has no definition.
 * - EVENTLOG_ERROR_EVENT: the provider has no event of that kind.
 * - EVENTLOG_ERROR_VALUE_COUNT: that event has fields of its own. Emit it with
 *   eventlog_session_emit.
 *
 * This function and the next four: any thread, any signal handler, any forked child, as
 * eventlog_emit.
 */
EVENTLOG_API enum eventlog_error eventlog_session_begin(struct eventlog_session* session,
                                                        struct eventlog_provider* provider,
                                                        uint64_t id);

/*
 * Emits the begin of the session again, for a new listener (eventlog_provider_on_new_listener in
 * abi.h). Errors as of eventlog_session_begin.
 */
EVENTLOG_API enum eventlog_error eventlog_session_emit_current(
    const struct eventlog_session* session);

/*
 * Whether the event has a listener, in this session or another: two loads. `session` must have
 * begun.
 */
static inline bool eventlog_session_enabled(const struct eventlog_session* session,
                                            uint32_t event) {
    /* NOLINTNEXTLINE(modernize-use-nullptr): also compiled as C */
    return session->provider != NULL && eventlog_enabled(session->provider, event);
}

/*
 * As eventlog_emit, for a session-bound event; the values are those of the fields behind the
 * session. EVENTLOG_ERROR_SESSION: the event is not session-bound.
 */
EVENTLOG_API enum eventlog_error eventlog_session_emit(const struct eventlog_session* session,
                                                       uint32_t event,
                                                       const struct eventlog_value* values,
                                                       size_t count);

/*
 * Ends the session: emits the provider's first event of kind session_end. Does nothing, without an
 * error, if it has ended already. Errors as of eventlog_session_begin; the session has ended
 * nevertheless.
 */
EVENTLOG_API enum eventlog_error eventlog_session_end(struct eventlog_session* session);

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_SESSION_H */
