/* SPDX-License-Identifier: MIT */
/*
 * What the templates of eventlog.hpp call: the binary interface of libeventlog.
 *
 * Applications include eventlog/eventlog.hpp and need none of this by name.
 *
 * None of these functions throws, aborts, prints or changes errno.
 *
 * Forked children are those of fork(). A child that is made by _Fork, clone or a raw
 * system call emits with the process and thread numbers of its parent; so does a
 * handler of pthread_atfork in the child that was registered before the library's,
 * which the process's first provider registers.
 */
#ifndef EVENTLOG_ABI_H
#define EVENTLOG_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Seen outside of the library, whatever the visibility it is compiled with. */
#define EVENTLOG_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* A registered provider; libeventlog owns it. */
struct eventlog_provider;

/*
 * How a provider describes itself.
 *
 * All that it points to must stay as it is until the provider is unregistered.
 */
struct eventlog_provider_definition {
    uint32_t size;        /* sizeof this struct: lets it grow */
    uint32_t event_count; /* 1 to 1024 */
    uint32_t* gate;       /* 1024 words, all zero, and 4096 bytes for counters: */
    size_t gate_size;     /* bytes of the whole pages that these have for themselves */
    const void* schema;   /* binary form, see eventlog/schema_format.hpp */
    size_t schema_size;
};

/* A part of a payload that is not in one place. */
struct eventlog_piece {
    const void* data;
    size_t size;
};

/* What became of a provider, or of a route: the sentence beside it says what to do. */
enum eventlog_status_code {
    EVENTLOG_OK = 0,           /* published: `elog list` shows it */
    EVENTLOG_OFF = 1,          /* EVENTLOG=off in the environment */
    EVENTLOG_NO_DIRECTORY = 2, /* the directory cannot be made or is not ours alone */
    EVENTLOG_NO_SPACE = 3,     /* no memory for the provider's file */
    EVENTLOG_NOT_MAPPED = 4,   /* the gate could not be mapped */
    EVENTLOG_BAD_SCHEMA = 5,   /* definition or schema is not valid */
    EVENTLOG_UNREGISTERED = 6, /* not registered yet, or not any more */
    EVENTLOG_NO_ROUTE = 7,     /* there is no such route */
    /* Of a route through the kernel: */
    EVENTLOG_NO_KERNEL_SUPPORT = 8, /* this kernel does not have it */
    EVENTLOG_NO_PERMISSION = 9,     /* it may not be used, or its file system is not mounted */
    EVENTLOG_INCOMPLETE = 10        /* some events, or all, cannot take it */
};

/* The ways that events take to those who listen. */
enum eventlog_route {
    EVENTLOG_ROUTE_MEMORY = 0,     /* subscriptions in shared memory: elog record */
    EVENTLOG_ROUTE_USER_EVENTS = 1 /* the kernel's user_events: perf, ftrace */
};
#define EVENTLOG_ROUTE_COUNT 2

/*
 * What became of a provider's events on a route since the provider was
 * published, or since this process was forked: one count for each listener who
 * wanted the event. Events that nobody wants are counted nowhere.
 */
struct eventlog_counters {
    uint64_t written;         /* recorded */
    uint64_t cut;             /* of these: with texts that were too long */
    uint64_t lost_full;       /* no room: the listener is too slow, or its buffers too small, or
                                 there is no memory for them */
    uint64_t lost_too_large;  /* over 65512 bytes of payload; for the kernel: over 4048 */
    uint64_t lost_busy;       /* the ring was in use: by the code that a signal interrupted, or by
                                 others for milliseconds */
    uint64_t lost_unattached; /* the listener could not be joined (yet): no memory, no descriptor,
                                 or another thread was just about it */
    uint64_t lost_refused;    /* the kernel did not take it */
};

/*
 * Publishes a provider and attaches it to the subscriptions that want it.
 *
 * Returns a handle in every case but lack of memory (NULL); when publishing
 * failed the handle says why (eventlog_provider_status) and emits nothing.
 * Any thread; not from a signal handler. A forked child publishes itself anew.
 */
EVENTLOG_API struct eventlog_provider* eventlog_provider_register(
    const struct eventlog_provider_definition* definition);

/*
 * Withdraws a provider: its gate reads zero from now on.
 *
 * Any thread, once per handle; NULL is allowed. The memory that the definition
 * points to may go away afterwards, if no thread still emits from it. Callbacks
 * are taken back; whoever has to know that none runs any more takes them back
 * before (eventlog_provider_on_change).
 */
EVENTLOG_API void eventlog_provider_unregister(struct eventlog_provider* provider);

/*
 * Emits an event whose payload is in one place.
 *
 * `payload` must be readable, and zero behind `size`, up to the next multiple
 * of 8 bytes. Any thread, any signal handler. Takes no lock, allocates nothing,
 * waits for nobody. NULL providers and unknown events are ignored.
 */
EVENTLOG_API void eventlog_emit(struct eventlog_provider* provider, uint32_t event,
                                const void* payload, size_t size);

/*
 * Bits of a gate word that alone do not say that somebody listens: then
 * eventlog_has_listener knows. One is the kernel's user_events': kernels before
 * Linux 6.4 do not write to gates, so there it is set all the time. One says that
 * something has changed that the next emit looks at. Whoever only emits need not
 * ask: an event that nobody wants goes nowhere.
 */
#define EVENTLOG_GATE_AMBIGUOUS 0x80010000U

/* Whether anyone listens to the event. Any thread, any signal handler; NULL: no. */
EVENTLOG_API bool eventlog_has_listener(const struct eventlog_provider* provider, uint32_t event);

/*
 * An event of at most three words and one text, as most are: what a program has
 * to say of it. It must stay in place as long as its provider is registered.
 */
struct eventlog_site {
    struct eventlog_provider* provider; /* NULL: it is not registered */
    /* Called instead, with the same arguments, when the event cannot go the shortest way. */
    void (*emit)(const struct eventlog_site* site, uint64_t first, uint64_t second, uint64_t third,
                 const void* text, size_t size);
    uint64_t head;        /* event << 48 | 24 + fixed_size */
    uint64_t fixed_size;  /* of the payload, in front of the text: 4 to 24 */
    const uint32_t* gate; /* the event's word in the provider's definition */
};

/* The linker's table is read at the call, which saves a jump. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define EVENTLOG_CALLED_DIRECTLY __attribute__((noplt))
#endif
#endif
#ifndef EVENTLOG_CALLED_DIRECTLY
#define EVENTLOG_CALLED_DIRECTLY
#endif

/*
 * Emits such an event.
 *
 * The words are the payload's first 24 bytes, zero behind fixed_size (else the
 * record is not what the schema says), the text's word among them. `text` has
 * `size` - 1 bytes; it need not have a NUL. 0 is for no text. Any thread, any
 * signal handler. Takes no lock, allocates nothing, waits for nobody.
 */
EVENTLOG_API EVENTLOG_CALLED_DIRECTLY void eventlog_emit_text(const struct eventlog_site* site,
                                                              uint64_t first, uint64_t second,
                                                              uint64_t third, const void* text,
                                                              size_t size);

/* Texts of the event have been cut: the record says so, and it is counted. */
#define EVENTLOG_EMIT_CUT 1U

/*
 * The same for a payload of `count` pieces, copied once, straight into the ring.
 * `flags` is 0 or EVENTLOG_EMIT_CUT. The pieces must be readable. Any thread, any
 * signal handler, any forked child, as eventlog_emit.
 */
EVENTLOG_API void eventlog_emit_pieces(struct eventlog_provider* provider, uint32_t event,
                                       const struct eventlog_piece* pieces, size_t count,
                                       uint32_t flags);

/*
 * What became of registering, as a code and, if `text` is not NULL, a sentence
 * of at most `text_size` bytes with its NUL. NULL: EVENTLOG_UNREGISTERED. Any
 * thread and forked child; not from a signal handler: it takes a lock.
 */
EVENTLOG_API enum eventlog_status_code eventlog_provider_status(
    const struct eventlog_provider* provider, char* text, size_t text_size);

/*
 * What became of a route (enum eventlog_route): whether it can be used, as a
 * code and a sentence as above, and what has been counted, if `counters` is not NULL. At most
 * `counters_size` bytes are written there, sizeof(struct eventlog_counters) as
 * the caller knows it. All zero while the provider is not published. Any
 * thread and forked child; not from a signal handler.
 */
EVENTLOG_API enum eventlog_status_code eventlog_provider_route_status(
    const struct eventlog_provider* provider, uint32_t route, struct eventlog_counters* counters,
    size_t counters_size, char* text, size_t text_size);

/*
 * Calls back when somebody began or stopped to listen to the provider, with the
 * number of subscriptions that now want any of its events; and once soon after
 * this call.
 *
 * There is no thread that could do it: the callback runs inside the next emit
 * of any event of the provider, in the emitting thread, or in
 * eventlog_provider_poll. Never in two threads at once. So it must be fit for
 * wherever the application emits: if that is a signal handler, it must be
 * async-signal-safe, and a thread that emits while it holds a lock that the
 * callback takes waits for itself. It may emit, and replace itself and others.
 *
 * Replaces the callback of an earlier call, with its context: no callback ever
 * gets the context of another one. NULL takes it back. What was there before is
 * not begun any more once this has returned, with one exception: this does not
 * wait for a thread that is calling back, or just about to. Returns whether there
 * is none: then the earlier callback does not run, never will again, and its
 * code and context may go. False: a callback of this provider, whichever, is at
 * work in another thread. (A call that the calling thread itself is in does not
 * count: it knows.) Who has to wait asks again, without a lock that a callback
 * takes:
 *
 *     while (!eventlog_provider_on_change(provider, NULL, NULL)) {
 *         sched_yield();
 *     }
 *
 * Any thread, forked child and callback; not from a signal handler, nor from a
 * callback that runs in one.
 */
EVENTLOG_API bool eventlog_provider_on_change(struct eventlog_provider* provider,
                                              void (*callback)(void* context, unsigned listeners),
                                              void* context);

/*
 * Calls back for each subscription that is new to the provider: what the
 * callback emits of this provider goes to that subscription alone, and is
 * followed by the event of kind dump_complete, if the schema has one. When and
 * where it runs, and what is returned: as above; signals of the thread wait until
 * it returns.
 */
EVENTLOG_API bool eventlog_provider_on_dump(struct eventlog_provider* provider,
                                            void (*callback)(void* context), void* context);

/*
 * Runs callbacks that are due, and tries again, at most once a second, to reach the
 * kernel's user_events. For applications that emit seldom. NULL is ignored. Any
 * thread, callback and forked child, and any signal handler in which the callbacks
 * may run.
 */
EVENTLOG_API void eventlog_provider_poll(struct eventlog_provider* provider);

/*
 * Asks for a snapshot of every flight recorder (elog start --overwrite) that
 * hears this process: it keeps the newest events, and somebody who waits for this
 * (elog snapshot --on-request) writes them to a file. `reason`, a text that ends
 * with a NUL or NULL for none, is shown to whoever looks; its first 36 bytes are
 * kept, whole characters of UTF-8.
 *
 * Waits for nobody, so it is not said when, or whether, the snapshot is taken; it
 * has all events that this thread has emitted before. Nobody has to be there: the
 * request stays, elog status shows it, and who comes later answers it. One
 * snapshot answers all requests that were made before it began.
 *
 * Returns how many were asked. 0: nobody keeps anything of this process. A flight
 * recorder hears a process from its start, or, if it has begun later, from the
 * first event on that the process emits for it.
 *
 * Any thread, any signal handler, any forked child. Takes no lock, allocates
 * nothing.
 */
EVENTLOG_API unsigned eventlog_snapshot(const char* reason);

/*
 * The calling thread has a lane from now on: its events for who listens through
 * eventlog's kernel module are collected in `room`, each with its time, and written
 * together, up to 64 KiB at once, which takes a small part of the time of one write
 * for each. They are written when the lane is full, when another provider's events
 * come, at eventlog_lane_flush, eventlog_lane_end, eventlog_provider_poll and
 * eventlog_provider_unregister, in this thread each. Until then nobody sees them; of
 * a process that dies they are lost. So flush before you wait for something.
 *
 * Who listens through the device or a relay channel gets the times at which events
 * were emitted, on CLOCK_MONOTONIC as this process sees it; tracing (perf, ftrace)
 * that of the write. Events for who listens in
 * shared memory, and for user_events, go their ways at once, as without a lane.
 *
 * `room` is the lane's until eventlog_lane_end, which the same thread has to call
 * before it ends or the room goes. Of more than 65536 bytes, only so many are used.
 * A forked child goes on with an empty lane: what it holds is its parent's. An event
 * of a signal handler that interrupts the use of the lane is written at once.
 *
 * Returns false, and changes nothing, if the thread has a lane already or the room is
 * for less than a few events. Takes no lock, allocates nothing. Any thread and forked
 * child; these three not from a signal handler.
 */
EVENTLOG_API bool eventlog_lane_begin(void* room, size_t size);

/* Writes what the calling thread has collected. Without a lane it does nothing. */
EVENTLOG_API void eventlog_lane_flush(void);

/* The same, and the thread has no lane any more. */
EVENTLOG_API void eventlog_lane_end(void);

/* A clock of the program's own: the time of a simulation, the counter of a device. */
struct eventlog_clock_source {
    uint32_t size;      /* sizeof this struct: lets it grow */
    uint32_t bits;      /* that the clock counts with, 8 to 64 */
    uint64_t frequency; /* ticks a second, 1 to 10 000 000 000 */
    uint64_t (*read)(void* context);
    void* context;
};

/*
 * From now on the events of this process, of all providers of this library, are
 * timed by a clock of its own. NULL: by the machine's again. A plugin that was
 * linked with a static copy of the library keeps to the machine's clock, or sets its
 * own.
 *
 * The instant of this call is the same on both clocks. From there on an event is
 * as many seconds later as the program's clock has counted, be it faster or
 * slower, stand still or go back: nothing corrects it. Who wants it to agree with
 * the machine's clock again calls this again. What the kernel's user_events
 * record is timed by the kernel.
 *
 * A clock of fewer than 64 bits wraps. It is taken to have wrapped as often as
 * brings it nearest to where CLOCK_MONOTONIC says it should be, so there may be
 * any time between two events; but it has to count the time that passes, and
 * CLOCK_MONOTONIC too: not while the machine sleeps. It must not wrap within less
 * than 10 ms. A clock of 64 bits may do what it likes.
 *
 * `read` is called for each event and each subscription that it goes to, once as a
 * rule, by the emitting thread: by several at once, and in signal handlers if the
 * program emits there. It must be async-signal-safe, leave errno as it is, return
 * soon, throw nothing and emit nothing. Bits above `bits` are ignored. An event that
 * is being emitted during this call has a time of either clock, and may still call
 * the `read` of before: its code and context must stay as long as threads may emit.
 * A forked child goes on with the clock of its parent.
 *
 * Such an event takes some 60 ns more, and does not go the shortest way; without
 * a clock of their own events pay nothing for it.
 *
 * Returns false, and changes nothing, if the struct says something impossible.
 * Takes 10 ms, in which signals to the calling thread wait, and more where it is
 * held up. Any thread and forked child; not from a signal handler.
 */
EVENTLOG_API bool eventlog_set_clock(const struct eventlog_clock_source* source);

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_ABI_H */
