/* SPDX-License-Identifier: MIT */
/*
 * Providers that are defined at run time: their events, fields and enumerations as plain structs,
 * the errors of definitions and values, and the function that defines a provider. Part of
 * eventlog.h.
 */
#ifndef EVENTLOG_DEFINITION_H
#define EVENTLOG_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enough room for any sentence of the library, with its NUL. */
#define EVENTLOG_TEXT_SIZE 512

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
    EVENTLOG_KIND_GAUGE = 3,         /* its numbers are new values of a quantity */
    EVENTLOG_KIND_SESSION_BEGIN = 4, /* session-bound */
    EVENTLOG_KIND_SESSION_END = 5,
    EVENTLOG_KIND_STATE_COMPLETE = 6 /* the new listener has received the current state */
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
 *
 * The limits are those of C++, except that there an enumeration has at most 256 named values, and
 * an event at most 32 fields with a unit, description or format of their own.
 */

/* Default member initializers: without them C++ compilers warn of members that are left out. */
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
    bool is_bitmask EVENTLOG_ZERO;      /* the values are bits: a field holds any set of them */
};

/* One field of an event. Fields are shown in their order. */
struct eventlog_field_definition {
    const char* name EVENTLOG_ZERO;
    uint32_t type EVENTLOG_ZERO;    /* enum eventlog_type */
    uint32_t count EVENTLOG_ZERO;   /* more than 1: an array; not of texts or bytes */
    uint32_t format EVENTLOG_ZERO;  /* enum eventlog_format */
    bool optional EVENTLOG_ZERO;    /* an event may omit its value */
    bool is_sequence EVENTLOG_ZERO; /* an array of any size, of numbers or bools; no count */
    /* For integers; NULL: none. */
    const struct eventlog_enumeration_definition* enumeration EVENTLOG_ZERO;
    const char* unit EVENTLOG_ZERO; /* for numbers: "packets", "ms", "%" */
    const char* description EVENTLOG_ZERO;
};

/* One event of a provider. */
struct eventlog_event_definition {
    const char* name EVENTLOG_ZERO;
    const char* description EVENTLOG_ZERO; /* what happened: "A segment was lost" */
    const char* when EVENTLOG_ZERO;        /* logged when: "the retransmission timer expires" */
    uint32_t level EVENTLOG_ZERO;          /* enum eventlog_level */
    uint32_t kind EVENTLOG_ZERO;           /* enum eventlog_kind */
    uint64_t keywords EVENTLOG_ZERO;       /* bits of the provider's keywords */
    bool session_bound EVENTLOG_ZERO; /* has an additional first field: session, an unsigned_64 */
    bool truncates EVENTLOG_ZERO;     /* over 64 KiB: true shortens its texts, false rejects it */
    const struct eventlog_field_definition* fields EVENTLOG_ZERO; /* without the session */
    uint32_t field_count EVENTLOG_ZERO; /* 0 to 100, including the session */
    const char* file EVENTLOG_ZERO;     /* where it is declared, see EVENTLOG_HERE */
    uint32_t line EVENTLOG_ZERO;
};

/*
 * Initializes the last members of an event or a definition: the line of the program that declares
 * it. The schema has the name of the file without its directories. Optional.
 */
#define EVENTLOG_HERE .file = __FILE__, .line = __LINE__

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
    const char* file EVENTLOG_ZERO;     /* where it is declared, see EVENTLOG_HERE */
    uint32_t line EVENTLOG_ZERO;
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
    EVENTLOG_ERROR_SESSION = 17,      /* the event is not session-bound; in a timed scope: or is */

    /* Collectors: */
    EVENTLOG_ERROR_PATTERN = 18, /* not a pattern for events */
    EVENTLOG_ERROR_OFF = 19      /* EVENTLOG=off is set in the environment */
};

/*
 * Describes an error in a sentence, without event and field. Never NULL; a constant. Any thread,
 * any signal handler.
 */
EVENTLOG_API const char* eventlog_error_text(enum eventlog_error error);

/*
 * The event that follows the events of the callback of eventlog_provider_on_new_listener (abi.h),
 * the same as that of a provider in C++: a member of an eventlog_definition's events. Without it
 * there is no such event.
 */
#define EVENTLOG_STATE_COMPLETE_EVENT                                                     \
    {                                                                                     \
        .name = "state_complete", .description = "The current state is complete",         \
        .when = "a listener came late and all of the state has been emitted to it alone", \
        .level = EVENTLOG_LEVEL_ERROR, .kind = EVENTLOG_KIND_STATE_COMPLETE               \
    }

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
EVENTLOG_NODISCARD EVENTLOG_API enum eventlog_error eventlog_provider_create(
    const struct eventlog_definition* definition, struct eventlog_provider** provider, char* text,
    size_t text_size);

/*
 * Withdraws a provider that eventlog_provider_create made. Call it once for each handle; NULL is
 * allowed. Its memory is freed when no thread is inside eventlog_emit for it any more. Callbacks
 * are removed; to know that none runs any more, remove them before (abi.h). Any thread.
 *
 * Handles and their gates stay readable for the life of the process. With the handle of a withdrawn
 * provider, eventlog_enabled returns false, emit does nothing, and eventlog_emit returns
 * EVENTLOG_ERROR_NOT_DEFINED. A handle is reused only when three more providers have been
 * withdrawn. An event that a thread emits with it even later may count as another provider's, so
 * all threads must have stopped using it by then. eventlog_emit checks such an event against the
 * new definition, so it cannot damage memory.
 */
EVENTLOG_API void eventlog_provider_destroy(struct eventlog_provider* provider);

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_DEFINITION_H */
