// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated header for C, as fmt formats.
#pragma once

namespace elog::c_templates {

/// 0: provider and description, 1: hash, 2: provider in capitals.
inline constexpr char head[] = R"(/*
 * Provider {0}
 *
 * Made by elog schema gen --lang c. Change the schema and make it anew; this is overwritten.
 * The hash of the schema is 0x{1:016x}.
 *
 * Include it wherever events are emitted and link with libeventlog. A program or shared
 * object that does is published when it is loaded, once. Without a listener, an event
 * is one load and a branch. All functions: any thread, any signal handler.
 *
 * Texts end with a NUL; NULL is a null text, or no value where the field is optional.
 * Other optional fields are passed by pointer: NULL is no value. The size of a byte string and
 * the number of a sequence's elements follow their pointer.
 */
#ifndef EVENTLOG_PROVIDER_{2}_H
#define EVENTLOG_PROVIDER_{2}_H

#ifdef __cplusplus
#error "This header is for C. Make one for C++: elog schema gen --lang c++"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <eventlog/abi.h>

)";

/// 0: provider, 1: provider in capitals, 2: size of the schema, 3: its bytes, 4: number of events.
inline constexpr char registration[] =
    R"(/* Shared memory is mapped over the gate and the room for counters behind it. */
#if defined(__aarch64__)
#define {1}_GATE_ALIGNMENT 65536
#define {1}_GATE_SIZE 65536
#else
#define {1}_GATE_ALIGNMENT 4096
#define {1}_GATE_SIZE 8192
#endif

/* One in a program or shared object, however many of its sources include this. */
#define {1}_HIDDEN __attribute__((weak, visibility("hidden")))

{1}_HIDDEN __attribute__((aligned({1}_GATE_ALIGNMENT)))
uint32_t {0}_gate[{1}_GATE_SIZE / sizeof(uint32_t)];
{1}_HIDDEN struct eventlog_provider* {0}_provider;
{1}_HIDDEN const unsigned char {0}_schema[{2}] = {{
{3}
}};

__attribute__((constructor)) static void {0}_register(void) {{
    if ({0}_provider == NULL) {{
        const struct eventlog_raw_provider definition = {{
            sizeof definition, {4}, {0}_gate, sizeof {0}_gate, {0}_schema, sizeof {0}_schema}};
        __atomic_store_n(&{0}_provider, eventlog_raw_provider_register(&definition),
                         __ATOMIC_RELEASE);
    }}
}}

__attribute__((destructor)) static void {0}_unregister(void) {{
    eventlog_raw_provider_unregister(
        __atomic_exchange_n(&{0}_provider, NULL, __ATOMIC_ACQ_REL));
}}

static inline struct eventlog_provider* {0}_handle(void) {{
    return __atomic_load_n(&{0}_provider, __ATOMIC_ACQUIRE);
}}

)";

/// 0: provider.
inline constexpr char put_word[] = R"(/*
 * The location of a text, byte string or sequence: its size, and its offset from this word.
 * `end` is its offset in the payload, and is advanced. A payload that is too large is rejected
 * as a whole.
 */
static inline void {0}_put_word(unsigned char* payload, size_t offset, size_t size, size_t* end) {{
    const uint32_t word =
        size == 0 ? 0 : (uint32_t)((size & 0xffff) << 16 | ((*end - offset - 4) & 0xffff));
    memcpy(payload + offset, &word, sizeof word);
    *end += size;
}}

)";

/// 0: provider.
inline constexpr char cut_longest[] = R"(/*
 * Cuts the longest pieces after the first one so that all fit into a record. A unit is the size
 * of a piece's elements, which are not split, or 0 for a text, which is cut between two
 * characters of UTF-8 and followed by a piece of one byte, its NUL. Returns flags to emit.
 */
static inline uint32_t {0}_cut_longest(struct eventlog_part* pieces, const uint8_t* units,
                                       size_t count) {{
    const size_t size_max = 65536 - 24;
    size_t low = 1;
    size_t high = size_max + 1; /* the longest piece that fits is in [low, high) */
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {{
        total += pieces[i].size;
    }}
    if (total <= size_max) {{
        return 0;
    }}
    while (high - low > 1) {{
        const size_t middle = low + (high - low) / 2;
        total = pieces[0].size;
        for (size_t i = 1; i < count; ++i) {{
            total += pieces[i].size < middle ? pieces[i].size : middle;
        }}
        if (total <= size_max) {{
            low = middle;
        }} else {{
            high = middle;
        }}
    }}
    for (size_t i = 1; i < count; ++i) {{
        const unsigned char* const data = (const unsigned char*)pieces[i].data;
        if (pieces[i].size > low) {{
            pieces[i].size = units[i] == 0 ? low : low - low % units[i];
            while (units[i] == 0 && pieces[i].size > 0 && (data[pieces[i].size] & 0xc0) == 0x80) {{
                --pieces[i].size;
            }}
        }}
    }}
    return EVENTLOG_EMIT_TRUNCATED;
}}

)";

/// 0: event, 1: its function that tests the gate, 2: provider, 3: number of the event.
inline constexpr char enabled[] = R"(
/* Whether {0} has a listener now. */
static inline bool {1}(void) {{
    const uint32_t word = __atomic_load_n(&{2}_gate[{3}], __ATOMIC_RELAXED);
    return word != 0 && ((word & ~EVENTLOG_GATE_AMBIGUOUS) != 0 ||
                         eventlog_has_listener({2}_handle(), {3}));
}}

)";

}  // namespace elog::c_templates
