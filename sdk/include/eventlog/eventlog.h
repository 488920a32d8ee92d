/* SPDX-License-Identifier: MIT */
/*
 * The C interface of eventlog, for events that are known at run time only: programs in C, bindings
 * of other languages, plugins, interpreters. C11 and C++20. In C++, events that are known at
 * compile time are declared with eventlog/eventlog.hpp.
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
 * - No function throws, aborts, prints or changes errno.
 * - "Forked child" means the child of fork(); abi.h describes other children.
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

/* Enough room for any sentence of the library, with its NUL. */
#define EVENTLOG_TEXT_SIZE 512

/* Defining ------------------------------------------------------------------------------------ */

/* Severity of an event. A listener selects all events up to a level. */
enum eventlog_level {
    EVENTLOG_LEVEL_ERROR = 1,   /* a request could not be fulfilled */
    EVENTLOG_LEVEL_WARN = 2,    /* work continues, but needs attention */
    EVENTLOG_LEVEL_INFO = 3,    /* what the program does; 0 means this level, too */
    EVENTLOG_LEVEL_VERBOSE = 4, /* how it does that */
    EVENTLOG_LEVEL_TRACE = 5    /* each detail, for readers of the code */
};

/* Role of an event in time. */
enum eventlog_kind {
    EVENTLOG_KIND_INSTANT = 0,
    EVENTLOG_KIND_BEGIN = 1,         /* the thread begins an activity */
    EVENTLOG_KIND_END = 2,           /* the thread ends that activity */
    EVENTLOG_KIND_COUNTER = 3,       /* its numbers are new values of a quantity */
    EVENTLOG_KIND_SESSION_BEGIN = 4, /* session-bound */
    EVENTLOG_KIND_SESSION_END = 5,
    EVENTLOG_KIND_DUMP_COMPLETE = 6 /* the dump for a new listener is complete */
};

/* Type of a field, or of each element of an array, in the payload. */
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

/* How consumers show a field. */
enum eventlog_format {
    EVENTLOG_FORMAT_PLAIN = 0,
    EVENTLOG_FORMAT_DECIMAL = 1,
    EVENTLOG_FORMAT_HEXADECIMAL = 2,
    EVENTLOG_FORMAT_IP_ADDRESS = 3,   /* 4 or 16 unsigned_8, or an unsigned_32 in network order */
    EVENTLOG_FORMAT_MAC_ADDRESS = 4,  /* 6 unsigned_8 */
    EVENTLOG_FORMAT_ERROR_NUMBER = 5, /* errno */
    EVENTLOG_FORMAT_DURATION = 6,     /* nanoseconds; this one and the next two: 64 bits */
    EVENTLOG_FORMAT_REALTIME = 7,     /* nanoseconds since 1970, UTC */
    EVENTLOG_FORMAT_MONOTONIC = 8,    /* nanoseconds of CLOCK_MONOTONIC */
    EVENTLOG_FORMAT_BYTE_SIZE = 9,    /* a number of bytes */
    EVENTLOG_FORMAT_CHARACTERS = 10   /* a text in an array of characters, up to the first NUL */
};

/*
 * The structs of a definition. Members that are left out are zero, which is the usual choice. Names
 * are 1 to 63 letters, digits and _, no digit first. Texts are NUL-terminated, at most 255 bytes,
 * or NULL for none. The library copies everything, so a definition may be freed after the call.
 */

/* Default member initialisers: without them C++ compilers warn of members that are left out. */
#ifdef __cplusplus
#define EVENTLOG_ZERO \
    {}
#else
#define EVENTLOG_ZERO
#endif

/* One of up to 64 groups of events. Events refer to it as 1 << bit. */
struct eventlog_keyword_definition {
    const char* name EVENTLOG_ZERO;
    uint32_t bit EVENTLOG_ZERO; /* 0 to 63 */
};

/* One value of an enumeration and its name. */
struct eventlog_value_definition {
    const char* name EVENTLOG_ZERO;
    int64_t value EVENTLOG_ZERO;
};

/*
 * Names for the values of an integer. Fields that point to the same object share it in the schema.
 */
struct eventlog_enumeration_definition {
    const char* name EVENTLOG_ZERO;
    const struct eventlog_value_definition* values EVENTLOG_ZERO;
    uint32_t value_count EVENTLOG_ZERO; /* at most 65535, names and values distinct */
    bool combines EVENTLOG_ZERO;        /* the values are bits: a field holds any set of them */
};

/* One field of an event. Fields are shown in their order. */
struct eventlog_field_definition {
    const char* name EVENTLOG_ZERO;
    uint32_t type EVENTLOG_ZERO;   /* enum eventlog_type */
    uint32_t count EVENTLOG_ZERO;  /* more than 1: an array; not of texts or bytes */
    uint32_t format EVENTLOG_ZERO; /* enum eventlog_format */
    bool optional EVENTLOG_ZERO;   /* an event may omit its value */
    /* For integers; NULL: none. */
    const struct eventlog_enumeration_definition* enumeration EVENTLOG_ZERO;
    const char* unit EVENTLOG_ZERO; /* for numbers: "packets", "ms", "%" */
    const char* description EVENTLOG_ZERO;
};

/* One event of a provider. */
struct eventlog_event_definition {
    const char* name EVENTLOG_ZERO;
    const char* description EVENTLOG_ZERO; /* what happened: "A segment was lost" */
    const char* meaning EVENTLOG_ZERO;     /* logged when: "the retransmission timer expires" */
    uint32_t level EVENTLOG_ZERO;          /* enum eventlog_level */
    uint32_t kind EVENTLOG_ZERO;           /* enum eventlog_kind */
    uint64_t keywords EVENTLOG_ZERO;       /* bits of the provider's keywords */
    bool session_bound EVENTLOG_ZERO; /* has an additional first field: session, an unsigned_64 */
    bool cuts_texts EVENTLOG_ZERO; /* over 64 KiB: true cuts the longest texts, false rejects it */
    const struct eventlog_field_definition* fields EVENTLOG_ZERO; /* without the session */
    uint32_t field_count EVENTLOG_ZERO; /* 0 to 100, including the session */
};

/*
 * A definition of a provider. Begin it with EVENTLOG_DEFINITION_SIZES, which lets all structs grow.
 */
struct eventlog_definition {
    uint32_t size EVENTLOG_ZERO; /* sizeof this struct; then those of the other structs */
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
    uint32_t event_count EVENTLOG_ZERO; /* 1 to 1024; an event's number is its position */
};

#define EVENTLOG_DEFINITION_SIZES                                       \
    .size = sizeof(struct eventlog_definition),                         \
    .keyword_size = sizeof(struct eventlog_keyword_definition),         \
    .value_size = sizeof(struct eventlog_value_definition),             \
    .enumeration_size = sizeof(struct eventlog_enumeration_definition), \
    .field_size = sizeof(struct eventlog_field_definition),             \
    .event_size = sizeof(struct eventlog_event_definition)

/* Errors of definitions and values. */
enum eventlog_error {
    EVENTLOG_ERROR_NONE = 0,

    /* Definitions: */
    EVENTLOG_ERROR_ARGUMENT = 1,  /* a required pointer is NULL */
    EVENTLOG_ERROR_SIZE = 2,      /* the sizes in the definition do not match its structs */
    EVENTLOG_ERROR_NAME = 3,      /* invalid name */
    EVENTLOG_ERROR_DUPLICATE = 4, /* a name, keyword bit or value occurs twice */
    EVENTLOG_ERROR_COUNT = 5,     /* too many, or none where one is required */
    EVENTLOG_ERROR_TEXT = 6,      /* a text is over 255 bytes */
    EVENTLOG_ERROR_CHOICE = 7,    /* unknown type, format, level, kind or keyword */
    EVENTLOG_ERROR_MISMATCH = 8,  /* two members contradict each other, such as format and type */
    EVENTLOG_ERROR_TOO_LARGE = 9, /* larger than a record, or a schema, can be */
    EVENTLOG_ERROR_NO_MEMORY = 10,

    /* Values: */
    EVENTLOG_ERROR_NOT_DEFINED = 11,  /* the handle has no definition, or no longer */
    EVENTLOG_ERROR_EVENT = 12,        /* the provider has no such event */
    EVENTLOG_ERROR_VALUE_COUNT = 13,  /* the number of values, or of array elements, is wrong */
    EVENTLOG_ERROR_VALUE_TYPE = 14,   /* the value's type does not suit the field */
    EVENTLOG_ERROR_VALUE_RANGE = 15,  /* the number does not fit the field */
    EVENTLOG_ERROR_VALUE_ABSENT = 16, /* a field that is not optional has no value */
    EVENTLOG_ERROR_SESSION = 17       /* the event is not session-bound */
};

/*
 * Defines a provider, publishes it and attaches it to the subscriptions that want its events.
 *
 * `*provider` is a valid handle in every case. After an error the functions accept it and it never
 * has a listener, so a program may continue. `text`, if it is not NULL, receives a sentence of at
 * most `text_size` bytes with its NUL (EVENTLOG_TEXT_SIZE is enough): which event, which field,
 * what to do. It is empty if there is no error. The definition must be readable during the call. If
 * the provider could not be published, that is no error of its definition; see
 * eventlog_provider_status.
 *
 * A definition that is equivalent to a provider in C++ yields the same schema, byte for byte. Two
 * providers may have the same name: they are two instances of it.
 *
 * Any thread; not from a signal handler. A forked child publishes its own copy. When the process
 * ends or libeventlog is unloaded, the library withdraws the remaining providers. A plugin must
 * withdraw its own before it is unloaded; otherwise they stay published, unused, until then.
 */
EVENTLOG_API enum eventlog_error eventlog_define_provider(
    const struct eventlog_definition* definition, struct eventlog_provider** provider, char* text,
    size_t text_size);

/*
 * Withdraw a provider with eventlog_provider_unregister (abi.h), once. Its memory is freed when no
 * thread is inside eventlog_emit_values for it any more.
 *
 * Handles and their gates stay readable for the life of the process. With the handle of a withdrawn
 * provider, eventlog_enabled returns false, emit does nothing, and eventlog_emit_values returns
 * EVENTLOG_ERROR_NOT_DEFINED. However, the next provider that is defined may get the same handle:
 * an event that a late thread emits would then count as that provider's. So all threads must stop
 * using a handle before the application defines another provider. eventlog_emit_values checks such
 * an event against the new definition, so it cannot damage memory.
 */

/* Emitting ------------------------------------------------------------------------------------ */

/* NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast,modernize-*): also compiled as C */

/*
 * Whether the event has a listener: two relaxed loads if it has none. (On kernels before Linux 6.4
 * that have user_events it is a call.)
 *
 * `provider` is a handle; not NULL. The result for an unknown event is unspecified. Any thread, any
 * signal handler, any forked child.
 */
static inline bool eventlog_enabled(const struct eventlog_provider* provider, uint32_t event) {
    /* Every handle begins with a pointer to its gate, which has at least 1024 words. */
    uint32_t* const* gate = (uint32_t* const*)(const void*)provider;
    const uint32_t* words = __atomic_load_n(gate, __ATOMIC_RELAXED);
    const uint32_t word = __atomic_load_n(&words[event & 1023U], __ATOMIC_RELAXED);
    return word != 0 &&
           ((word & ~EVENTLOG_GATE_AMBIGUOUS) != 0 || eventlog_has_listener(provider, event));
}

/* Selects the member of eventlog_value's union, and the fields that it suits. */
enum eventlog_value_type {
    EVENTLOG_VALUE_ABSENT = 0,   /* for optional fields */
    EVENTLOG_VALUE_BOOLEAN = 1,  /* as.boolean */
    EVENTLOG_VALUE_SIGNED = 2,   /* as.signed_number: fields of integers or characters */
    EVENTLOG_VALUE_UNSIGNED = 3, /* as.unsigned_number: fields of integers or characters */
    EVENTLOG_VALUE_REAL = 4,     /* as.real */
    EVENTLOG_VALUE_TEXT = 5,     /* as.data, `count` bytes or EVENTLOG_NUL_TERMINATED */
    EVENTLOG_VALUE_BYTES = 6,    /* as.data, `count` bytes */
    EVENTLOG_VALUE_ARRAY = 7     /* as.data, `count` elements of type `element` */
};

/* The `count` of a NUL-terminated text. */
#define EVENTLOG_NUL_TERMINATED SIZE_MAX

/* The value of one field. */
struct eventlog_value {
    uint32_t type;    /* enum eventlog_value_type */
    uint32_t element; /* for arrays: enum eventlog_type */
    size_t count;     /* for texts, bytes and arrays */
    union {
        bool boolean;
        int64_t signed_number;
        uint64_t unsigned_number;
        double real;
        const void* data;
    } as;
};

/*
 * Functions that make values. Nothing is copied: texts, bytes and arrays must stay unchanged until
 * the call that receives them has returned. Any thread, any signal handler, any forked child.
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
/* For a field of integers or characters that can hold the number. */
static inline struct eventlog_value eventlog_signed(int64_t number) {
    struct eventlog_value value = {EVENTLOG_VALUE_SIGNED, 0, 0, {false}};
    value.as.signed_number = number;
    return value;
}
/* For a field of integers or characters that can hold the number. */
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
/* NUL-terminated. NULL is a valid text, which is shown as null. */
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
/*
 * `elements` points to `count` elements of the field's type: bool, char, int8_t to uint64_t, float
 * or double.
 */
static inline struct eventlog_value eventlog_array(enum eventlog_type element, const void* elements,
                                                   size_t count) {
    struct eventlog_value value = {EVENTLOG_VALUE_ARRAY, (uint32_t)element, count, {false}};
    value.as.data = elements;
    return value;
}

/* NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast,modernize-*) */

/*
 * Emits an event, with one value for each field, in the order of the definition. The first value of
 * a session-bound event is the session, an unsigned number.
 *
 * The values are checked even without a listener, so that a test finds every mistake. To save that
 * time, ask eventlog_enabled first. After an error nothing is emitted or counted; the return value
 * is the only report (eventlog_check_values gives a sentence). Numbers need not have the field's
 * width, but must fit. Enumerations are numbers, also numbers without a name.
 *
 * An event over 64 KiB is cut (its longest texts and byte strings, texts between two characters) or
 * rejected, as its definition states. The subscription counts both; neither is an error.
 *
 * Runs the callbacks of eventlog_provider_on_change and eventlog_provider_on_dump (abi.h) that are
 * due: the caller must not hold a lock that they take.
 *
 * Any thread, any signal handler, any forked child. Takes no lock, does not allocate, does not
 * wait. A payload of up to 512 bytes is assembled on the stack; a larger one goes to the ring in
 * segments.
 */
EVENTLOG_API enum eventlog_error eventlog_emit_values(struct eventlog_provider* provider,
                                                      uint32_t event,
                                                      const struct eventlog_value* values,
                                                      size_t count);

/*
 * Returns the error that eventlog_emit_values would return for these values, and emits nothing.
 * `text`, if it is not NULL, receives a sentence of at most `text_size` bytes with its NUL; it is
 * empty if there is no error. Any thread; not from a signal handler.
 */
EVENTLOG_API enum eventlog_error eventlog_check_values(struct eventlog_provider* provider,
                                                       uint32_t event,
                                                       const struct eventlog_value* values,
                                                       size_t count, char* text, size_t text_size);

/* Sessions ------------------------------------------------------------------------------------ */

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
 * The event that follows the events of the callback of eventlog_provider_on_dump (abi.h), the same
 * as that of a provider in C++: a member of an eventlog_definition's events. Without it there is no
 * such event.
 */
#define EVENTLOG_DUMP_COMPLETE_EVENT                                                         \
    {                                                                                        \
        .name = "dump_complete", .description = "The present state has been told",           \
        .meaning = "a listener came late and all of the state has been emitted to it alone", \
        .level = EVENTLOG_LEVEL_ERROR, .kind = EVENTLOG_KIND_DUMP_COMPLETE                   \
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
 * Only this session: elog record -e net --session 4711 More of this one than of other sessions:
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
    bool open EVENTLOG_ZERO; /* begun and not ended */
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
 * eventlog_emit_values.
 */
EVENTLOG_API enum eventlog_error eventlog_session_begin(struct eventlog_session* session,
                                                        struct eventlog_provider* provider,
                                                        uint64_t id);

/*
 * Emits the begin of the session again, for a new listener (eventlog_provider_on_dump in abi.h).
 * Errors as of eventlog_session_begin.
 */
EVENTLOG_API enum eventlog_error eventlog_session_announce(const struct eventlog_session* session);

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
 * As eventlog_emit_values, for a session-bound event; the values are those of the fields behind the
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

/* Errors and payloads ------------------------------------------------------------------------- */

/*
 * Describes an error in a sentence, without event and field. Never NULL; a constant. Any thread,
 * any signal handler.
 */
EVENTLOG_API const char* eventlog_error_text(enum eventlog_error error);

/*
 * Emit payloads that are assembled already with eventlog_emit and eventlog_emit_pieces (abi.h),
 * which do not check them. Layout: the fixed part has the fields of 8 bytes, then those of 4, 2 and
 * 1 bytes, each group in the order of definition, the session first of all; then one byte for each
 * optional field. Texts and byte strings follow. eventlog/schema_format.hpp describes how the fixed
 * part refers to them.
 */

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_EVENTLOG_H */
