// SPDX-License-Identifier: MIT
//
// The locations of a struct's fields in its payload, by the rule of field_location.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/detail/field_location.hpp>
#include <eventlog/detail/struct_fields.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// From the low end up: a field's offset and the offset of its presence byte (16 bits each), and
/// its index among the variable fields or among the arrays passed by address.
using packed_location = std::uint64_t;

constexpr std::size_t offset_in(packed_location packed) {
    return packed & 0xffffU;
}
constexpr std::size_t presence_in(packed_location packed) {
    return packed >> 16U & 0xffffU;
}
constexpr std::size_t order_in(packed_location packed) {
    return packed >> 32U;
}

/// The numbers of variable fields and of arrays passed by address.
struct indirect_field_counts {
    std::size_t var_fields = 0;
    std::size_t arrays_by_address = 0;
    std::size_t texts = 0;
    bool has_c_strings = false;
    bool has_optional_var_fields = false;
};

/// The locations of an event's fields, in declared order.
template <std::size_t Count>
struct field_locations {
    field_location locations[at_least_one(Count)]{};
    packed_location packed[at_least_one(Count)]{};  // one constant for each field, for call sites
    std::size_t size = 0;                           // of the fixed part
    indirect_field_counts counts{};
};

/// Arrays passed by address take no room if `includes_arrays` is false. Returns the size of the
/// fixed part.
constexpr std::size_t lay_out_kinds(const field_kind* const* kinds, std::size_t count,
                                    std::size_t offset, bool includes_arrays,
                                    field_location* locations) {
    for (std::size_t i = 0; i < count; ++i) {
        const field_kind& kind = *kinds[i];
        locations[i] = {kind.type, kind.count, kind.optional};
        locations[i].takes_room = includes_arrays || kind.mode != pass_mode::array_by_address;
    }
    return lay_out(locations, count, offset);
}

constexpr indirect_field_counts pack_locations(const field_kind* const* kinds, std::size_t count,
                                               const field_location* locations,
                                               packed_location* packed) {
    indirect_field_counts counts;
    for (std::size_t i = 0; i < count; ++i) {
        const field_kind& kind = *kinds[i];
        packed[i] = locations[i].offset | locations[i].presence << 16U;
        if (kind.mode == pass_mode::by_value) {
            continue;
        }
        packed[i] |=
            (kind.mode == pass_mode::var_field ? counts.var_fields++ : counts.arrays_by_address++)
            << 32U;
        counts.texts += kind.type == field_type::text ? 1 : 0;
        counts.has_c_strings = counts.has_c_strings || kind.is_c_string;
        counts.has_optional_var_fields =
            counts.has_optional_var_fields || (kind.optional && kind.mode == pass_mode::var_field);
    }
    return counts;
}

template <class Event, bool IncludesArrays>
constexpr auto make_field_locations() {
    using fields = fields_of<Event>;
    constexpr std::size_t own = event_info_of<Event>.session_bound ? sizeof(std::uint64_t) : 0;
    field_locations<fields::count> made;
    made.size =
        lay_out_kinds(fields::table.kinds, fields::count, own, IncludesArrays, made.locations);
    made.counts = pack_locations(fields::table.kinds, fields::count, made.locations, made.packed);
    return made;
}

template <class Event, bool IncludesArrays>
[[gnu::visibility("hidden")]] inline constexpr auto field_locations_in =
    make_field_locations<Event, IncludesArrays>();

template <class Event>
struct [[gnu::visibility("hidden")]] event_layout {
    static_assert(check_event<Event>::usable);
    static_assert(member_count<Event> < members_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");
    using fields = fields_of<Event>;
    static_assert(!fields::has_c_array,
                  "eventlog: an event has a C array as field. Use std::array, or std::string_view "
                  "for text.");

    static constexpr bool session_bound = event_info_of<Event>.session_bound;
    static constexpr std::size_t field_count = fields::count;
    static_assert(field_count + (session_bound ? 1 : 0) <= schema_format::fields_max,
                  "eventlog: an event has more than 100 fields. Split it in two.");

  private:
    static constexpr const auto& all = field_locations_in<Event, true>;

  public:
    /// In declared order.
    static constexpr const auto& locations = all.locations;
    static constexpr std::size_t fixed_size = all.size;
    static_assert(fixed_size <= fixed_size_max,
                  "eventlog: an event's fields take more than a record can hold (64 KiB). Use "
                  "smaller arrays, or a span.");

    /// Texts, byte strings and sequences.
    static constexpr std::size_t var_field_count = all.counts.var_fields;
    static constexpr bool has_only_texts = all.counts.texts == var_field_count;
    static constexpr bool has_c_strings = all.counts.has_c_strings;
    static constexpr bool has_optional_var_fields = all.counts.has_optional_var_fields;
    /// Arrays passed by address.
    static constexpr std::size_t array_count = all.counts.arrays_by_address;
    /// The locations in the words of packed_args, which have no room for the arrays.
    static constexpr const auto& in_words =
        field_locations_in<Event, all.counts.arrays_by_address == 0>;
    static constexpr std::size_t word_count = (in_words.size + 7) / 8;
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
