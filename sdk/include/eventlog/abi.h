/* SPDX-License-Identifier: MIT */
/*
 * The C interface of libeventlog that the templates of eventlog.hpp call.
 *
 * Applications in C++ include eventlog/eventlog.hpp and need no name of this header.
 *
 * - No function throws, aborts, prints or changes errno.
 * - "Forked child" means the child of fork(). Events from a child of _Fork, clone or a raw system
 *   call have the process and thread numbers of its parent. So have events from a child handler of
 *   pthread_atfork that was registered before the library's own. The first provider of the process
 *   registers the library's handler.
 */
#ifndef EVENTLOG_ABI_H
#define EVENTLOG_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/detail/push_emit.h>
#include <eventlog/version.h>

/* Exported, whatever the visibility that the library is compiled with. */
#define EVENTLOG_API __attribute__((visibility("default")))

/* In front of functions whose result reports mistakes that nothing else shows. */
#ifdef __cplusplus
#define EVENTLOG_NODISCARD [[nodiscard]]
#else
#define EVENTLOG_NODISCARD __attribute__((warn_unused_result))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A registered provider. libeventlog owns it. */
struct eventlog_provider;

/*
 * A provider's description of itself. Everything that it points to must stay unchanged until the
 * provider is unregistered.
 */
struct eventlog_raw_provider {
    uint32_t size;        /* sizeof this struct, so that it can grow */
    uint32_t event_count; /* 1 to 1024 */
    uint32_t* gate;       /* 1024 words, all zero, then 4096 bytes for counters */
    size_t gate_size;     /* of the gate: whole pages that hold nothing else */
    const void* schema;   /* binary form, see eventlog/schema_format.hpp */
    size_t schema_size;
};

/* A segment of a payload. Its layout is final, that of struct iovec, because arrays are passed. */
struct eventlog_part {
    const void* data;
    size_t size;
};

/* Status of a provider or of a route. The text that comes with it states the remedy. */
enum eventlog_status_code {
    EVENTLOG_STATUS_OK = 0,  /* published: `elog list` shows it */
    EVENTLOG_STATUS_OFF = 1, /* EVENTLOG=off in the environment */
    EVENTLOG_STATUS_NO_DIRECTORY =
        2,                          /* the directory cannot be created, or others may write to it */
    EVENTLOG_STATUS_NO_SPACE = 3,   /* no room in the process's file */
    EVENTLOG_STATUS_NOT_MAPPED = 4, /* the gate could not be mapped */
    EVENTLOG_STATUS_BAD_SCHEMA = 5, /* definition or schema is not valid */
    EVENTLOG_STATUS_UNREGISTERED = 6, /* not registered yet, or no longer */
    EVENTLOG_STATUS_NO_ROUTE = 7,     /* no such route */
    /* Routes through the kernel: */
    EVENTLOG_STATUS_NO_KERNEL_SUPPORT = 8, /* the kernel does not provide it */
    EVENTLOG_STATUS_NO_PERMISSION = 9,     /* no permission, or its file system is not mounted */
    EVENTLOG_STATUS_INCOMPLETE = 10,       /* some or all events cannot use it */
    /* The process has more rights than the user who would receive its events: */
    EVENTLOG_STATUS_PRIVILEGED = 11
};

/* Routes as a program sees them; eventlog-routes(7) has those of elog. */
enum eventlog_route {
    EVENTLOG_ROUTE_MEMORY = 0,     /* subscriptions in shared memory */
    EVENTLOG_ROUTE_USER_EVENTS = 1 /* the kernel: /dev/eventlog or user_events */
};
#define EVENTLOG_ROUTE_COUNT 2

/*
 * Events of a provider on a route since the provider was published or this process was forked. An
 * event counts once for each listener that wanted it. Events without a listener are not counted.
 * The struct can grow: its user passes its size.
 */
struct eventlog_counters {
    uint64_t written;   /* recorded */
    uint64_t truncated; /* those of them whose texts were truncated */
    uint64_t lost_full; /* no room: the listener is too slow, its buffers are too small, or there is
                           no memory for them */
    uint64_t lost_too_large;  /* a payload of over 65512 bytes; in the kernel: over 4048 */
    uint64_t lost_busy;       /* the shared ring was locked, for 50 ms by another thread (waited for
                                 once) or by the code that a signal handler interrupted */
    uint64_t lost_unattached; /* not attached to the listener (yet): no memory, no descriptor, or
                                 another thread was attaching */
    uint64_t lost_refused;    /* the kernel rejected the event */
};

/*
 * Publishes a provider and attaches it to the subscriptions that want its events.
 *
 * Returns NULL only if memory is short. If publishing failed, the handle emits nothing and
 * eventlog_provider_status gives the reason.
 *
 * Any thread; not from a signal handler. A forked child publishes its own copy.
 */
EVENTLOG_API struct eventlog_provider* eventlog_raw_provider_register(
    const struct eventlog_raw_provider* definition);

/*
 * Withdraws a provider. Its gate reads zero afterwards.
 *
 * Call it once for each handle; NULL is allowed. The memory that the definition points to may be
 * freed afterwards if no thread still emits from it. Callbacks are removed. To know that no
 * callback runs any more, remove them before (eventlog_provider_on_listeners_changed).
 *
 * Any thread.
 */
EVENTLOG_API void eventlog_raw_provider_unregister(struct eventlog_provider* provider);

/*
 * Emits an event with a contiguous payload.
 *
 * `payload` must be readable, and zero from `size` up to the next multiple of 8 bytes. NULL
 * providers and unknown events are ignored. Takes no lock, does not allocate, does not wait.
 *
 * Any thread, any signal handler.
 */
EVENTLOG_API void eventlog_emit_raw(struct eventlog_provider* provider, uint32_t event,
                                    const void* payload, size_t size);

/*
 * Bits of a gate word that do not prove that there is a listener. If no other bit is set, ask
 * eventlog_has_listener. One bit belongs to the kernel's user_events: kernels before Linux 6.4 do
 * not write to gates, so there it is always set. The other is the notification bit: the next emit
 * handles a change. An emit needs no such check, because an event without a listener is discarded.
 */
#define EVENTLOG_GATE_AMBIGUOUS 0x80010000U

/* Whether the event has a listener; false for NULL. Any thread, any signal handler. */
EVENTLOG_API bool eventlog_has_listener(const struct eventlog_provider* provider, uint32_t event);

/*
 * Constants of an event with at most three words and one text. It must stay in place while its
 * provider is registered. Its layout is final, because assembly and compiled call sites read it; an
 * event with other constants would get another function.
 */
struct eventlog_site {
    struct eventlog_provider* provider; /* NULL: not registered */
    /* The fallback, called with the same arguments if the fast path cannot emit the event. */
    void (*emit)(const struct eventlog_site* site, uint64_t first, uint64_t second, uint64_t third,
                 const void* text, size_t size);
    uint64_t head;        /* event << 10 | fixed_size */
    uint64_t fixed_size;  /* bytes of the payload in front of the text: 4 to 24 */
    const uint32_t* gate; /* the event's word in the provider's definition */
};

/* The call reads the address from the global offset table itself, which saves a jump. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define EVENTLOG_CALLED_DIRECTLY __attribute__((noplt))
#endif
#endif
#ifndef EVENTLOG_CALLED_DIRECTLY
#define EVENTLOG_CALLED_DIRECTLY
#endif

/*
 * Emits an event that a site describes.
 *
 * The words are the first 24 bytes of the payload, including the text's word, and zero from
 * fixed_size on; otherwise the record does not match the schema. `text` has `size` - 1 bytes and
 * needs no NUL; a `size` of 0 means no text. Takes no lock, does not allocate, does not wait.
 *
 * Any thread, any signal handler.
 */
EVENTLOG_API EVENTLOG_CALLED_DIRECTLY void eventlog_emit_raw_text(const struct eventlog_site* site,
                                                                  uint64_t first, uint64_t second,
                                                                  uint64_t third, const void* text,
                                                                  size_t size);

/* Texts of the event were truncated. The record is marked, and the event is counted. */
#define EVENTLOG_EMIT_TRUNCATED 1U

/*
 * Emits an event whose payload has `count` segments, each copied once, straight into the ring.
 *
 * `flags` is 0 or EVENTLOG_EMIT_TRUNCATED. The segments must be readable. Takes no lock, does not
 * allocate, does not wait.
 *
 * Any thread, any signal handler, any forked child.
 */
EVENTLOG_API void eventlog_emit_raw_parts(struct eventlog_provider* provider, uint32_t event,
                                          const struct eventlog_part* pieces, size_t count,
                                          uint32_t flags);

/*
 * Returns the status of a provider; for NULL, EVENTLOG_STATUS_UNREGISTERED. `text`, if it is not
 * NULL, receives a sentence of at most `text_size` bytes with its NUL.
 *
 * Any thread and forked child; not from a signal handler, because it takes a lock.
 */
EVENTLOG_API enum eventlog_status_code eventlog_provider_status(
    const struct eventlog_provider* provider, char* text, size_t text_size);

/*
 * Returns whether a route (enum eventlog_route) can be used, with a sentence in `text` as above.
 *
 * `counters`, if it is not NULL, receives at most `counters_size` bytes, which is sizeof(struct
 * eventlog_counters) as the caller knows it. The counters are zero while the provider is not
 * published.
 *
 * Any thread and forked child; not from a signal handler.
 */
EVENTLOG_API enum eventlog_status_code eventlog_provider_route_status(
    const struct eventlog_provider* provider, uint32_t route, struct eventlog_counters* counters,
    size_t counters_size, char* text, size_t text_size);

/*
 * Sets the callback that runs when a listener of the provider appears or disappears. It receives
 * the number of subscriptions that now want any event of the provider, without paused ones. It
 * also runs once soon after this call.
 *
 * The library has no thread of its own. The callback runs inside the next emit of any event of the
 * provider, in the emitting thread, or in eventlog_provider_run_callbacks, and never in two threads
 * at once. Requirements on the callback:
 *
 * - If the application emits in signal handlers, the callback must be async-signal-safe.
 * - A thread that emits while it holds a lock that the callback takes deadlocks.
 * - It may emit, and replace itself and other callbacks.
 *
 * The call replaces an earlier callback together with its context: a callback never receives the
 * context of another one. NULL removes the callback. After the return, the earlier callback is not
 * started any more. A thread that already runs it, or is about to, is not waited for. Returns true
 * if there is no such thread: the earlier callback does not run and never will, so its code and
 * context may be freed. Returns false if another thread runs any callback of this provider. A
 * callback that runs in the calling thread itself is not counted. To wait, repeat the call without
 * a lock that a callback takes:
 *
 *     while (!eventlog_provider_on_listeners_changed(provider, NULL, NULL)) {
 *         sched_yield();
 *     }
 *
 * Any thread, forked child and callback; not from a signal handler, nor from a callback that runs
 * in one.
 */
EVENTLOG_API bool eventlog_provider_on_listeners_changed(struct eventlog_provider* provider,
                                                         void (*callback)(void* context,
                                                                          unsigned listeners),
                                                         void* context);

/*
 * Sets the callback that runs for each new subscription of the provider, in shared memory or
 * through the device of the kernel module. Events of this provider that the callback emits reach
 * that subscription only. The event of kind state_complete follows if the schema has one. It also
 * runs if a consumer through tracefs or perf requests the state (elog record --state): what it
 * emits then reaches all listeners in the kernel.
 *
 * Execution, locks and return value: as of eventlog_provider_on_listeners_changed. Signals of the
 * thread are blocked until the callback returns.
 */
EVENTLOG_API bool eventlog_provider_on_new_listener(struct eventlog_provider* provider,
                                                    void (*callback)(void* context), void* context);

/*
 * Runs callbacks that are due, and retries a failed registration with the kernel's user_events, at
 * most once a second. For applications that emit rarely. NULL is ignored.
 *
 * Any thread, callback and forked child, and any signal handler in which the callbacks may run.
 */
EVENTLOG_API void eventlog_provider_run_callbacks(struct eventlog_provider* provider);

/*
 * Requests a snapshot from every flight recorder (elog flight start) that is attached to this
 * process. A flight recorder keeps the newest events; a process that waits for requests (elog
 * flight snapshot --on-request) writes them to a file. `reason`, a NUL-terminated text or NULL, is
 * shown with the snapshot. At most 36 bytes of it are kept, whole characters of UTF-8.
 *
 * The call does not wait, so it does not report when, or whether, the snapshot is taken. The
 * snapshot contains all events that this thread emitted before. No waiting process is needed: the
 * request stays, elog flight status shows it, and a process that waits later answers it. One
 * snapshot answers all requests that were made before it began.
 *
 * Returns the number of flight recorders that were asked; 0 if none is attached. A flight recorder
 * is attached from the start of the process or, if it was started later, from the first event that
 * the process emits for it.
 *
 * Takes no lock, does not allocate. Any thread, any signal handler, any forked child.
 */
EVENTLOG_API unsigned eventlog_request_snapshot(const char* reason);

/*
 * Gives the calling thread a batch: events for listeners of eventlog's kernel module are collected
 * in `room`, each with its time, and written together, up to 64 KiB at once. This takes a small
 * part of the time of one write for each event.
 *
 * They are written when the batch is full, when another provider's events follow, and at
 * eventlog_kernel_batch_flush, eventlog_kernel_batch_end, eventlog_provider_run_callbacks and
 * eventlog_raw_provider_unregister in this thread. Until then no listener sees them; if the process
 * dies they are lost. So flush before the thread waits.
 *
 * Listeners of the device or of a relay channel receive the times at which events were emitted, on
 * CLOCK_MONOTONIC as this process reads it. Tracers (perf, ftrace) receive the time of the write.
 * Events for subscriptions in shared memory and for user_events do not pass through the batch.
 *
 * `room` belongs to the batch until eventlog_kernel_batch_end, which the same thread must call
 * before it ends or `room` is freed. At most 65536 bytes are used. A forked child continues with an
 * empty batch: the collected events are its parent's. An event of a signal handler that interrupts
 * the use of the batch is written at once.
 *
 * Returns false, and changes nothing, if the thread has a batch already or `room` cannot hold a few
 * events. Takes no lock, does not allocate.
 *
 * This function and the next two: any thread and forked child; not from a signal handler.
 */
EVENTLOG_API bool eventlog_kernel_batch_begin(void* room, size_t size);

/* Writes the events of the calling thread's batch. Does nothing without a batch. */
EVENTLOG_API void eventlog_kernel_batch_flush(void);

/* Writes the events of the calling thread's batch, and ends the batch. */
EVENTLOG_API void eventlog_kernel_batch_end(void);

/* A custom clock of the program: the time of a simulation, the counter of a device. */
struct eventlog_clock_source {
    uint32_t size;      /* sizeof this struct, so that it can grow */
    uint32_t bits;      /* width of the count, 8 to 64 */
    uint64_t frequency; /* ticks a second, 1 to 10 000 000 000 */
    uint64_t (*read)(void* context);
    void* context;
};

/*
 * Sets the clock that times the events of this process, of all providers of this library. NULL: the
 * machine's clock. A plugin that is linked with a static copy of the library has a clock setting of
 * its own.
 *
 * Both clocks agree at the instant of this call. Afterwards an event's time advances by as many
 * seconds as the custom clock has counted, even if that clock is faster or slower, stands still or
 * runs backwards. Nothing corrects it; another call aligns the clocks again. Events in the kernel's
 * user_events have the kernel's time.
 *
 * A clock of fewer than 64 bits wraps. The library assumes the number of wraps that brings its time
 * closest to CLOCK_MONOTONIC, so two events may be any time apart. The clock must count the time
 * that passes in CLOCK_MONOTONIC, which excludes suspend, and must not wrap in less than 10 ms. A
 * clock of 64 bits has no such limits.
 *
 * `read` is called for each event and each subscription that receives it, usually once. The
 * emitting threads call it, several at once, and from signal handlers if the program emits there.
 * It must be async-signal-safe, keep errno, return soon, neither throw nor emit, and have no
 * cancellation point. Bits above `bits` are ignored. An event that is being emitted during this
 * call has the time of either clock, and may still call the previous `read`: its code and context
 * must stay valid as long as threads may emit. A forked child continues with the clock of its
 * parent.
 *
 * An event with a custom clock takes about 60 ns longer, because it does not use the fast path.
 * Without a custom clock events have no such cost.
 *
 * Returns false, and changes nothing, if a member of the struct is out of range. Takes 10 ms or
 * more, in which signals to the calling thread are blocked. Any thread and forked child; not from a
 * signal handler.
 */
EVENTLOG_API bool eventlog_set_clock(const struct eventlog_clock_source* source);

#ifdef __cplusplus
}
#endif

#include <eventlog/detail/pop_emit.h>

#endif /* EVENTLOG_ABI_H */
