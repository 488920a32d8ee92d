// SPDX-License-Identifier: MIT
//
// Fixed parts of a generated header for kernel modules; those with parameters are fmt formats.
#pragma once

#include <string_view>

namespace elog::kernel_c_templates {

/// 0: provider and description, 1: hash, 2: name of the header without .h, 3: provider.
inline constexpr char introduction[] = R"(/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Trace events of the provider {0}
 *
 * Made by elog schema gen --lang kernel-c. Change the schema and make it anew; this is
 * overwritten. The hash of the schema is 0x{1:016x}.
 *
 * This file is {2}.h, in a folder that the module's Kbuild names with
 * ccflags-y += -I$(src). One source of the module defines CREATE_TRACE_POINTS in
 * front of the line that includes it. Then trace_{3}_EVENT() may be called from any
 * context, and costs a jump that is not taken without a listener.
)";

inline constexpr std::string_view about_texts = R"( *
 * Texts end with a NUL. One that is too long for a trace event is cut, and ends in
 * dots; the size of a byte string or sequence is the one that is left after cutting.
)";

inline constexpr std::string_view about_optional_fields = R"( *
 * Optional fields are passed by pointer: NULL is no value.
)";

/// 0: provider, 1: provider in capitals.
inline constexpr char begin[] = R"( */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM eventlog
#undef TRACE_SYSTEM_VAR
#define TRACE_SYSTEM_VAR eventlog_{0}

#if !defined(_TRACE_EVENTLOG_{1}_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_EVENTLOG_{1}_H

#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

#ifndef _EVENTLOG_{1}_TYPES
#define _EVENTLOG_{1}_TYPES

)";

/// 0: function that returns a text's size, 1: function that copies a text.
inline constexpr char text_helpers[] =
    R"(/* The size of a text with its NUL; 0 if it is NULL. */
static inline size_t {0}(const char *text, size_t max)
{{
	return text ? min(strnlen(text, max) + 1, max) : 0;
}}

/* A text of the size max is cut between two characters of UTF-8, and ends in dots. */
static inline void {1}(char *to, const char *text, size_t size, size_t max)
{{
	size_t kept = size < max ? size - 1 : max - 4;

	if (!size)
		return;
	while (size == max && kept > max - 7 && (text[kept] & 0xc0) == 0x80)
		kept--;
	memcpy(to, text, kept);
	memset(to + kept, '.', size - 1 - kept);
	to[size - 1] = '\0';
}}

)";

/// 0: function that returns the size of a byte string or the count of a sequence.
inline constexpr char bytes_helper[] =
    R"(/* The number of bytes or elements that are kept. */
static inline size_t {0}(const void *data, size_t size, size_t max)
{{
	return data ? min(size, max) : 0;
}}

)";

inline constexpr std::string_view address_helper =
    R"(/* The position of a byte of an address in network byte order in its number. */
#ifdef __BIG_ENDIAN
#define EVENTLOG_IP4_SHIFT(byte) (24 - 8 * (byte))
#else
#define EVENTLOG_IP4_SHIFT(byte) (8 * (byte))
#endif

)";

/// 0: provider in capitals.
inline constexpr char end_of_types[] = R"(#endif /* _EVENTLOG_{0}_TYPES */

)";

/// 0: provider in capitals, 1: name of the header without .h.
inline constexpr char end[] = R"(#endif /* _TRACE_EVENTLOG_{0}_H */

/* This part must be outside of the protection against being read twice. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE {1}
#include <trace/define_trace.h>

/*
 * The payload of the schema follows struct trace_entry, byte for byte, except that the
 * offsets of texts, byte strings and sequences count from the beginning of the entry.
 */
#if defined(CREATE_TRACE_POINTS) && defined(TRACEPOINTS_ENABLED)
#undef EVENTLOG_FIELD_AT
#define EVENTLOG_FIELD_AT(event, field, offset, size)			\
	static_assert(offsetof(struct trace_event_raw_##event, field) ==	\
		      sizeof(struct trace_entry) + (offset));		\
	static_assert(sizeof_field(struct trace_event_raw_##event, field) == (size))

)";

}  // namespace elog::kernel_c_templates
