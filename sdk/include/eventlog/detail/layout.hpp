// SPDX-License-Identifier: MIT
//
// Where the fields of a struct stand in its payload, by the rule of field_place.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/detail/field_place.hpp>
#include <eventlog/detail/struct_fields.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// A field's offset, the offset of its presence byte (16 bits each), and its number among the
/// pieces or among the blocks, from the low end up.
using packed_place = std::uint64_t;

constexpr std::size_t offset_in(packed_place packed) {
    return packed & 0xffffU;
}
constexpr std::size_t presence_in(packed_place packed) {
    return packed >> 16U & 0xffffU;
}
constexpr std::size_t order_in(packed_place packed) {
    return packed >> 32U;
}

/// The places of an event's fields, in declared order.
template <std::size_t Count>
struct places_of_fields {
    field_place places[at_least_one(Count)]{};
    packed_place packed[at_least_one(Count)]{};  // what a call site needs, as one constant each
    std::size_t size = 0;                        // of the fixed part
    std::size_t piece_count = 0;
    std::size_t block_count = 0;
    std::size_t text_count = 0;
    bool has_c_strings = false;
    bool has_optional_pieces = false;
};

/// Without the blocks if they do not count. Returns the size of the fixed part.
constexpr std::size_t lay_out_kinds(const field_kind* const* kinds, std::size_t count,
                                    std::size_t offset, bool blocks_count, field_place* places) {
    for (std::size_t i = 0; i < count; ++i) {
        const field_kind& kind = *kinds[i];
        const bool counts = blocks_count || kind.carried != carriage::block;
        places[i] = {kind.type, counts ? kind.count : 0, kind.optional};
    }
    return lay_out(places, count, offset);
}

/// What there is of pieces and blocks.
struct reference_counts {
    std::size_t pieces = 0;
    std::size_t blocks = 0;
    std::size_t texts = 0;
    bool has_c_strings = false;
    bool has_optional_pieces = false;
};

constexpr reference_counts pack_places(const field_kind* const* kinds, std::size_t count,
                                       const field_place* places, packed_place* packed) {
    reference_counts counts;
    for (std::size_t i = 0; i < count; ++i) {
        const field_kind& kind = *kinds[i];
        packed[i] = places[i].offset | places[i].presence << 16U;
        if (kind.carried == carriage::word) {
            continue;
        }
        packed[i] |= (kind.carried == carriage::piece ? counts.pieces++ : counts.blocks++) << 32U;
        counts.texts += kind.type == field_type::text ? 1 : 0;
        counts.has_c_strings = counts.has_c_strings || kind.is_c_string;
        counts.has_optional_pieces =
            counts.has_optional_pieces || (kind.optional && kind.carried == carriage::piece);
    }
    return counts;
}

template <class Event, bool BlocksCount>
constexpr auto make_places() {
    using fields = fields_of<Event>;
    constexpr std::size_t own = traits_of<Event>.session_bound ? sizeof(std::uint64_t) : 0;
    places_of_fields<fields::count> made;
    made.size = lay_out_kinds(fields::table.kinds, fields::count, own, BlocksCount, made.places);
    const reference_counts counts =
        pack_places(fields::table.kinds, fields::count, made.places, made.packed);
    made.piece_count = counts.pieces;
    made.block_count = counts.blocks;
    made.text_count = counts.texts;
    made.has_c_strings = counts.has_c_strings;
    made.has_optional_pieces = counts.has_optional_pieces;
    return made;
}

template <class Event, bool BlocksCount>
[[gnu::visibility("hidden")]] inline constexpr auto places_in = make_places<Event, BlocksCount>();

template <class Event>
struct [[gnu::visibility("hidden")]] event_layout {
    static_assert(check_event<Event>::usable);
    static_assert(member_count<Event> < members_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");
    using fields = fields_of<Event>;
    static_assert(!fields::has_c_array,
                  "eventlog: an event has a C array as field. Use std::array, or std::string_view "
                  "for text.");

    static constexpr bool session_bound = traits_of<Event>.session_bound;
    static constexpr std::size_t field_count = fields::count;
    static_assert(field_count + (session_bound ? 1 : 0) <= fields_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");

  private:
    static constexpr const auto& all = places_in<Event, true>;

  public:
    /// In declared order.
    static constexpr const auto& places = all.places;
    static constexpr std::size_t fixed_size = all.size;
    static_assert(fixed_size <= fixed_size_max,
                  "eventlog: an event's fields take more than a record can hold (64 KiB). Use "
                  "smaller arrays, or a span.");

    /// Texts and byte strings.
    static constexpr std::size_t piece_count = all.piece_count;
    static constexpr bool has_only_texts = all.text_count == piece_count;
    static constexpr bool has_c_strings = all.has_c_strings;
    static constexpr bool has_optional_pieces = all.has_optional_pieces;
    /// Arrays that are not carried by value.
    static constexpr std::size_t block_count = all.block_count;
    /// Where the others stand as long as the blocks are not in between.
    static constexpr const auto& carried = places_in<Event, all.block_count == 0>;
    static constexpr std::size_t word_count = (carried.size + 7) / 8;
};

}  // namespace eventlog::detail
