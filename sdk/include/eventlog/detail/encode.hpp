// SPDX-License-Identifier: MIT
//
// From a struct to a payload, on the stack. Nothing here allocates, throws or waits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>

namespace eventlog::detail {

/// Larger payloads are handed over in pieces rather than put together on somebody's small stack.
inline constexpr std::size_t inline_text_size = 512;

/// A text as it will stand in the payload: `size` counts the final NUL, 0 stands for a null
/// pointer.
struct text_piece {
    const char* data;
    std::size_t size;
};

inline text_piece measure(const char* text) noexcept {
    return {text, text == nullptr ? 0 : std::strlen(text) + 1};
}
inline text_piece measure(std::string_view text) noexcept {
    return {text.data(), text.size() + 1};
}
inline text_piece measure(const std::string& text) noexcept {
    return {text.data(), text.size() + 1};
}

constexpr std::size_t padded(std::size_t size) noexcept {
    return (size + 7U) & ~std::size_t{7};
}

/// How a field travels from the call site to the encoder. By value wherever that is a register or
/// two: then the event never has to exist in memory, and what it takes to compute a field moves
/// past the branch that asks whether anyone listens.
template <class Field>
using passed = std::conditional_t<std::same_as<Field, std::string>, const Field&, Field>;

/// Copying a string_view as a whole makes g++ store the event before the branch; taking it apart
/// and building a new one does not.
template <class Field>
[[gnu::always_inline]] constexpr passed<Field> pass(const Field& field) noexcept {
    if constexpr (std::same_as<Field, std::string_view>) {
        return {field.data(), field.size()};
    } else {
        return field;
    }
}

template <class Event, class Indices = typename event_layout<Event>::indices>
struct encoder;

template <class Event, std::size_t... Index>
struct encoder<Event, std::index_sequence<Index...>> {
    using layout = event_layout<Event>;
    static constexpr std::size_t fixed_size = layout::fixed_size;
    static constexpr std::size_t text_count = layout::text_count;
    using texts = std::array<text_piece, text_count>;

    // Inlined, all of it, into the one function that a call site jumps to.
    [[gnu::always_inline]] static void emit(eventlog_provider* provider, std::uint32_t id,
                                            passed<field_of<Event, Index>>... field) noexcept {
        const texts pieces = collect_texts(field...);
        std::size_t size = fixed_size;
        for (const text_piece& piece : pieces) {
            size += piece.size;
        }
        if (text_count == 0 || size <= fixed_size + inline_text_size) [[likely]] {
            emit_in_one(provider, id, pieces, size, field...);
        } else {
            emit_in_pieces(provider, id, pieces, field...);
        }
    }

  private:
    [[gnu::always_inline]] static texts collect_texts(
        const field_of<Event, Index>&... field) noexcept {
        texts found{};
        [[maybe_unused]] std::size_t next = 0;
        const auto collect = [&]<class Field>(const Field& text) {
            if constexpr (text_field<Field>) {
                found[next++] = measure(text);
            }
        };
        (collect(field), ...);
        return found;
    }

    /// Fills in the fixed part. Sizes and offsets of texts are cut to 16 bits each: a payload for
    /// which that matters is over the largest record and will be refused, and counted, by the ring.
    [[gnu::always_inline]] static void put_fixed(unsigned char* payload, const texts& pieces,
                                                 const field_of<Event, Index>&... field) noexcept {
        [[maybe_unused]] std::size_t next = 0;
        [[maybe_unused]] std::size_t end = fixed_size;
        const auto put = [&]<class Field>(const Field& value, std::size_t offset) {
            if constexpr (text_field<Field>) {
                const std::size_t size = pieces[next++].size;
                const std::size_t distance = end - (offset + 4);
                const auto word = static_cast<std::uint32_t>(
                    size == 0 ? 0 : (size & 0xffffU) << 16U | (distance & 0xffffU));
                std::memcpy(payload + offset, &word, sizeof word);
                end += size;
            } else {
                std::memcpy(payload + offset, &value, sizeof value);
            }
        };
        (put(field, layout::places[Index].offset), ...);
    }

    [[gnu::always_inline]] static void emit_in_one(
        eventlog_provider* provider, std::uint32_t id, const texts& pieces, std::size_t size,
        const field_of<Event, Index>&... field) noexcept {
        constexpr std::size_t capacity =
            padded(fixed_size + (text_count == 0 ? 0 : inline_text_size));
        // On lines of the cache of its own: it is read back, in larger parts, right after it has
        // been written, which takes three times as long across two lines.
        alignas(64) unsigned char payload[capacity];
        // The padding goes out with the record: it must not show what the stack held before.
        std::memset(payload + padded(size) - 8, 0, 8);
        put_fixed(payload, pieces, field...);
        [[maybe_unused]] unsigned char* end = payload + fixed_size;
        for (const text_piece& piece : pieces) {
            if (piece.size != 0) {
                if (piece.size > 1) {
                    std::memcpy(end, piece.data, piece.size - 1);
                }
                end[piece.size - 1] = 0;
                end += piece.size;
            }
        }
        eventlog_emit(provider, id, payload, size);
    }

    [[gnu::noinline]] static void emit_in_pieces(eventlog_provider* provider, std::uint32_t id,
                                                 const texts& pieces,
                                                 const field_of<Event, Index>&... field) noexcept {
        unsigned char fixed[fixed_size];
        put_fixed(fixed, pieces, field...);
        eventlog_piece parts[1 + 2 * text_count];
        std::size_t count = 0;
        parts[count++] = {fixed, fixed_size};
        for (const text_piece& piece : pieces) {
            if (piece.size != 0) {
                parts[count++] = {piece.data, piece.size - 1};
                parts[count++] = {"", 1};
            }
        }
        eventlog_emit_pieces(provider, id, parts, count);
    }
};

}  // namespace eventlog::detail
