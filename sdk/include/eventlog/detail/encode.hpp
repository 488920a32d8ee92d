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
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/packed_args.hpp>
#include <eventlog/detail/var_fields.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// A payload with more bytes of variable fields is emitted in segments, because the thread's stack
/// may be small.
inline constexpr std::size_t inline_var_fields_size = 512;

using two_words [[gnu::vector_size(16)]] = std::uint64_t;

/// Moves `size` bytes from the words, which are the payload without its arrays, to their offset in
/// the payload.
struct moved_bytes {
    std::uint16_t from = 0;
    std::uint16_t offset = 0;
    std::uint16_t size = 0;
};

struct array_location {
    std::uint16_t offset = 0;
    void (*put)(unsigned char* target, const void* field) = nullptr;
};

/// The offset of a variable field's word in the fixed part, and the distance from its end to the
/// end of the fixed part.
struct var_field_location {
    std::uint16_t offset = 0;
    std::uint16_t distance = 0;
    bool is_text = false;
};

/// The encoder's constants of an event, besides the numbers of words, variable fields and arrays.
/// They are on one cache line, together with the provider's handle: the path to the ring begins
/// here, and each dependent load makes it longer. The handle is no std::atomic: in unoptimised
/// code, functions of std::atomic are shared by all plugins of a process.
struct alignas(64) [[gnu::visibility("hidden")]] event_site {
    eventlog_site common{};  // the first member: the library knows only this part
    const var_field_location* var_fields = nullptr;
    std::uint32_t event = 0;
    bool cuts = false;
    // Most events have one variable field, whose location needs no further load.
    var_field_location first{};

    [[nodiscard]] const var_field_location& location_of(std::size_t var_field) const noexcept {
        return var_field == 0 ? first : var_fields[var_field];
    }
    [[nodiscard]] eventlog_provider* handle() const noexcept {
        return __atomic_load_n(&common.provider, __ATOMIC_ACQUIRE);
    }
    void set_handle(eventlog_provider * handle) noexcept {
        __atomic_store_n(&common.provider, handle, __ATOMIC_RELEASE);
    }
};

template <std::size_t Count>
struct var_field_locations {
    var_field_location locations[at_least_one(Count)]{};
};

constexpr void locate_var_fields(const field_location* fields, std::size_t fixed_size,
                                 std::size_t count, var_field_location* var_fields) {
    for (std::size_t i = 0; count != 0; ++i) {
        const field_location& field = fields[i];
        if (field.type == field_type::text || field.type == field_type::bytes) {
            *var_fields++ = {static_cast<std::uint16_t>(field.offset),
                             static_cast<std::uint16_t>(fixed_size - field.offset - 4),
                             field.type == field_type::text};
            --count;
        }
    }
}

template <class Event>
constexpr auto make_var_field_locations() {
    var_field_locations<event_layout<Event>::var_field_count> made;
    using layout = event_layout<Event>;
    locate_var_fields(layout::locations, layout::fixed_size, layout::var_field_count,
                      made.locations);
    return made;
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr auto var_field_locations_of =
    make_var_field_locations<Event>();

/// Whether an event has at most three words and one text. Most events are small; they have a fast
/// path of their own.
template <class Event>
inline constexpr bool is_small_event =
    event_layout<Event>::word_count <= 3 && event_layout<Event>::var_field_count == 1 &&
    event_layout<Event>::has_only_texts && !event_layout<Event>::has_optional_var_fields &&
    !event_layout<Event>::has_c_strings && event_layout<Event>::array_count == 0;

/// The fallback of small events.
[[gnu::visibility("hidden")]] inline void emit_small_slow(const eventlog_site* site,
                                                          std::uint64_t first, std::uint64_t second,
                                                          std::uint64_t third, const void* text,
                                                          std::size_t size) noexcept;

template <class Event>
consteval event_site make_site(std::size_t event, std::uint32_t* gate) {
    using layout = event_layout<Event>;
    return {{nullptr, is_small_event<Event> ? emit_small_slow : nullptr,
             std::uint64_t{event} << 48U | (24 + layout::fixed_size), layout::fixed_size,
             gate + event},
            var_field_locations_of<Event>.locations,
            static_cast<std::uint32_t>(event),
            traits_of<Event>.oversize == oversize::cut,
            var_field_locations_of<Event>.locations[0]};
}

/// The locations of an event's fields if it has arrays that are passed by address.
template <std::size_t Arrays, std::size_t Moves>
struct array_locations {
    moved_bytes moves[Moves]{};
    array_location arrays_by_address[at_least_one(Arrays)]{};
    std::size_t move_count = 0;
    std::size_t array_count = Arrays;
};

template <class Event>
consteval auto make_array_locations() {
    using layout = event_layout<Event>;
    using fields = fields_of<Event>;
    array_locations<layout::array_count, 2 * fields::count + 1> made;
    const auto move = [&](std::size_t from, std::size_t to, std::size_t size) {
        made.moves[made.move_count++] = {static_cast<std::uint16_t>(from),
                                         static_cast<std::uint16_t>(to),
                                         static_cast<std::uint16_t>(size)};
    };
    if (layout::session_bound) {
        move(0, 0, sizeof(std::uint64_t));
    }
    for (std::size_t i = 0; i < fields::count; ++i) {
        const field_kind& kind = *fields::table.kinds[i];
        const field_location& place = layout::locations[i];
        const field_location& carried = layout::carried.locations[i];
        if (kind.carried == pass_mode::array_by_address) {
            made.arrays_by_address[order_in(layout::carried.packed[i])] = {
                static_cast<std::uint16_t>(place.offset), kind.put};
        } else {
            move(carried.offset, place.offset, size_of(place.type) * place.count);
        }
        if (kind.optional) {
            move(carried.presence, place.presence, 1);
        }
    }
    return made;
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr auto array_locations_of =
    make_array_locations<Event>();

/// Assembles the fixed part from words and arrays. `size` includes the padding of its last word.
template <class Places>
inline void put_arrays(unsigned char* target, std::size_t size, const Places& locations,
                       const std::uint64_t* words, const void* const* arrays_by_address) noexcept {
    std::memset(target, 0, size);
    for (std::size_t i = 0; i < locations.move_count; ++i) {
        const moved_bytes& move = locations.moves[i];
        std::memcpy(target + move.offset, reinterpret_cast<const unsigned char*>(words) + move.from,
                    move.size);
    }
    for (std::size_t i = 0; i < locations.array_count; ++i) {
        locations.arrays_by_address[i].put(target + locations.arrays_by_address[i].offset,
                                           arrays_by_address[i]);
    }
}

/// Writes the word of a variable field whose bytes begin `distance` bytes behind it. Both numbers
/// are truncated to 16 bits: a payload that exceeds these exceeds the largest record, so the ring
/// rejects and counts it.
[[gnu::always_inline]] inline void put_rel_loc(unsigned char* target, std::size_t size,
                                               std::size_t distance) noexcept {
    const auto word = static_cast<std::uint32_t>(size << 16U | (distance & 0xffffU));
    std::memcpy(target, &word, sizeof word);
}

/// Copies `Part` bytes from the begin and from the end, which may overlap.
template <class Part>
[[gnu::always_inline]] inline void copy_ends(unsigned char* target, const unsigned char* source,
                                             std::size_t size) noexcept {
    Part first;
    Part last;
    std::memcpy(&first, source, sizeof first);
    std::memcpy(&last, source + size - sizeof last, sizeof last);
    std::memcpy(target, &first, sizeof first);
    std::memcpy(target + size - sizeof last, &last, sizeof last);
}

/// A memcpy for short texts; 8 to 16 bytes, the length of most names and reasons, come first.
/// Inlined, because a call would make the enclosing function save registers every time.
[[gnu::always_inline]] inline void copy_text(unsigned char* target, const void* source,
                                             std::size_t size) noexcept {
    const auto* from = static_cast<const unsigned char*>(source);
    if (size - 8 <= 8) [[likely]] {
        copy_ends<std::uint64_t>(target, from, size);
    } else if (size > 16) {
        std::size_t done = 0;
        for (; done + sizeof(two_words) < size; done += sizeof(two_words)) {
            std::memcpy(target + done, from + done, sizeof(two_words));
        }
        done = size - sizeof(two_words);
        std::memcpy(target + done, from + done, sizeof(two_words));
    } else if (size >= 4) {
        copy_ends<std::uint32_t>(target, from, size);
    } else if (size != 0) {
        target[0] = from[0];
        target[size / 2] = from[size / 2];
        target[size - 1] = from[size - 1];
    }
}

/// Stores 16 bytes at a time, as the ring loads them: processors forward a load only from a single
/// recent store, and otherwise wait for the cache.
template <std::size_t Count>
[[gnu::always_inline]] inline void put_words(unsigned char* target,
                                             const std::uint64_t (&words)[Count]) noexcept {
    for (std::size_t i = 0; i + 1 < Count; i += 2) {
        const two_words pair{words[i], words[i + 1]};
        std::memcpy(target + 8 * i, &pair, sizeof pair);
    }
    if constexpr (Count % 2 != 0) {
        std::memcpy(target + 8 * (Count - 1), &words[Count - 1], 8);
    }
}

/// Emits a payload with over inline_var_fields_size bytes of variable fields in segments. The words
/// of the variable fields in `fixed` must be zero.
template <std::size_t VarFields>
[[gnu::noinline, gnu::cold, gnu::visibility("hidden")]] void emit_segments(
    const event_site& site, unsigned char* fixed, var_field* found, std::size_t size) noexcept {
    std::uint32_t flags = 0;
    if (site.cuts && size > payload_size_max) {
        bool is_text[VarFields];
        for (std::size_t i = 0; i < VarFields; ++i) {
            is_text[i] = site.var_fields[i].is_text;
        }
        cut_longest(found, is_text, VarFields, size - payload_size_max);
        flags = EVENTLOG_EMIT_CUT;
    }
    eventlog_piece parts[1 + 2 * VarFields];
    std::size_t count = 0;
    std::size_t before = 0;
    parts[count++] = {fixed, static_cast<std::size_t>(site.common.fixed_size)};
    for (std::size_t i = 0; i < VarFields; ++i) {
        const var_field_location& place = site.var_fields[i];
        if (found[i].size != 0) {
            put_rel_loc(fixed + place.offset, found[i].size, place.distance + before);
            before += found[i].size;
            parts[count++] = {found[i].data, found[i].size - (place.is_text ? 1 : 0)};
            if (place.is_text) {
                parts[count++] = {"", 1};
            }
        }
    }
    eventlog_emit_pieces(site.handle(), site.event, parts, count, flags);
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
    std::size_t size = 0;
    for (std::size_t i = 0; i < VarFields; ++i) {
        size += found[i].size;
    }
    if (size > inline_var_fields_size) [[unlikely]] {
        // A copy, so that `found` stays in registers on the usual path.
        var_field large[VarFields]{};
        for (std::size_t i = 0; i < VarFields; ++i) {
            large[i] = found[i];
        }
        emit_segments<VarFields>(site, payload, large, site.common.fixed_size + size);
        return;
    }
    std::size_t before = 0;
    for (std::size_t i = 0; i < VarFields; ++i) {
        const var_field_location& place = site.location_of(i);
        const std::size_t part = found[i].size;
        if (part != 0) {
            put_rel_loc(payload + place.offset, part, place.distance + before);
            const std::size_t copied = part - (AllTexts || place.is_text ? 1 : 0);
            unsigned char* const target = payload + site.common.fixed_size + before;
            copy_text(target, found[i].data, copied);
            // The NUL and the padding. The record includes the padding, which must not contain old
            // bytes of the stack. The next variable field overwrites it.
            std::memset(target + copied, 0, 8);
            before += part;
        }
    }
    eventlog_emit(site.handle(), site.event, payload, site.common.fixed_size + size);
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
            alignas(16) unsigned char payload[payload_capacity(fixed)];
            const var_field found[] = {{data, size}...};
            emit_with_var_fields<sizeof...(VarField), AllTexts>(
                at, payload, found, [&](unsigned char* target) { put_words(target, {words...}); });
        } else if constexpr (fixed != 0) {
            alignas(16) unsigned char payload[fixed];
            put_words(payload, {words...});
            eventlog_emit(at.handle(), at.event, payload, at.common.fixed_size);
        } else {
            eventlog_emit(at.handle(), at.event, "", 0);
        }
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
        const std::uint64_t carried[] = {words..., 0};
        const void* const arrays[] = {arrays_by_address...};
        const auto put_fixed = [&](unsigned char* target) {
            put_arrays(target, whole, array_locations_of<Event>, carried, arrays);
        };
        if constexpr (sizeof...(VarField) != 0) {
            alignas(16) unsigned char payload[payload_capacity(fixed)];
            const var_field found[] = {{data, measured(data, size)}...};
            emit_with_var_fields<sizeof...(VarField), AllTexts>(at, payload, found, put_fixed);
        } else {
            alignas(16) unsigned char payload[whole];
            put_fixed(payload);
            eventlog_emit(at.handle(), at.event, payload, fixed);
        }
    }
};

inline void emit_small_slow(const eventlog_site* site, std::uint64_t first, std::uint64_t second,
                            std::uint64_t third, const void* text, std::size_t size) noexcept {
    encoder<indices<0, 1, 2>, indices<0>, true>::emit(*reinterpret_cast<const event_site*>(site),
                                                      first, second, third, text, size);
}

template <std::size_t Index, std::size_t Words, std::size_t VarFields, std::size_t Arrays>
[[gnu::always_inline]] inline std::uint64_t word_or_zero(
    const packed_args<Words, VarFields, Arrays>& packed) noexcept {
    if constexpr (Index < Words) {
        return packed.words[Index];
    } else {
        return 0;
    }
}

template <class Event, class Members, class Words, class VarFields, class Arrays>
struct [[gnu::visibility("hidden")]] sender;

/// Packs the members of an event and calls the encoder, on the unlikely side of a call site's
/// branch. A single function, because compilers optimise each function before they inline it.
template <class Event, std::size_t... Member, std::size_t... Word, std::size_t... VarField,
          std::size_t... Array>
struct [[gnu::visibility("hidden")]] sender<Event, indices<Member...>, indices<Word...>,
                                            indices<VarField...>, indices<Array...>> {
    const event_site& at;
    std::uint64_t session;

    template <class... Members>
    [[gnu::always_inline]] void operator()(const Members&... member) const noexcept {
        using layout = event_layout<Event>;
        using to = encoder<indices<Word...>, indices<VarField...>, layout::has_only_texts>;
        packed_args<sizeof...(Word), sizeof...(VarField), sizeof...(Array)> packed;
        if constexpr (layout::session_bound) {
            packed.words[0] = session;
        }
        if constexpr (fields_of<Event>::is_flat) {
            (pack_field(packed, layout::carried.packed[Member], member), ...);
        } else {
            (pack_member<Event, fields_of<Event>::first_field(Member)>(packed, member), ...);
        }
        if constexpr (is_small_event<Event>) {
            constexpr var_field_location text = var_field_locations_of<Event>.locations[0];
            packed.words[text.offset / 8] |=
                std::uint64_t{static_cast<std::uint32_t>(packed.sizes[0] << 16U | text.distance)}
                << text.offset % 8 * 8;
            eventlog_emit_text(&at.common, word_or_zero<0>(packed), word_or_zero<1>(packed),
                               word_or_zero<2>(packed), packed.data[0], packed.sizes[0]);
        } else if constexpr (sizeof...(Array) != 0) {
            to::template emit_arrays<Event, Array...>(
                at, packed.words[Word]..., packed.data[VarField]..., packed.sizes[VarField]...,
                packed.arrays_by_address[Array]...);
        } else if constexpr (layout::has_c_strings) {
            to::emit_measured(at, packed.words[Word]..., packed.data[VarField]...,
                              packed.sizes[VarField]...);
        } else {
            to::emit(at, packed.words[Word]..., packed.data[VarField]...,
                     packed.sizes[VarField]...);
        }
    }
};

template <class Event>
using send = sender<Event, std::make_index_sequence<member_count<Event>>,
                    std::make_index_sequence<event_layout<Event>::word_count>,
                    std::make_index_sequence<event_layout<Event>::var_field_count>,
                    std::make_index_sequence<event_layout<Event>::array_count>>;

/// Emits an object whose bytes are its payload (memcpy_payload.hpp).
[[gnu::noinline, gnu::visibility("hidden")]] inline void emit_memcpy_payload(
    const event_site& at, const void* event) noexcept {
    eventlog_emit(at.handle(), at.event, event, at.common.fixed_size);
}

}  // namespace eventlog::detail
