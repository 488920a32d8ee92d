/* SPDX-License-Identifier: MIT */
/*
 * Emitting events of providers that are defined at run time: the test for listeners, and values of
 * fields. Part of eventlog.h.
 */
#ifndef EVENTLOG_VALUES_H
#define EVENTLOG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <eventlog/abi.h>
#include <eventlog/definition.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/*
 * The value of one field. Its layout is final, because arrays are passed: another type of value
 * would use these members, with the union for 8 bytes or an address.
 */
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
 * For arrays and sequences. `elements` points to `count` elements of the field's type: bool, char,
 * int8_t to uint64_t, float or double; NULL only with a count of 0.
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
 * An event over 64 KiB is truncated (longest texts, byte strings and sequences; texts between two
 * characters) or rejected, as its definition states. The subscription counts both; neither is an
 * error.
 *
 * Runs the callbacks of eventlog_provider_on_listeners_changed and
 * eventlog_provider_on_new_listener (abi.h) that are due: the caller must not hold a lock that they
 * take.
 *
 * Any thread, any signal handler, any forked child. Takes no lock, does not allocate, does not
 * wait. A payload of up to 512 bytes is assembled on the stack; a larger one goes to the ring in
 * segments.
 */
EVENTLOG_API enum eventlog_error eventlog_emit(struct eventlog_provider* provider, uint32_t event,
                                               const struct eventlog_value* values, size_t count);

/*
 * Returns the error that eventlog_emit would return for these values, and emits nothing.
 * `text`, if it is not NULL, receives a sentence of at most `text_size` bytes with its NUL; it is
 * empty if there is no error. Any thread; not from a signal handler.
 */
EVENTLOG_API enum eventlog_error eventlog_check_values(struct eventlog_provider* provider,
                                                       uint32_t event,
                                                       const struct eventlog_value* values,
                                                       size_t count, char* text, size_t text_size);

/*
 * Emit payloads that are assembled already with eventlog_emit_raw and eventlog_emit_raw_parts
 * (abi.h), which do not check them. Layout: the fixed part has the fields of 8 bytes, then those of
 * 4, 2 and 1 bytes, each group in the order of definition, the session first of all; then one byte
 * for each optional field. Texts, byte strings and sequences follow. eventlog/schema_format.hpp
 * describes how the fixed part refers to them.
 */

#ifdef __cplusplus
}
#endif

#endif /* EVENTLOG_VALUES_H */
