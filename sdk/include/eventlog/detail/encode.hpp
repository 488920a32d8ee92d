// SPDX-License-Identifier: MIT
//
// From a parcel to a payload, on the stack. Nothing here allocates, throws or waits.
#pragma once

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

using two_words [[gnu::vector_size(16)]] = std::uint64_t;

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

/// Where the word of a text or byte string stands in the fixed part, and how far the end of the
/// fixed part is from behind it.
struct piece_place {
    std::uint16_t offset = 0;
    std::uint16_t distance = 0;
    bool is_text = false;
};

/// What the encoder has to know of an event: all that is not in the numbers of its words, pieces
/// and blocks. On one line of the cache, and with the provider in it, not where the provider is:
/// the way to the ring begins with it, and each load that waits for another one makes it longer.
/// (The provider is no std::atomic: its functions would belong to all plugins of a process that are
/// not optimised, and one plugin's to the others.)
struct alignas(64) [[gnu::visibility("hidden")]] event_site : eventlog_site {
    const piece_place* pieces = nullptr;
    std::uint32_t event = 0;
    bool cuts = false;
    // Of the pieces: most events have one, which is to be found without detour.
    piece_place first{};

    [[nodiscard]] const piece_place& place_of(std::size_t piece) const noexcept {
        return piece == 0 ? first : pieces[piece];
    }
    [[nodiscard]] eventlog_provider* handle() const noexcept {
        return __atomic_load_n(&provider, __ATOMIC_ACQUIRE);
    }
    void tell(eventlog_provider * handle) noexcept {
        __atomic_store_n(&provider, handle, __ATOMIC_RELEASE);
    }
};

template <std::size_t Count>
struct piece_places {
    piece_place places[at_least_one(Count)]{};
};

constexpr void find_pieces(const field_place* fields, std::size_t fixed_size, std::size_t count,
                           piece_place* pieces) {
    for (std::size_t i = 0; count != 0; ++i) {
        const field_place& field = fields[i];
        if (field.type == field_type::text || field.type == field_type::bytes) {
            *pieces++ = {static_cast<std::uint16_t>(field.offset),
                         static_cast<std::uint16_t>(fixed_size - field.offset - 4),
                         field.type == field_type::text};
            --count;
        }
    }
}

template <class Event>
constexpr auto make_pieces() {
    piece_places<event_layout<Event>::piece_count> made;
    using layout = event_layout<Event>;
    find_pieces(layout::places, layout::fixed_size, layout::piece_count, made.places);
    return made;
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr auto pieces_of = make_pieces<Event>();

/// Whether an event has few words and one text, as most have: these take a way of their own.
template <class Event>
inline constexpr bool is_brief =
    event_layout<Event>::word_count <= 3 && event_layout<Event>::piece_count == 1 &&
    event_layout<Event>::has_only_texts && !event_layout<Event>::has_optional_pieces &&
    !event_layout<Event>::has_c_strings && event_layout<Event>::block_count == 0;

/// The longer way of brief events.
[[gnu::visibility("hidden")]] inline void emit_brief_otherwise(
    const eventlog_site* site, std::uint64_t first, std::uint64_t second, std::uint64_t third,
    const void* text, std::size_t size) noexcept;

template <class Event>
consteval event_site make_site(std::size_t event, std::uint32_t* gate) {
    using layout = event_layout<Event>;
    return {{nullptr, is_brief<Event> ? emit_brief_otherwise : nullptr,
             std::uint64_t{event} << 48U | (24 + layout::fixed_size), layout::fixed_size,
             gate + event},
            pieces_of<Event>.places,
            static_cast<std::uint32_t>(event),
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
[[gnu::visibility("hidden")]] inline constexpr auto blocks_of = make_block_places<Event>();

/// Puts words and blocks together to the fixed part, `size` bytes with what fills its last word.
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
    const auto word = static_cast<std::uint32_t>(size << 16U | (distance & 0xffffU));
    std::memcpy(target, &word, sizeof word);
}

/// Copies `Part` bytes from the begin and as many from the end, which overlap.
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

/// memcpy for the few bytes that texts have, first for what most names and reasons have. Not a
/// call, because the function it stands in had to save registers for that, every time.
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

/// In stores of 16 bytes, because the ring loads as many: processors hand over what was stored just
/// now only from one store, and wait for the cache otherwise.
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

/// Emits in pieces what is larger than that. `fixed` is the fixed part with zeros in place of the
/// pieces' words.
template <std::size_t Pieces>
[[gnu::noinline, gnu::cold, gnu::visibility("hidden")]] void emit_in_pieces(
    const event_site& site, unsigned char* fixed, piece* found, std::size_t size) noexcept {
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
    std::size_t before = 0;
    parts[count++] = {fixed, static_cast<std::size_t>(site.fixed_size)};
    for (std::size_t i = 0; i < Pieces; ++i) {
        const piece_place& place = site.pieces[i];
        if (found[i].size != 0) {
            put_piece_word(fixed + place.offset, found[i].size, place.distance + before);
            before += found[i].size;
            parts[count++] = {found[i].data, found[i].size - (place.is_text ? 1 : 0)};
            if (place.is_text) {
                parts[count++] = {"", 1};
            }
        }
    }
    eventlog_emit_pieces(site.handle(), site.event, parts, count, flags);
}

/// What a payload with pieces takes: a whole word of zeros is put behind each piece.
constexpr std::size_t room_for_pieces(std::size_t fixed_size) {
    return (fixed_size + 7) / 8 * 8 + inline_pieces_size + 8;
}

/// Calls put_fixed(payload), which writes the fixed part, up to a whole word, with zeros in place
/// of the pieces' words and behind it; puts the pieces there, and emits.
template <std::size_t Pieces, bool AllTexts, class PutFixed>
[[gnu::always_inline]] inline void emit_with_pieces(const event_site& site, unsigned char* payload,
                                                    const piece* found,
                                                    PutFixed put_fixed) noexcept {
    put_fixed(payload);
    std::size_t size = 0;
    for (std::size_t i = 0; i < Pieces; ++i) {
        size += found[i].size;
    }
    if (size > inline_pieces_size) [[unlikely]] {
        // Copies, so that the others stay in registers on the way that is usual.
        piece large[Pieces]{};
        for (std::size_t i = 0; i < Pieces; ++i) {
            large[i] = found[i];
        }
        emit_in_pieces<Pieces>(site, payload, large, site.fixed_size + size);
        return;
    }
    std::size_t before = 0;
    for (std::size_t i = 0; i < Pieces; ++i) {
        const piece_place& place = site.place_of(i);
        const std::size_t part = found[i].size;
        if (part != 0) {
            put_piece_word(payload + place.offset, part, place.distance + before);
            const std::size_t copied = part - (AllTexts || place.is_text ? 1 : 0);
            unsigned char* const target = payload + site.fixed_size + before;
            copy_text(target, found[i].data, copied);
            // The NUL, and the padding, which goes out with the record: it must not show what the
            // stack held before. The next piece begins in it.
            std::memset(target + copied, 0, 8);
            before += part;
        }
    }
    eventlog_emit(site.handle(), site.event, payload, site.fixed_size + size);
}

[[gnu::always_inline]] inline std::size_t measured(const void* data, std::size_t size) noexcept {
    return size == unmeasured ? measure(static_cast<const char*>(data)).size : size;
}

template <std::size_t... Index>
using indices = std::index_sequence<Index...>;

// One argument for each index. Pieces come as two numbers each: structs had to be put together in
// memory for the call.
template <std::size_t>
using word = std::uint64_t;
template <std::size_t>
using address = const void*;
template <std::size_t>
using length = std::size_t;

template <class Words, class Pieces, bool AllTexts>
struct encoder;

/// The functions that a call site jumps to. Out of line, so that it is a load, a test and a jump.
/// What is written is read back right after, 16 bytes at a time, which takes three times as long
/// where they lie across two lines of the cache. (Alignment to a whole line would have the stack
/// aligned, which takes long itself.)
template <std::size_t... Word, std::size_t... Piece, bool AllTexts>
struct encoder<indices<Word...>, indices<Piece...>, AllTexts> {
    /// One for all events with so many words and pieces, and no blocks: the words are the fixed
    /// part.
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit(const event_site& at,
                                                                  word<Word>... words,
                                                                  address<Piece>... data,
                                                                  length<Piece>... size) noexcept {
        constexpr std::size_t fixed = 8 * sizeof...(Word);
        if constexpr (sizeof...(Piece) != 0) {
            alignas(16) unsigned char payload[room_for_pieces(fixed)];
            const piece found[] = {{data, size}...};
            emit_with_pieces<sizeof...(Piece), AllTexts>(
                at, payload, found, [&](unsigned char* target) { put_words(target, {words...}); });
        } else if constexpr (fixed != 0) {
            alignas(16) unsigned char payload[fixed];
            put_words(payload, {words...});
            eventlog_emit(at.handle(), at.event, payload, at.fixed_size);
        } else {
            eventlog_emit(at.handle(), at.event, "", 0);
        }
    }

    /// The same with C strings among the pieces, whose sizes nobody knows yet. Not at the call
    /// site, which is to be short, nor for all events, because a call takes registers.
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit_measured(
        const event_site& at, word<Word>... words, address<Piece>... data,
        length<Piece>... size) noexcept {
        emit(at, words..., data..., measured(data, size)...);
    }

    /// Of one event with blocks, which stand between the words.
    template <class Event, std::size_t... Block>
    [[gnu::noinline, gnu::visibility("hidden")]] static void emit_blocks(
        const event_site& at, word<Word>... words, address<Piece>... data, length<Piece>... size,
        address<Block>... blocks) noexcept {
        constexpr std::size_t fixed = event_layout<Event>::fixed_size;
        constexpr std::size_t whole = (fixed + 7) / 8 * 8;
        const std::uint64_t carried[] = {words..., 0};
        const void* const arrays[] = {blocks...};
        const auto put_fixed = [&](unsigned char* target) {
            put_blocks(target, whole, blocks_of<Event>, carried, arrays);
        };
        if constexpr (sizeof...(Piece) != 0) {
            alignas(16) unsigned char payload[room_for_pieces(fixed)];
            const piece found[] = {{data, measured(data, size)}...};
            emit_with_pieces<sizeof...(Piece), AllTexts>(at, payload, found, put_fixed);
        } else {
            alignas(16) unsigned char payload[whole];
            put_fixed(payload);
            eventlog_emit(at.handle(), at.event, payload, fixed);
        }
    }
};

inline void emit_brief_otherwise(const eventlog_site* site, std::uint64_t first,
                                 std::uint64_t second, std::uint64_t third, const void* text,
                                 std::size_t size) noexcept {
    encoder<indices<0, 1, 2>, indices<0>, true>::emit(*static_cast<const event_site*>(site), first,
                                                      second, third, text, size);
}

template <class Event, class Members, class Words, class Pieces, class Blocks>
struct [[gnu::visibility("hidden")]] sender;

/// Takes the members of an event, packs them and hands them over: what a call site does on the
/// unlikely side of its branch. All in one function, because compilers optimise each function by
/// itself before they inline it.
template <class Event, std::size_t... Member, std::size_t... Word, std::size_t... Piece,
          std::size_t... Block>
struct [[gnu::visibility("hidden")]] sender<Event, indices<Member...>, indices<Word...>,
                                            indices<Piece...>, indices<Block...>> {
    const event_site& at;
    std::uint64_t session;

    template <class... Members>
    [[gnu::always_inline]] void operator()(const Members&... member) const noexcept {
        using layout = event_layout<Event>;
        using to = encoder<indices<Word...>, indices<Piece...>, layout::has_only_texts>;
        parcel<sizeof...(Word), sizeof...(Piece), sizeof...(Block)> packed;
        if constexpr (layout::session_bound) {
            packed.words[0] = session;
        }
        if constexpr (fields_of<Event>::is_flat) {
            (pack_field(packed, layout::carried.packed[Member], member), ...);
        } else {
            (pack_member<Event, fields_of<Event>::first_field(Member)>(packed, member), ...);
        }
        if constexpr (is_brief<Event>) {
            constexpr piece_place text = pieces_of<Event>.places[0];
            packed.words[text.offset / 8] |=
                std::uint64_t{static_cast<std::uint32_t>(packed.sizes[0] << 16U | text.distance)}
                << text.offset % 8 * 8;
            constexpr std::size_t count = sizeof...(Word);
            eventlog_emit_text(
                &at, packed.words[0], count > 1 ? packed.words[count > 1 ? 1 : 0] : 0,
                count > 2 ? packed.words[count > 2 ? 2 : 0] : 0, packed.data[0], packed.sizes[0]);
        } else if constexpr (sizeof...(Block) != 0) {
            to::template emit_blocks<Event, Block...>(at, packed.words[Word]...,
                                                      packed.data[Piece]..., packed.sizes[Piece]...,
                                                      packed.blocks[Block]...);
        } else if constexpr (layout::has_c_strings) {
            to::emit_measured(at, packed.words[Word]..., packed.data[Piece]...,
                              packed.sizes[Piece]...);
        } else {
            to::emit(at, packed.words[Word]..., packed.data[Piece]..., packed.sizes[Piece]...);
        }
    }
};

template <class Event>
using send = sender<Event, std::make_index_sequence<member_count<Event>>,
                    std::make_index_sequence<event_layout<Event>::word_count>,
                    std::make_index_sequence<event_layout<Event>::piece_count>,
                    std::make_index_sequence<event_layout<Event>::block_count>>;

/// The same for an event that is its payload (own_payload.hpp), from where it is.
[[gnu::noinline, gnu::visibility("hidden")]] inline void emit_own_payload(
    const event_site& at, const void* event) noexcept {
    eventlog_emit(at.handle(), at.event, event, at.fixed_size);
}

}  // namespace eventlog::detail
