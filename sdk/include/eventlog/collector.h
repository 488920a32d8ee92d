/* SPDX-License-Identifier: MIT */
/*
 * The C interface of collectors: a process collects its own events into memory that it owns.
 * Nothing else takes part, no directory, no file and no other process: a collector works where
 * EVENTLOG_DIR cannot be used. In C++ see eventlog/collector.hpp.
 *
 *     struct eventlog_collector* collector;
 *     const char* patterns[] = {"shop:order_*"};
 *     char text[EVENTLOG_TEXT_SIZE];
 *     if (eventlog_collector_create(patterns, 1, NULL, &collector, text, sizeof text) != 0) {
 *         fprintf(stderr, "%s\n", text);
 *     }
 *     run();
 *     struct eventlog_collected event = {.size = sizeof event};
 *     char payload[256];
 *     while (eventlog_collector_try_get(collector, &event, payload, sizeof payload) ==
 *            EVENTLOG_COLLECTOR_EVENT) {
 *         printf("%s:%s\n", event.provider, event.event_name);
 *     }
 *     eventlog_collector_destroy(collector);
 *
 * A collector is a listener: its events count as written or lost, providers report their state to
 * it (eventlog_provider_on_new_listener), and an event that it does not record costs no more than
 * without it. A process has at most EVENTLOG_COLLECTORS_MAX at once.
 *
 * An attempted event is read, or unread, or counted as lost: see eventlog_collector_get_counts.
 *
 * - No function throws, aborts, prints or changes errno.
 * - One thread at a time reads from a collector. All other functions: any thread. None may be
 *   called from a signal handler. No thread may use a collector while or after it is destroyed.
 * - A child of fork(2) has its own copies of the collectors, with the events that were unread. It
 *   destroys, and does not read, a collector that another thread was reading during fork(). A child
 *   of _Fork(3), clone(2) or vfork(2) uses no collector.
 * - Creating the first collector determines the directory of the process, as registering the first
 *   provider does (EVENTLOG_DIR).
 */
#ifndef EVENTLOG_COLLECTOR_H
#define EVENTLOG_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>
#include <eventlog/definition.h>
#include <eventlog/values.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENTLOG_COLLECTORS_MAX 4

/* A collector. libeventlog owns it. */
struct eventlog_collector;

/* Members that are 0 have the default. */
struct eventlog_collector_options {
    uint32_t size;            /* sizeof this struct, so that it can grow */
    uint32_t buffers_per_cpu; /* 2 to 64, a power of two; default 2 */
    uint64_t buffer_size;     /* 128 KiB to 32 MiB, a power of two; default 128 KiB */
};

/*
 * Creates a collector that records the events of this process that match one of the patterns,
 * PROVIDER[:EVENT][@LEVEL][/KEYWORD,...] with * and ?, also those of providers that are registered
 * later. Without patterns it records nothing until some are set.
 *
 * Memory is used only as events arrive, up to buffers_per_cpu * buffer_size for each CPU. If all
 * buffers of a CPU are full, its new events are lost, and counted.
 *
 * With EVENTLOG=off in the environment there are no events: EVENTLOG_ERROR_OFF.
 *
 * `options` may be NULL. After an error `*collector` is NULL, which the functions accept, and
 * `text`, if it is not NULL, receives a sentence of at most `text_size` bytes with its NUL
 * (EVENTLOG_TEXT_SIZE is enough).
 */
EVENTLOG_NODISCARD EVENTLOG_API enum eventlog_error eventlog_collector_create(
    const char* const* patterns, size_t count, const struct eventlog_collector_options* options,
    struct eventlog_collector** collector, char* text, size_t text_size);

/* Ends a collector and discards what is unread. NULL is allowed. */
EVENTLOG_API void eventlog_collector_destroy(struct eventlog_collector* collector);

/*
 * Replaces the patterns. Masks that eventlog_collector_set_mask has set are replaced, too. An event
 * that is emitted during the call is recorded by the old or by the new patterns. After an error
 * nothing has changed.
 */
EVENTLOG_NODISCARD EVENTLOG_API enum eventlog_error eventlog_collector_set_patterns(
    struct eventlog_collector* collector, const char* const* patterns, size_t count, char* text,
    size_t text_size);

/*
 * Returns which events of a provider are recorded: event n, in the order of its schema, is bit n %
 * 64 of words[n / 64]. At most `count` words are written. Returns the number of events; 0, with no
 * word written, if this process has no such provider. Of providers with one name, the first is
 * meant.
 */
EVENTLOG_API size_t eventlog_collector_get_mask(const struct eventlog_collector* collector,
                                                const char* provider, uint64_t* words,
                                                size_t count);

/*
 * Sets which events of all providers with that name are recorded; those behind the last word are
 * not. A provider that is registered later has the events that the patterns match. Returns the
 * number of events; 0 if this process has no such provider, or one of them had no memory for the
 * mask and is unchanged.
 */
EVENTLOG_API size_t eventlog_collector_set_mask(struct eventlog_collector* collector,
                                                const char* provider, const uint64_t* words,
                                                size_t count);

/*
 * With true, the collector records no events of the calling thread from now on; they do not count
 * as lost either. For a thread that emits while it handles events. Events of such a thread do not
 * use the fast path. Calls with true and false are pairs, which may be nested; the last of them
 * comes before the collector is destroyed.
 */
EVENTLOG_API void eventlog_collector_exclude_thread(struct eventlog_collector* collector,
                                                    bool is_excluded);

/* A collected event, without its payload. */
struct eventlog_collected {
    uint32_t size;        /* sizeof this struct, set by the caller, so that it can grow */
    uint32_t event;       /* position in the provider's schema */
    uint64_t time;        /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t lost_before; /* events of the same CPU that were lost just before this one */
    size_t payload_size;  /* also if the payload did not fit */
    uint32_t thread;      /* number of the thread */
    uint16_t cpu;
    bool is_truncated; /* its texts were truncated to fit */
    char provider[64]; /* names, NUL-terminated */
    char event_name[64];
    const void* schema; /* the provider's binary schema, valid until the collector's end */
    size_t schema_size;
};

enum eventlog_collector_result {
    EVENTLOG_COLLECTOR_EVENT = 0,     /* an event was read */
    EVENTLOG_COLLECTOR_EMPTY = 1,     /* there was none, until the deadline */
    EVENTLOG_COLLECTOR_TOO_SMALL = 2, /* `payload_size` bytes are needed; the event stays */
    EVENTLOG_COLLECTOR_INVALID = 3    /* a pointer is NULL, or a size does not match its struct */
};

/*
 * Read the next event and copy its payload, at most `payload_size` bytes. Events are in the order
 * of their times. Those of one thread are in the order in which they were emitted; those of
 * different CPUs may be swapped if less than about a microsecond is between them. With a clock of
 * the program (eventlog_set_clock) the times are that clock's, and later times wait for no earlier
 * ones. `event->size` must be set. If the payload is larger, all other members of `event` are set,
 * and the event is returned again by the next call.
 *
 * try_get does not wait. get waits for an event. get_until waits until the time `deadline` of
 * eventlog_monotonic_time() at most. A waiting thread finds an event within some milliseconds,
 * because emitting threads do not wake it for each event; signals do not end the wait.
 */
EVENTLOG_API enum eventlog_collector_result eventlog_collector_try_get(
    struct eventlog_collector* collector, struct eventlog_collected* event, void* payload,
    size_t payload_size);
EVENTLOG_API enum eventlog_collector_result eventlog_collector_get(
    struct eventlog_collector* collector, struct eventlog_collected* event, void* payload,
    size_t payload_size);
EVENTLOG_API enum eventlog_collector_result eventlog_collector_get_until(
    struct eventlog_collector* collector, struct eventlog_collected* event, void* payload,
    size_t payload_size, int64_t deadline);

/*
 * Finds the value of a field of a collected event, whose payload is given. Texts, bytes and arrays
 * refer to the payload and may be unaligned there; a text has a NUL behind its `count` bytes, a
 * null text has NULL. An optional field without a value is EVENTLOG_VALUE_ABSENT. Returns false if
 * the event has no such field or the payload is damaged.
 */
EVENTLOG_API bool eventlog_collected_value(const struct eventlog_collected* event,
                                           const void* payload, const char* field,
                                           struct eventlog_value* value);

/* The sum of all members but the last is the number of attempted events. */
struct eventlog_collector_counts {
    uint64_t read;
    uint64_t unread;            /* recorded, not read yet */
    uint64_t lost_full;         /* the buffers of the CPU were full */
    uint64_t lost_too_large;    /* a payload of over 65512 bytes */
    uint64_t lost_busy;         /* as in eventlog_counters (abi.h) */
    uint64_t lost_unattached;   /* the provider had no memory to attach, or was just attaching */
    uint64_t damaged;           /* overwritten by a defect of the program */
    uint64_t providers_refused; /* providers for which there was no room: they are not recorded */
};

/*
 * Returns the counts in at most `counts_size` bytes, which is sizeof(struct
 * eventlog_collector_counts) as the caller knows it. Call it in the thread that reads. They are
 * exact while no thread emits.
 */
EVENTLOG_API void eventlog_collector_get_counts(const struct eventlog_collector* collector,
                                                struct eventlog_collector_counts* counts,
                                                size_t counts_size);

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_COLLECTOR_H */
