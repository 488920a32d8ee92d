// SPDX-License-Identifier: MIT
//
// Assembles the payload of packed arguments on the stack, and emits it. No function allocates,
// throws or waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/array_locations.hpp>
#include <eventlog/detail/event_site.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/packed_args.hpp>
#include <eventlog/detail/payload_copy.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/detail/var_fields.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// A payload with more bytes of variable fields is emitted in segments, because the thread's stack
/// may be small: see Signal stacks in eventlog(7).
inline constexpr std::size_t inline_var_fields_size = 96;

/// Emits a payload with over inline_var_fields_size bytes of variable fields in segments. The words
/// of the variable fields in `fixed` must be zero.
template <std::size_t VarFields>
[[gnu::noinline, gnu::cold, gnu::visibility("hidden")]] void emit_segments(
    const event_site& site, unsigned char* fixed, var_field* found, std::size_t size) noexcept {
    std::uint32_t flags = 0;
    if (site.cuts && size > payload_size_max) {
        std::uint8_t units[VarFields];
        for (std::size_t i = 0; i < VarFields; ++i) {
            units[i] = site.var_fields[i].unit;
        }
        cut_longest(found, units, VarFields, size - payload_size_max);
        flags = EVENTLOG_EMIT_TRUNCATED;
    }
    eventlog_part parts[1 + 2 * VarFields];
    std::size_t count = 0;
    std::size_t before = 0;
    parts[count++] = {fixed, static_cast<std::size_t>(site.common.fixed_size)};
    for (std::size_t i = 0; i < VarFields; ++i) {
        const var_field_location& place = site.var_fields[i];
        if (found[i].size != 0) {
            put_rel_loc(fixed + place.offset, found[i].size, place.distance + before);
            before += found[i].size;
            parts[count++] = {found[i].data, found[i].size - (place.is_text() ? 1 : 0)};
            if (place.is_text()) {
                parts[count++] = {"", 1};
            }
        }
    }
    eventlog_emit_raw_parts(site.handle(), site.event, parts, count, flags);
}

/// The size of a payload with variable fields: a word of zeros is written behind each of them.
constexpr std::size_t payload_capacity(std::size_t fixed_size) {
    return (fixed_size + 7) / 8 * 8 + inline_var_fields_size + 8;
}

/// Calls put_fixed(payload), which writes the fixed part up to a whole word, with zeros in the
/// words of the variable fields and in the padding. Then appends the variable fields, and emits.
template <std::size_t VarFields, bool AllTexts, class PutFixed>
[[gnu::always_inline]] inline void emit_with_var_fields(const event_site& site,
                                                        unsigned char* payload,
                                                        const var_field* found,
                                                        PutFixed put_fixed) noexcept {
    put_fixed(payload);
    std::size_t before = 0;
    for (std::size_t i = 0; i < VarFields; ++i) {
        const var_field_location& place = site.location_of(i);
        const std::size_t part = found[i].size;
        if (part != 0) {
            put_rel_loc(payload + place.offset, part, place.distance + before);
            const std::size_t copied = part - (AllTexts || place.is_text() ? 1 : 0);
            unsigned char* const target = payload + site.common.fixed_size + before;
            copy_text(target, found[i].data, copied);
            // The NUL and the padding. The record includes the padding, which must not contain old
            // bytes of the stack. The next variable field overwrites it.
            std::memset(target + copied, 0, 8);
            before += part;
        }
    }
    eventlog_emit_raw(site.handle(), site.event, payload, site.common.fixed_size + before);
}

/// Whether the variable fields are emitted in segments.
template <class... Size>
[[gnu::always_inline]] inline bool are_large(Size... size) noexcept {
    return (std::size_t{0} + ... + size) > inline_var_fields_size;
}

[[gnu::always_inline]] inline std::size_t measured(const void* data, std::size_t size) noexcept {
    return size == unmeasured ? measure(static_cast<const char*>(data)).size : size;
}

template <std::size_t... Index>
using indices = std::index_sequence<Index...>;

// One argument for each index. A variable field is two arguments: a struct would be assembled in
// memory for the call.
template <std::size_t>
using word = std::uint64_t;
template <std::size_t>
using address = const void*;
template <std::size_t>
using length = std::size_t;

template <class Words, class VarFields, bool AllTexts>
struct encoder;

/// The functions that a call site calls. They are out of line, so that a disabled event is a load,
/// a test and a jump. The payload is aligned to 16 bytes: the ring reads it back at once, 16 bytes
/// at a time, and a read across two cache lines takes three times as long. (Alignment to a whole
/// line would align the stack, which takes long itself.)
template <std::size_t... Word, std::size_t... VarField, bool AllTexts>
struct encoder<indices<Word...>, indices<VarField...>, AllTexts> {
    /// For all events with these numbers of words and variable fields, without arrays: the words
    /// are the fixed part.
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit(
        const event_site& at, word<Word>... words, address<VarField>... data,
        length<VarField>... size) noexcept {
        constexpr std::size_t fixed = 8 * sizeof...(Word);
        if constexpr (sizeof...(VarField) != 0) {
            if (are_large(size...)) [[unlikely]] {
                // A tail call before the stack is used: large events need it for other objects.
                return emit_large(at, words..., data..., size...);
            }
            alignas(16) unsigned char payload[payload_capacity(fixed)];
            const var_field found[] = {{data, size}...};
            emit_with_var_fields<sizeof...(VarField), AllTexts>(
                at, payload, found, [&](unsigned char* target) { put_words(target, {words...}); });
        } else if constexpr (fixed != 0) {
            alignas(16) unsigned char payload[fixed];
            put_words(payload, {words...});
            eventlog_emit_raw(at.handle(), at.event, payload, at.common.fixed_size);
        } else {
            eventlog_emit_raw(at.handle(), at.event, "", 0);
        }
    }

    /// The same events with large variable fields.
    [[gnu::noinline, gnu::cold, gnu::visibility("hidden")]] static void emit_large(
        const event_site& at, word<Word>... words, address<VarField>... data,
        length<VarField>... size) noexcept {
        constexpr std::size_t fixed = 8 * sizeof...(Word);
        alignas(16) unsigned char payload[fixed];
        put_words(payload, {words...});
        var_field found[] = {{data, size}...};
        emit_segments<sizeof...(VarField)>(at, payload, found, (at.common.fixed_size + ... + size));
    }

    /// As emit, with C strings among the variable fields, whose sizes are measured here: the call
    /// site must be short, and a call in emit itself would cost registers for all events.
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit_measured(
        const event_site& at, word<Word>... words, address<VarField>... data,
        length<VarField>... size) noexcept {
        emit(at, words..., data..., measured(data, size)...);
    }

    /// For one event with arrays, which are between the words.
    template <class Event, std::size_t... Array>
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit_arrays(
        const event_site& at, word<Word>... words, address<VarField>... data,
        length<VarField>... size, address<Array>... arrays_by_address) noexcept {
        constexpr std::size_t fixed = event_layout<Event>::fixed_size;
        constexpr std::size_t whole = (fixed + 7) / 8 * 8;
        const std::uint64_t values[] = {words..., 0};
        const void* const arrays[] = {arrays_by_address...};
        const auto put_fixed = [&](unsigned char* target) {
            put_arrays(target, whole, array_locations_of<Event>, values, arrays);
        };
        if constexpr (sizeof...(VarField) != 0) {
            var_field found[] = {{data, measured(data, size)}...};
            if (are_large(found[VarField].size...)) [[unlikely]] {
                alignas(16) unsigned char payload[whole];
                put_fixed(payload);
                emit_segments<sizeof...(VarField)>(at, payload, found,
                                                   (fixed + ... + found[VarField].size));
            } else {
                alignas(16) unsigned char payload[payload_capacity(fixed)];
                emit_with_var_fields<sizeof...(VarField), AllTexts>(at, payload, found, put_fixed);
            }
        } else {
            alignas(16) unsigned char payload[whole];
            put_fixed(payload);
            eventlog_emit_raw(at.handle(), at.event, payload, fixed);
        }
    }
};

inline void emit_small_slow(const eventlog_site* site, std::uint64_t first, std::uint64_t second,
                            std::uint64_t third, const void* text, std::size_t size) noexcept {
    encoder<indices<0, 1, 2>, indices<0>, true>::emit(*reinterpret_cast<const event_site*>(site),
                                                      first, second, third, text, size);
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
