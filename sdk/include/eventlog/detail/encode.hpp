// SPDX-License-Identifier: MIT
//
// From a struct to a payload, on the stack. Nothing here allocates, throws or waits.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/pieces.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// Larger payloads are handed over in pieces rather than put together on somebody's small stack.
inline constexpr std::size_t inline_pieces_size = 512;

constexpr std::size_t padded(std::size_t size) noexcept {
    return (size + 7U) & ~std::size_t{7};
}

/// How a field travels from the call site to the encoder. By value wherever that is a register or
/// two: then the event never has to exist in memory, and what it takes to compute a field moves
/// past the branch that asks whether anyone listens.
template <class Field>
using passed = std::conditional_t<sizeof(Field) <= 16 && std::is_trivially_copyable_v<Field>, Field,
                                  const Field&>;

/// Copying a view as a whole makes g++ store the event before the branch; taking it apart and
/// building a new one does not.
template <class Field>
[[gnu::always_inline]] constexpr passed<Field> pass(const Field& field) noexcept {
    if constexpr (std::same_as<Field, std::string_view> || bytes_field<Field>) {
        return Field(field.data(), field.size());
    } else {
        return field;
    }
}

/// Whether an object is its payload, byte for byte: only fixed fields that are carried as they are,
/// in the order of the payload, without padding, and whole words, because an emit reads whole ones.
/// Where fields follow each other without a gap, each begins where those before it end.
template <class Event, class Indices = typename event_layout<Event>::indices>
inline constexpr bool is_block_copyable = false;
template <class Event, std::size_t... Leaf>
inline constexpr bool is_block_copyable<Event, std::index_sequence<Leaf...>> = [] {
    bool same = std::is_trivially_copyable_v<Event> && !event_layout<Event>::session_bound &&
                sizeof(Event) % sizeof(std::uint64_t) == 0;
    std::size_t end = 0;
    [[maybe_unused]] const auto follow = [&](bool is_same, std::size_t offset, std::size_t size) {
        same = same && is_same && offset == end;
        end += size;
    };
    (follow(same_bytes<leaf_of<Event, Leaf>>, event_layout<Event>::places[Leaf].offset,
            sizeof(leaf_of<Event, Leaf>)),
     ...);
    return same && end == sizeof(Event);
}();

/// Such an event is emitted from where it is, and copied once, into the ring, if it is in memory
/// anyhow, because it has a field that is not passed in registers. (Others would have to be put
/// into memory in front of the branch.)
template <class Event, class Indices = typename event_layout<Event>::indices>
inline constexpr bool is_passed_as_block = false;
template <class Event, std::size_t... Leaf>
inline constexpr bool is_passed_as_block<Event, std::index_sequence<Leaf...>> =
    is_block_copyable<Event> && (... || std::is_reference_v<passed<leaf_of<Event, Leaf>>>);

/// The same for one that is made behind the branch, if it is too large to lie on one line of the
/// cache; a smaller one is better put there, see emit_in_one.
template <class Event>
inline constexpr bool is_made_as_block = is_passed_as_block<Event> ||
                                         (is_block_copyable<Event> && sizeof(Event) > 64);

/// memcpy, without the call for the lengths that names and reasons mostly have.
[[gnu::always_inline]] inline void copy_text(unsigned char* target, const void* source,
                                             std::size_t size) noexcept {
    if (size - 8 <= 8) [[likely]] {
        const auto* from = static_cast<const unsigned char*>(source);
        std::uint64_t first = 0;
        std::uint64_t last = 0;  // overlaps with the first
        std::memcpy(&first, from, sizeof first);
        std::memcpy(&last, from + size - sizeof last, sizeof last);
        std::memcpy(target, &first, sizeof first);
        std::memcpy(target + size - sizeof last, &last, sizeof last);
    } else if (size != 0) {
        std::memcpy(target, source, size);
    }
}

/// Fields of one event in the order of its leaves.
template <class Event, class Indices = typename event_layout<Event>::indices>
struct encoder;

template <class Event, std::size_t... Leaf>
struct encoder<Event, std::index_sequence<Leaf...>> {
    using layout = event_layout<Event>;
    static constexpr std::size_t fixed_size = layout::fixed_size;
    static constexpr std::size_t piece_count = layout::piece_count;
    static constexpr bool cuts = traits_of<Event>.oversize == oversize::cut;
    using pieces = std::array<piece, piece_count>;

    static constexpr std::array<bool, piece_count> is_text = [] {
        std::array<bool, piece_count> found{};
        [[maybe_unused]] std::size_t next = 0;
        for (const field_place& place : layout::places) {
            if (place.type == field_type::text || place.type == field_type::bytes) {
                found[next++] = place.type == field_type::text;
            }
        }
        return found;
    }();

    // Inlined, all of it, into the one function that a call site jumps to.
    [[gnu::always_inline]] static void emit(eventlog_provider* provider, std::uint32_t id,
                                            std::uint64_t session,
                                            const leaf_of<Event, Leaf>&... field) noexcept {
        const pieces found = collect_pieces(field...);
        std::size_t size = fixed_size;
        for (const piece& part : found) {
            size += part.size;
        }
        if (piece_count == 0 || size <= fixed_size + inline_pieces_size) [[likely]] {
            emit_in_one(provider, id, session, found, size, field...);
        } else {
            emit_in_pieces(provider, id, session, size, field...);
        }
    }

  private:
    [[gnu::always_inline]] static pieces collect_pieces(
        const leaf_of<Event, Leaf>&... field) noexcept {
        pieces found{};
        [[maybe_unused]] std::size_t next = 0;
        [[maybe_unused]] const auto collect = [&]<class Field>(const Field& value) {
            if constexpr (variable_field<inner_of<Field>>) {
                found[next++] = measure(value);
            }
        };
        (collect(field), ...);
        return found;
    }

    /// A field whose size is known, or the zeros in place of one that has no value.
    template <class Field>
    [[gnu::always_inline]] static void put_value(unsigned char* target,
                                                 const Field& value) noexcept {
        if constexpr (is_optional<Field>) {
            using inner = inner_of<Field>;
            if (value.has_value()) {
                put_value(target, *value);
            } else {
                std::memset(target, 0,
                            size_of(type_of<typename element<inner>::type>()) *
                                element<inner>::count);
            }
        } else if constexpr (scalar_field<Field>) {
            const auto number = to_wire(value);
            std::memcpy(target, &number, sizeof number);
        } else if constexpr (same_bytes<Field>) {
            std::memcpy(target, &value, sizeof value);
        } else {
            std::size_t done = 0;
            for (const auto& single : value) {
                const auto number = to_wire(single);
                std::memcpy(target + done, &number, sizeof number);
                done += sizeof number;
            }
        }
    }

    /// Fills in the fixed part. Sizes and offsets of pieces are cut to 16 bits each: a payload for
    /// which that matters is over the largest record and will be refused, and counted, by the ring.
    [[gnu::always_inline]] static void put_fixed(unsigned char* payload,
                                                 [[maybe_unused]] std::uint64_t session,
                                                 const pieces& found,
                                                 const leaf_of<Event, Leaf>&... field) noexcept {
        if constexpr (layout::session_bound) {
            std::memcpy(payload, &session, sizeof session);
        }
        [[maybe_unused]] std::size_t next = 0;
        [[maybe_unused]] std::size_t end = fixed_size;
        [[maybe_unused]] const auto put = [&]<class Field>(const Field& value,
                                                           const field_place& place) {
            if constexpr (variable_field<inner_of<Field>>) {
                const std::size_t size = found[next++].size;
                const std::size_t distance = end - (place.offset + 4);
                const auto word = static_cast<std::uint32_t>(
                    size == 0 ? 0 : (size & 0xffffU) << 16U | (distance & 0xffffU));
                std::memcpy(payload + place.offset, &word, sizeof word);
                end += size;
            } else {
                put_value(payload + place.offset, value);
            }
            if constexpr (is_optional<Field>) {
                payload[place.presence] = value.has_value() ? 1 : 0;
            }
        };
        (put(field, layout::places[Leaf]), ...);
    }

    [[gnu::always_inline]] static void emit_in_one(eventlog_provider* provider, std::uint32_t id,
                                                   std::uint64_t session, const pieces& found,
                                                   std::size_t size,
                                                   const leaf_of<Event, Leaf>&... field) noexcept {
        constexpr std::size_t capacity =
            padded(fixed_size + (piece_count == 0 ? 0 : inline_pieces_size));
        if constexpr (capacity == 0) {
            eventlog_emit(provider, id, "", 0);
        } else {
            // It is read back right after it has been written, 16 bytes at a time, which takes
            // three times as long where they lie across two lines of the cache. (Alignment to a
            // whole line would have the stack aligned, which takes long itself.)
            alignas(16) unsigned char payload[capacity];
            // The padding goes out with the record: it must not show what the stack held before.
            std::memset(payload + padded(size) - 8, 0, 8);
            put_fixed(payload, session, found, field...);
            put_pieces(payload + fixed_size, found);
            eventlog_emit(provider, id, payload, size);
        }
    }

    [[gnu::always_inline]] static void put_pieces([[maybe_unused]] unsigned char* end,
                                                  const pieces& found) noexcept {
        for (std::size_t i = 0; i < piece_count; ++i) {
            const std::size_t size = found[i].size;
            if (size != 0) {
                const std::size_t copied = is_text[i] ? size - 1 : size;
                copy_text(end, found[i].data, copied);
                // The last text's NUL is there: the last word has been zero from the start.
                if (is_text[i] && i + 1 != piece_count) {
                    end[size - 1] = 0;
                }
                end += size;
            }
        }
    }

    // By value: for references the caller, which seldom comes here, had to have the fields in
    // memory.
    [[gnu::noinline]] static void emit_in_pieces(eventlog_provider* provider, std::uint32_t id,
                                                 std::uint64_t session, std::size_t size,
                                                 passed<leaf_of<Event, Leaf>>... field) noexcept {
        pieces found = collect_pieces(field...);
        std::uint32_t flags = 0;
        if constexpr (cuts) {
            if (size > payload_size_max) {
                cut_longest(found, is_text, size - payload_size_max);
                flags = EVENTLOG_EMIT_CUT;
            }
        }
        unsigned char fixed[fixed_size + 1];  // an event may be without fields
        put_fixed(fixed, session, found, field...);
        eventlog_piece parts[1 + 2 * piece_count];
        std::size_t count = 0;
        parts[count++] = {fixed, fixed_size};
        for (std::size_t i = 0; i < piece_count; ++i) {
            if (found[i].size != 0) {
                parts[count++] = {found[i].data, found[i].size - (is_text[i] ? 1 : 0)};
                if (is_text[i]) {
                    parts[count++] = {"", 1};
                }
            }
        }
        eventlog_emit_pieces(provider, id, parts, count, flags);
    }
};

}  // namespace eventlog::detail
