/* SPDX-License-Identifier: MIT */
/*
 * eventlog in C, and for everyone who learns at run time only which events there are: bindings of
 * other languages, plugins, interpreters. C11, and C++20 as well. In C++, events that are known
 * when the program is compiled are declared with eventlog/eventlog.hpp.
 *
 *     static const struct eventlog_field_definition order_fields[] = {
 *         {.name = "order", .type = EVENTLOG_TYPE_UNSIGNED_64},
 *         {.name = "customer", .type = EVENTLOG_TYPE_TEXT},
 *     };
 *     static const struct eventlog_event_definition events[] = {
 *         {.name = "order_placed", .fields = order_fields, .field_count = 2},
 *     };
 *     const struct eventlog_definition definition = {
 *         EVENTLOG_DEFINITION_SIZES, .name = "shop", .events = events, .event_count = 1};
 *
 *     struct eventlog_provider* shop;
 *     char text[EVENTLOG_TEXT_SIZE];
 *     if (eventlog_define_provider(&definition, &shop, text, sizeof text) != EVENTLOG_ERROR_NONE) {
 *         fprintf(stderr, "%s\n", text);
 *     }
 *     if (eventlog_enabled(shop, 0)) {
 *         const struct eventlog_value values[] = {eventlog_unsigned(17), eventlog_text("ann")};
 *         eventlog_emit_values(shop, 0, values, 2);
 *     }
 *     eventlog_provider_unregister(shop);
 *
 * None of these functions throws, aborts, prints or changes errno. Forked children are those of
 * fork(): abi.h says what becomes of others.
 */
#ifndef EVENTLOG_EVENTLOG_H
#define EVENTLOG_EVENTLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the library's sentences need at most, with their NUL. */
#define EVENTLOG_TEXT_SIZE 512

/* Defining ------------------------------------------------------------------------------------ */

/* How much an event matters. Who listens asks for all events up to a level. */
enum eventlog_level {
    EVENTLOG_LEVEL_ERROR = 1,   /* something was asked for and could not be done */
    EVENTLOG_LEVEL_WARN = 2,    /* it goes on, but somebody should look */
    EVENTLOG_LEVEL_INFO = 3,    /* what the program does; 0 means this one, too */
    EVENTLOG_LEVEL_VERBOSE = 4, /* how it does that */
    EVENTLOG_LEVEL_TRACE = 5    /* each detail, for somebody who follows the code */
};

/* What an event says about time. */
enum eventlog_kind {
    EVENTLOG_KIND_INSTANT = 0,
    EVENTLOG_KIND_BEGIN = 1,         /* something begins that */
    EVENTLOG_KIND_END = 2,           /* ends with the next such event of the thread */
    EVENTLOG_KIND_COUNTER = 3,       /* its numbers are the new values of something */
    EVENTLOG_KIND_SESSION_BEGIN = 4, /* of the session that it names: session-bound */
    EVENTLOG_KIND_SESSION_END = 5,
    EVENTLOG_KIND_DUMP_COMPLETE = 6 /* a late listener has now been told the present state */
};

/* What a field, or each element of an array, is in the payload. */
enum eventlog_type {
    EVENTLOG_TYPE_BOOLEAN = 1,
    EVENTLOG_TYPE_CHARACTER = 2,
    EVENTLOG_TYPE_SIGNED_8 = 3,
    EVENTLOG_TYPE_SIGNED_16 = 4,
    EVENTLOG_TYPE_SIGNED_32 = 5,
    EVENTLOG_TYPE_SIGNED_64 = 6,
    EVENTLOG_TYPE_UNSIGNED_8 = 7,
    EVENTLOG_TYPE_UNSIGNED_16 = 8,
    EVENTLOG_TYPE_UNSIGNED_32 = 9,
    EVENTLOG_TYPE_UNSIGNED_64 = 10,
    EVENTLOG_TYPE_FLOAT_32 = 11,
    EVENTLOG_TYPE_FLOAT_64 = 12,
    EVENTLOG_TYPE_TEXT = 13, /* UTF-8, of any length */
    EVENTLOG_TYPE_BYTES = 14 /* of any number */
};

/* How a field is meant to be shown. */
enum eventlog_format {
    EVENTLOG_FORMAT_PLAIN = 0,
    EVENTLOG_FORMAT_DECIMAL = 1,
    EVENTLOG_FORMAT_HEXADECIMAL = 2,
    EVENTLOG_FORMAT_IP_ADDRESS = 3,   /* 4 or 16 unsigned_8, or an unsigned_32 in network order */
    EVENTLOG_FORMAT_MAC_ADDRESS = 4,  /* 6 unsigned_8 */
    EVENTLOG_FORMAT_ERROR_NUMBER = 5, /* errno */
    EVENTLOG_FORMAT_DURATION = 6,     /* nanoseconds; this and the next two: 64 bits */
    EVENTLOG_FORMAT_REALTIME = 7,     /* nanoseconds since 1970, UTC */
    EVENTLOG_FORMAT_MONOTONIC = 8,    /* nanoseconds of CLOCK_MONOTONIC */
    EVENTLOG_FORMAT_BYTE_SIZE = 9,    /* a number of bytes */
    EVENTLOG_FORMAT_CHARACTERS = 10   /* characters that hold a text, up to the first NUL */
};

/*
 * What a provider is, in plain structs. Members that are not given are zero, and zero is what is
 * usual. Names are 1 to 63 letters, digits and _, no digit first. Texts are NUL-terminated, at most
 * 255 bytes, or NULL for none. Everything is copied: it may go away after the call.
 */

/* So that C++ compilers do not warn of members that are left out, as those of C do not. */
#ifdef __cplusplus
#define EVENTLOG_ZERO \
    {}
#else
#define EVENTLOG_ZERO
#endif

/* One of up to 64 groups of events: events say 1 << bit. */
struct eventlog_keyword_definition {
    const char* name EVENTLOG_ZERO;
    uint32_t bit EVENTLOG_ZERO; /* 0 to 63 */
};

/* One value of an enumeration, and how it is shown. */
struct eventlog_value_definition {
    const char* name EVENTLOG_ZERO;
    int64_t value EVENTLOG_ZERO;
};

/* Names for the values of an integer. Fields that point to the same one share it. */
struct eventlog_enumeration_definition {
    const char* name EVENTLOG_ZERO;
    const struct eventlog_value_definition* values EVENTLOG_ZERO;
    uint32_t value_count EVENTLOG_ZERO; /* at most 65535, names and values distinct */
    bool combines EVENTLOG_ZERO;        /* the values are bits: a field holds any number of them */
};

/* One field of an event. Fields are shown in their order. */
struct eventlog_field_definition {
    const char* name EVENTLOG_ZERO;
    uint32_t type EVENTLOG_ZERO;   /* enum eventlog_type */
    uint32_t count EVENTLOG_ZERO;  /* more than 1: an array of so many; not of texts and bytes */
    uint32_t format EVENTLOG_ZERO; /* enum eventlog_format */
    bool optional EVENTLOG_ZERO;   /* an event may have no value here */
    /* Of an integer; NULL: none. */
    const struct eventlog_enumeration_definition* enumeration EVENTLOG_ZERO;
    const char* unit EVENTLOG_ZERO; /* of a number: "packets", "ms", "%" */
    const char* description EVENTLOG_ZERO;
};

/* One event of a provider. */
struct eventlog_event_definition {
    const char* name EVENTLOG_ZERO;
    const char* description EVENTLOG_ZERO; /* what it is: "A segment was lost" */
    const char* meaning EVENTLOG_ZERO;     /* logged when: "the retransmission timer expires" */
    uint32_t level EVENTLOG_ZERO;          /* enum eventlog_level */
    uint32_t kind EVENTLOG_ZERO;           /* enum eventlog_kind */
    uint64_t keywords EVENTLOG_ZERO;       /* bits that the provider names */
    bool session_bound EVENTLOG_ZERO; /* has one field more, in front: session, an unsigned_64 */
    bool cuts_texts EVENTLOG_ZERO; /* over 64 KiB its longest texts are cut; else it is refused */
    const struct eventlog_field_definition* fields EVENTLOG_ZERO; /* without the session */
    uint32_t field_count EVENTLOG_ZERO;                           /* 0 to 100, with the session */
};

/* Begins with EVENTLOG_DEFINITION_SIZES: with these all structs can grow. */
struct eventlog_definition {
    uint32_t size EVENTLOG_ZERO; /* sizeof this struct, and of the others */
    uint32_t keyword_size EVENTLOG_ZERO;
    uint32_t value_size EVENTLOG_ZERO;
    uint32_t enumeration_size EVENTLOG_ZERO;
    uint32_t field_size EVENTLOG_ZERO;
    uint32_t event_size EVENTLOG_ZERO;
    const char* name EVENTLOG_ZERO;
    const char* description EVENTLOG_ZERO;
    const struct eventlog_keyword_definition* keywords EVENTLOG_ZERO;
    uint32_t keyword_count EVENTLOG_ZERO;
    const struct eventlog_event_definition* events EVENTLOG_ZERO;
    uint32_t event_count EVENTLOG_ZERO; /* 1 to 1024; an event is known by its position */
};

#define EVENTLOG_DEFINITION_SIZES                                       \
    .size = sizeof(struct eventlog_definition),                         \
    .keyword_size = sizeof(struct eventlog_keyword_definition),         \
    .value_size = sizeof(struct eventlog_value_definition),             \
    .enumeration_size = sizeof(struct eventlog_enumeration_definition), \
    .field_size = sizeof(struct eventlog_field_definition),             \
    .event_size = sizeof(struct eventlog_event_definition)

/* What can be wrong with a definition or with values. */
enum eventlog_error {
    EVENTLOG_ERROR_NONE = 0,

    /* Definitions: */
    EVENTLOG_ERROR_ARGUMENT = 1,  /* a pointer is NULL that must not be */
    EVENTLOG_ERROR_SIZE = 2,      /* the sizes in the definition are not those of its structs */
    EVENTLOG_ERROR_NAME = 3,      /* not a name */
    EVENTLOG_ERROR_DUPLICATE = 4, /* a name, keyword bit or value is there twice */
    EVENTLOG_ERROR_COUNT = 5,     /* too many, or none where one is needed */
    EVENTLOG_ERROR_TEXT = 6,      /* a text is over 255 bytes */
    EVENTLOG_ERROR_CHOICE = 7,    /* no such type, format, level, kind or keyword */
    EVENTLOG_ERROR_MISMATCH = 8,  /* two things do not go together: a format and a type */
    EVENTLOG_ERROR_TOO_LARGE = 9, /* more than a record, or a schema, can hold */
    EVENTLOG_ERROR_NO_MEMORY = 10,

    /* Values: */
    EVENTLOG_ERROR_NOT_DEFINED = 11,  /* the handle has no definition, or not any more */
    EVENTLOG_ERROR_EVENT = 12,        /* the provider has no such event */
    EVENTLOG_ERROR_VALUE_COUNT = 13,  /* not one value for each field, or element of an array */
    EVENTLOG_ERROR_VALUE_TYPE = 14,   /* a value of another type than the field */
    EVENTLOG_ERROR_VALUE_RANGE = 15,  /* a number that the field cannot hold */
    EVENTLOG_ERROR_VALUE_ABSENT = 16, /* no value for a field that is not optional */
    EVENTLOG_ERROR_SESSION = 17       /* the event does not belong to a session */
};

/*
 * Defines a provider, publishes it and attaches it to the subscriptions that want it.
 *
 * `*provider` is a handle in every case: after an error one that every function takes and that
 * nobody ever hears, so that a program may go on. On an error, `text`, if it is not NULL, is a
 * sentence of at most `text_size` bytes with its NUL: which event, which field, what to do
 * (EVENTLOG_TEXT_SIZE is enough); else it is empty. The definition must be readable while this
 * runs. That a provider could not be published is no error of its definition:
 * eventlog_provider_status tells.
 *
 * A definition that says what a provider in C++ says makes the same schema, byte for byte. Two
 * providers may have the same name: they are two instances of it.
 *
 * Any thread; not from a signal handler. A forked child publishes itself anew. Providers that are
 * still there when the process ends, or libeventlog is unloaded, are withdrawn then; a plugin that
 * is unloaded withdraws its own before, or they stay published until then, for nobody.
 */
EVENTLOG_API enum eventlog_error eventlog_define_provider(
    const struct eventlog_definition* definition, struct eventlog_provider** provider, char* text,
    size_t text_size);

/*
 * A provider is withdrawn with eventlog_provider_unregister (abi.h), once. Its memory is given back
 * as soon as no thread is inside of eventlog_emit_values for it any more.
 *
 * Handles stay readable for ever, as do their gates: a thread that is late may still ask
 * eventlog_enabled, which says no, and emit, which does nothing, or call eventlog_emit_values,
 * which returns EVENTLOG_ERROR_NOT_DEFINED. But the next provider that is defined may get the same
 * handle. An application that goes on to define others must therefore have stopped using a handle
 * before it does: what a late thread emits would be taken for that provider's. (It is checked
 * against that provider's definition, by eventlog_emit_values, and cannot do harm in memory.)
 */

/* Emitting ------------------------------------------------------------------------------------ */

/* NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast,modernize-*): this is C, too */

/*
 * Whether anyone listens to this event right now: two loads, neither of which orders anything, if
 * nobody does. (On kernels before Linux 6.4 that have user_events it is a call.)
 *
 * `provider` is a handle; not NULL. An event that does not exist has some answer. Any thread, any
 * signal handler, any forked child.
 */
static inline bool eventlog_enabled(const struct eventlog_provider* provider, uint32_t event) {
    /* Every handle begins with a pointer to its gate, which has 1024 words at least. */
    uint32_t* const* gate = (uint32_t* const*)(const void*)provider;
    const uint32_t* words = __atomic_load_n(gate, __ATOMIC_RELAXED);
    const uint32_t word = __atomic_load_n(&words[event & 1023U], __ATOMIC_RELAXED);
    return word != 0 &&
           ((word & ~EVENTLOG_GATE_AMBIGUOUS) != 0 || eventlog_has_listener(provider, event));
}

/* Which member of eventlog_value's union holds the value, and what fields it is for. */
enum eventlog_value_type {
    EVENTLOG_VALUE_ABSENT = 0,   /* of an optional field */
    EVENTLOG_VALUE_BOOLEAN = 1,  /* as.boolean */
    EVENTLOG_VALUE_SIGNED = 2,   /* as.signed_number: any field of integers or characters */
    EVENTLOG_VALUE_UNSIGNED = 3, /* as.unsigned_number: the same */
    EVENTLOG_VALUE_REAL = 4,     /* as.real */
    EVENTLOG_VALUE_TEXT = 5,     /* as.data, `count` bytes or EVENTLOG_NUL_TERMINATED */
    EVENTLOG_VALUE_BYTES = 6,    /* as.data, `count` bytes */
    EVENTLOG_VALUE_ARRAY = 7     /* as.data, `count` elements of the type `element` */
};

/* The count of a text that ends with a NUL. */
#define EVENTLOG_NUL_TERMINATED SIZE_MAX

/* The value of one field. */
struct eventlog_value {
    uint32_t type;    /* enum eventlog_value_type */
    uint32_t element; /* of an array: enum eventlog_type */
    size_t count;     /* of texts, bytes and arrays */
    union {
        bool boolean;
        int64_t signed_number;
        uint64_t unsigned_number;
        double real;
        const void* data;
    } as;
};

/*
 * What follows makes values. Nothing is copied: texts, bytes and arrays must stay as they are until
 * the call that they are handed to has returned. Any thread, any signal handler, any forked child.
 */

/* No value, for an optional field. */
static inline struct eventlog_value eventlog_absent(void) {
    struct eventlog_value value = {EVENTLOG_VALUE_ABSENT, 0, 0, {false}};
    return value;
}
/* For a field of booleans. */
static inline struct eventlog_value eventlog_boolean(bool boolean) {
    struct eventlog_value value = {EVENTLOG_VALUE_BOOLEAN, 0, 0, {boolean}};
    return value;
}
/* For a field of any integers or characters that can hold the number. */
static inline struct eventlog_value eventlog_signed(int64_t number) {
    struct eventlog_value value = {EVENTLOG_VALUE_SIGNED, 0, 0, {false}};
    value.as.signed_number = number;
    return value;
}
/* The same. */
static inline struct eventlog_value eventlog_unsigned(uint64_t number) {
    struct eventlog_value value = {EVENTLOG_VALUE_UNSIGNED, 0, 0, {false}};
    value.as.unsigned_number = number;
    return value;
}
/* For a field of floating-point numbers. */
static inline struct eventlog_value eventlog_real(double number) {
    struct eventlog_value value = {EVENTLOG_VALUE_REAL, 0, 0, {false}};
    value.as.real = number;
    return value;
}
/* Ends with a NUL. NULL is a text, too, which is shown as null. */
static inline struct eventlog_value eventlog_text(const char* text) {
    struct eventlog_value value = {EVENTLOG_VALUE_TEXT, 0, EVENTLOG_NUL_TERMINATED, {false}};
    value.as.data = text;
    return value;
}
/* `length` bytes, which need no NUL; NULL only with a length of 0. */
static inline struct eventlog_value eventlog_text_of(const char* text, size_t length) {
    struct eventlog_value value = {EVENTLOG_VALUE_TEXT, 0, length, {false}};
    value.as.data = text;
    return value;
}
/* `size` bytes; NULL only with a size of 0. */
static inline struct eventlog_value eventlog_bytes(const void* bytes, size_t size) {
    struct eventlog_value value = {EVENTLOG_VALUE_BYTES, 0, size, {false}};
    value.as.data = bytes;
    return value;
}
/* `elements` are `count` bool, char, int8_t to uint64_t, float or double: those of the field. */
static inline struct eventlog_value eventlog_array(enum eventlog_type element, const void* elements,
                                                   size_t count) {
    struct eventlog_value value = {EVENTLOG_VALUE_ARRAY, (uint32_t)element, count, {false}};
    value.as.data = elements;
    return value;
}

/* NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast,modernize-*) */

/*
 * Emits an event, one value for each field, in the order in which they were defined; of a
 * session-bound event the session is the first, an unsigned number.
 *
 * The values are checked whether anyone listens or not, so that a test without a listener finds
 * every mistake; who wants to save that asks eventlog_enabled first. What is wrong is refused as a
 * whole: nothing is emitted and nothing is counted, the return value is all there is
 * (eventlog_check_values says it in words). Numbers need not have the field's width, but must fit.
 * Enumerations are numbers, and may be numbers without a name.
 *
 * An event over 64 KiB is cut (its longest texts and byte strings, texts between two characters) or
 * refused, as its definition says; both are counted by the subscription, neither is an error.
 *
 * Runs the callbacks of eventlog_provider_on_change and eventlog_provider_on_dump (abi.h) that are
 * due: no lock that these take may be held.
 *
 * Any thread, any signal handler, any forked child. Takes no lock, allocates nothing, waits for
 * nobody. Up to 512 bytes the payload is put together on the stack; larger ones go to the ring in
 * pieces.
 */
EVENTLOG_API enum eventlog_error eventlog_emit_values(struct eventlog_provider* provider,
                                                      uint32_t event,
                                                      const struct eventlog_value* values,
                                                      size_t count);

/*
 * Says what eventlog_emit_values would say to these values, and why: `text`, if it is not NULL, is
 * a sentence of at most `text_size` bytes with its NUL, and empty if all is well. Emits nothing.
 * Any thread; not from a signal handler.
 */
EVENTLOG_API enum eventlog_error eventlog_check_values(struct eventlog_provider* provider,
                                                       uint32_t event,
                                                       const struct eventlog_value* values,
                                                       size_t count, char* text, size_t text_size);

/* Sessions ------------------------------------------------------------------------------------ */

/*
 * The events with which sessions begin and end, as a provider in C++ has them: two members of an
 * eventlog_definition's events, at any position.
 *
 *     enum { packet_lost, station_begins, station_ends };
 *     static const struct eventlog_event_definition station_events[] = {
 *         [packet_lost] = {.name = "packet_lost", .session_bound = true},
 *         [station_begins] = EVENTLOG_SESSION_BEGIN_EVENT,
 *         [station_ends] = EVENTLOG_SESSION_END_EVENT,
 *     };
 */
#define EVENTLOG_SESSION_BEGIN_EVENT                                                       \
    {                                                                                      \
        .name = "session_begin", .description = "A session begins",                        \
        .meaning = "the application opens a session", .kind = EVENTLOG_KIND_SESSION_BEGIN, \
        .session_bound = true                                                              \
    }
#define EVENTLOG_SESSION_END_EVENT                                                        \
    {                                                                                     \
        .name = "session_end", .description = "A session ends",                           \
        .meaning = "the application closes a session", .kind = EVENTLOG_KIND_SESSION_END, \
        .session_bound = true                                                             \
    }

/*
 * The event that ends what eventlog_provider_on_dump (abi.h) has emitted for a late listener, as a
 * provider in C++ has it: a member of an eventlog_definition's events, without which there is none.
 */
#define EVENTLOG_DUMP_COMPLETE_EVENT                                                         \
    {                                                                                        \
        .name = "dump_complete", .description = "The present state has been told",           \
        .meaning = "a listener came late and all of the state has been emitted to it alone", \
        .level = EVENTLOG_LEVEL_ERROR, .kind = EVENTLOG_KIND_DUMP_COMPLETE                   \
    }

/*
 * An observed entity, one connection or one request, whose events can be picked out by its number:
 *
 *     struct eventlog_session session;
 *     eventlog_session_begin(&session, net, 4711);
 *     eventlog_session_emit(&session, packet_lost, NULL, 0);
 *     eventlog_session_end(&session);
 *
 * Of this session alone: elog record -e net --session 4711
 * Of this one more than of others: elog record -e net@warn -e 'net:*@trace#' --session 4711
 *
 * The number is the application's choice; two sessions with one number are one to those who listen.
 * Which sessions are wanted, and at which level, is the listener's choice. The number is compared
 * in the program: what belongs to another session is not copied.
 *
 * Plain memory of the application's: filled in by eventlog_session_begin, to be read, and copied or
 * given up without a word. An object belongs to one thread at a time; eventlog_session_emit and
 * eventlog_session_enabled may be called from several. The child of a fork() has a copy: ended
 * there as well, the session ends once more, as an event of the child.
 */
struct eventlog_session {
    struct eventlog_provider* provider EVENTLOG_ZERO;
    uint64_t id EVENTLOG_ZERO;
    bool open EVENTLOG_ZERO; /* has begun, and not ended */
};

/*
 * Begins a session of a provider that was defined at run time: emits the provider's first event of
 * kind session_begin. The object can be used in every case, also after an error:
 *
 * EVENTLOG_ERROR_NOT_DEFINED: the handle has no definition. EVENTLOG_ERROR_EVENT: the provider has
 * no event of that kind. EVENTLOG_ERROR_VALUE_COUNT: this event has fields of its own; emit it with
 * eventlog_session_emit. EVENTLOG_ERROR_ARGUMENT: `session` is NULL.
 *
 * This and the next four: any thread, any signal handler, any forked child, as
 * eventlog_emit_values.
 */
EVENTLOG_API enum eventlog_error eventlog_session_begin(struct eventlog_session* session,
                                                        struct eventlog_provider* provider,
                                                        uint64_t id);

/*
 * Says once more that it began, to tell a late listener the present state
 * (eventlog_provider_on_dump in abi.h). Errors as above.
 */
EVENTLOG_API enum eventlog_error eventlog_session_announce(const struct eventlog_session* session);

/*
 * Whether anyone listens to this event, in this session or another: two loads. `session` has begun.
 */
static inline bool eventlog_session_enabled(const struct eventlog_session* session,
                                            uint32_t event) {
    /* NOLINTNEXTLINE(modernize-use-nullptr): this is C, too */
    return session->provider != NULL && eventlog_enabled(session->provider, event);
}

/*
 * As eventlog_emit_values, for an event that is session-bound: the values are those of the other
 * fields. EVENTLOG_ERROR_SESSION: it is not session-bound.
 */
EVENTLOG_API enum eventlog_error eventlog_session_emit(const struct eventlog_session* session,
                                                       uint32_t event,
                                                       const struct eventlog_value* values,
                                                       size_t count);

/*
 * Ends the session: emits the provider's first event of kind session_end. Nothing, and no error, if
 * it has ended. Errors as of eventlog_session_begin; it has ended nevertheless.
 */
EVENTLOG_API enum eventlog_error eventlog_session_end(struct eventlog_session* session);

/* Errors and payloads ------------------------------------------------------------------------- */

/*
 * What an error means in general: a sentence without event and field. Never NULL; a constant. Any
 * thread, any signal handler.
 */
EVENTLOG_API const char* eventlog_error_text(enum eventlog_error error);

/*
 * Payloads that are ready go out with eventlog_emit and eventlog_emit_pieces (abi.h), unchecked:
 * the fixed part with fields of 8, 4, 2 and 1 bytes in turns, each in the order of their
 * definition, the session first of all, then a byte for each optional field; then texts and bytes.
 * eventlog/schema_format.hpp says how these are found.
 */

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_EVENTLOG_H */
