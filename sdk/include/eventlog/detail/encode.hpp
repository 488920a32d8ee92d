// SPDX-License-Identifier: MIT
//
// From a parcel to a payload, on the stack. Nothing here allocates, throws or waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include <eventlog/abi.h>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/parcel.hpp>
#include <eventlog/detail/pieces.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// Larger payloads are handed over in pieces rather than put together on somebody's small stack.
inline constexpr std::size_t inline_pieces_size = 512;

/// Where the bytes of `size` go from the words, which are the payload without its blocks.
struct moved_bytes {
    std::uint16_t from = 0;
    std::uint16_t offset = 0;
    std::uint16_t size = 0;
};

struct block_place {
    std::uint16_t offset = 0;
    void (*put)(unsigned char* target, const void* field) = nullptr;
};

/// Where the word of a text or byte string stands in the fixed part.
struct piece_place {
    std::uint16_t offset = 0;
    bool is_text = false;
};

/// What the encoder has to know of an event: all that is not in the numbers of its words, pieces
/// and blocks.
struct [[gnu::visibility("hidden")]] event_site {
    const std::atomic<eventlog_provider*>* provider = nullptr;
    const piece_place* pieces = nullptr;
    std::uint32_t event = 0;
    std::uint16_t fixed_size = 0;
    bool cuts = false;
    piece_place
        first{};  // of the pieces: most events have one, which is to be found without detour

    [[nodiscard]] const piece_place& place_of(std::size_t piece) const noexcept {
        return piece == 0 ? first : pieces[piece];
    }
    [[nodiscard]] eventlog_provider* handle() const noexcept {
        return provider->load(std::memory_order_acquire);
    }
};

template <std::size_t Count>
struct piece_places {
    piece_place places[at_least_one(Count)]{};
};

constexpr void find_pieces(const field_place* fields, std::size_t count, piece_place* pieces) {
    for (std::size_t i = 0; count != 0; ++i) {
        const field_place& field = fields[i];
        if (field.type == field_type::text || field.type == field_type::bytes) {
            *pieces++ = {static_cast<std::uint16_t>(field.offset), field.type == field_type::text};
            --count;
        }
    }
}

template <class Event>
constexpr auto make_pieces() {
    piece_places<event_layout<Event>::piece_count> made;
    find_pieces(event_layout<Event>::places, event_layout<Event>::piece_count, made.places);
    return made;
}

template <class Event>
inline constexpr auto pieces_of = make_pieces<Event>();

template <class Event>
consteval event_site make_site(const std::atomic<eventlog_provider*>* provider, std::size_t event) {
    using layout = event_layout<Event>;
    return {provider,
            pieces_of<Event>.places,
            static_cast<std::uint32_t>(event),
            static_cast<std::uint16_t>(layout::fixed_size),
            traits_of<Event>.oversize == oversize::cut,
            pieces_of<Event>.places[0]};
}

/// The same of an event with blocks.
template <std::size_t Blocks, std::size_t Moves>
struct block_places {
    moved_bytes moves[Moves]{};
    block_place blocks[at_least_one(Blocks)]{};
    std::size_t move_count = 0;
    std::size_t block_count = Blocks;
};

template <class Event>
consteval auto make_block_places() {
    using layout = event_layout<Event>;
    using fields = fields_of<Event>;
    block_places<layout::block_count, 2 * fields::count + 1> made;
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
        const field_place& place = layout::places[i];
        const field_place& carried = layout::carried.places[i];
        if (kind.carried == carriage::block) {
            made.blocks[order_in(layout::carried.packed[i])] = {
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
inline constexpr auto blocks_of = make_block_places<Event>();

/// Puts words and blocks together to the fixed part of `size` bytes.
template <class Places>
inline void put_blocks(unsigned char* target, std::size_t size, const Places& places,
                       const std::uint64_t* words, const void* const* blocks) noexcept {
    std::memset(target, 0, size);
    for (std::size_t i = 0; i < places.move_count; ++i) {
        const moved_bytes& move = places.moves[i];
        std::memcpy(target + move.offset, reinterpret_cast<const unsigned char*>(words) + move.from,
                    move.size);
    }
    for (std::size_t i = 0; i < places.block_count; ++i) {
        places.blocks[i].put(target + places.blocks[i].offset, blocks[i]);
    }
}

/// Writes the word of a piece that stands `distance` bytes behind it. Both numbers are cut to 16
/// bits: a payload for which that matters is over the largest record and will be refused, and
/// counted, by the ring.
[[gnu::always_inline]] inline void put_piece_word(unsigned char* target, std::size_t size,
                                                  std::size_t distance) noexcept {
    const auto word =
        static_cast<std::uint32_t>(size == 0 ? 0 : (size & 0xffffU) << 16U | (distance & 0xffffU));
    std::memcpy(target, &word, sizeof word);
}

/// Emits in pieces what is larger than that. `fixed` is the fixed part without the pieces' words.
template <std::size_t Pieces>
[[gnu::noinline, gnu::visibility("hidden")]] void emit_in_pieces(const event_site& site,
                                                                 unsigned char* fixed, piece* found,
                                                                 std::size_t size) noexcept {
    std::uint32_t flags = 0;
    if (site.cuts && size > payload_size_max) {
        bool is_text[Pieces];
        for (std::size_t i = 0; i < Pieces; ++i) {
            is_text[i] = site.pieces[i].is_text;
        }
        cut_longest(found, is_text, Pieces, size - payload_size_max);
        flags = EVENTLOG_EMIT_CUT;
    }
    eventlog_piece parts[1 + 2 * Pieces];
    std::size_t count = 0;
    std::size_t end = site.fixed_size;
    parts[count++] = {fixed, site.fixed_size};
    for (std::size_t i = 0; i < Pieces; ++i) {
        put_piece_word(fixed + site.pieces[i].offset, found[i].size,
                       end - (site.pieces[i].offset + 4U));
        end += found[i].size;
        if (found[i].size != 0) {
            parts[count++] = {found[i].data, found[i].size - (site.pieces[i].is_text ? 1 : 0)};
            if (site.pieces[i].is_text) {
                parts[count++] = {"", 1};
            }
        }
    }
    eventlog_emit_pieces(site.handle(), site.event, parts, count, flags);
}

/// Calls put_fixed(payload), which writes the fixed part without the pieces' words, puts the pieces
/// behind it, and emits. `payload` has room for inline_pieces_size bytes behind the fixed part, up
/// to a whole word.
template <std::size_t Pieces, class PutFixed>
[[gnu::always_inline]] inline void emit_with_pieces(const event_site& site, unsigned char* payload,
                                                    piece* found, PutFixed put_fixed) noexcept {
    std::size_t size = site.fixed_size;
    for (std::size_t i = 0; i < Pieces; ++i) {
        if (found[i].size == unmeasured) {
            found[i] = measure(static_cast<const char*>(found[i].data));
        }
        size += found[i].size;
    }
    if (size > site.fixed_size + inline_pieces_size) [[unlikely]] {
        // Copies, so that the others stay in registers on the way that is usual.
        piece large[Pieces]{};
        for (std::size_t i = 0; i < Pieces; ++i) {
            large[i] = found[i];
        }
        put_fixed(payload);
        emit_in_pieces<Pieces>(site, payload, large, size);
        return;
    }
    // The padding goes out with the record: it must not show what the stack held before.
    std::memset(payload + ((size + 7U) & ~std::size_t{7}) - 8, 0, 8);
    put_fixed(payload);
    std::size_t end = site.fixed_size;
    for (std::size_t i = 0; i < Pieces; ++i) {
        const piece_place& place = site.place_of(i);
        const std::size_t part = found[i].size;
        put_piece_word(payload + place.offset, part, end - (place.offset + 4U));
        if (part != 0) {
            const std::size_t copied = part - (place.is_text ? 1 : 0);
            if (copied != 0) {
                std::memcpy(payload + end, found[i].data, copied);
            }
            if (place.is_text) {
                payload[end + copied] = 0;
            }
            end += part;
        }
    }
    eventlog_emit(site.handle(), site.event, payload, size);
}

template <std::size_t>
using word = std::uint64_t;
template <std::size_t>
using any_piece = piece;
template <std::size_t>
using block = const void*;

template <class Words, class Pieces>
struct encoder;

/// The functions that a call site jumps to. Out of line, so that it is a load, a test and a jump.
template <std::size_t... Word, std::size_t... Piece>
struct [[gnu::visibility(
    "hidden")]] encoder<std::index_sequence<Word...>, std::index_sequence<Piece...>>{
    /// One for all events with so many words and pieces, and no blocks: the words are the fixed
    /// part.
    [[gnu::noinline]] static void emit(const event_site& at, word<Word>... words,
                                       any_piece<Piece>... pieces) noexcept {
        constexpr std::size_t fixed = 8 * sizeof...(Word);
if constexpr (sizeof...(Piece) != 0) {
    // On lines of the cache of its own: it is read back, in larger parts, right after it
    // has been written, which takes three times as long across two lines.
    alignas(64) unsigned char payload[fixed + inline_pieces_size];
    piece found[] = {pieces...};
    emit_with_pieces<sizeof...(Piece)>(at, payload, found, [&](unsigned char* target) {
        (std::memcpy(target + 8 * Word, &words, 8), ...);
    });
} else if constexpr (fixed != 0) {
    alignas(64) unsigned char payload[fixed];
    (std::memcpy(payload + 8 * Word, &words, 8), ...);
    eventlog_emit(at.handle(), at.event, payload, at.fixed_size);
} else {
    eventlog_emit(at.handle(), at.event, nullptr, 0);
}
}  // namespace eventlog::detail

/// Of one event with blocks, which stand between the words.
template <class Event, std::size_t... Block>
[[gnu::noinline]] static void emit_blocks(const event_site& at, word<Word>... words,
                                          any_piece<Piece>... pieces,
                                          block<Block>... blocks) noexcept {
    constexpr std::size_t size = event_layout<Event>::fixed_size;
    alignas(64) unsigned char
        payload[((size + 7) & ~std::size_t{7}) + (sizeof...(Piece) == 0 ? 0 : inline_pieces_size)];
    const std::uint64_t carried[] = {words..., 0};
    const void* const arrays[] = {blocks...};
    const auto put_fixed = [&](unsigned char* target) {
        put_blocks(target, size, blocks_of<Event>, carried, arrays);
    };
    if constexpr (sizeof...(Piece) != 0) {
        piece found[] = {pieces...};
        emit_with_pieces<sizeof...(Piece)>(at, payload, found, put_fixed);
    } else {
        std::memset(payload + sizeof payload - 8, 0, 8);
        put_fixed(payload);
        eventlog_emit(at.handle(), at.event, payload, size);
    }
}

/// Hands over what is in the parcel.
template <class Event, class Parcel, std::size_t... Block>
[[gnu::always_inline]] static void hand_over(const event_site& at, const Parcel& packed,
                                             std::index_sequence<Block...>) noexcept {
    if constexpr (sizeof...(Block) == 0) {
        emit(at, packed.words[Word]..., packed.pieces[Piece]...);
    } else {
        emit_blocks<Event, Block...>(at, packed.words[Word]..., packed.pieces[Piece]...,
                                     packed.blocks[Block]...);
    }
}
}
;

/// Emits: the unlikely side of the branch at a call site.
template <class Event>
[[gnu::always_inline]] inline void emit_event(const event_site& at,
                                              [[maybe_unused]] std::uint64_t session,
                                              const Event& event) noexcept {
    using layout = event_layout<Event>;
    parcel<layout::word_count, layout::piece_count, layout::block_count> packed;
    if constexpr (layout::session_bound) {
        packed.words[0] = session;
    }
    pack_struct<Event, Event, 0>(packed, event);
    encoder<std::make_index_sequence<layout::word_count>,
            std::make_index_sequence<layout::piece_count>>::
        template hand_over<Event>(at, packed, std::make_index_sequence<layout::block_count>{});
}

}  // namespace eventlog::detail
