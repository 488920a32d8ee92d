// SPDX-License-Identifier: MIT
//
// Passes an event from the call site to the encoder: values in words, at their offsets in the
// payload; texts by address and size; long arrays by address.
//
// All of these are in registers or are arguments of a call. So the event need not exist in memory,
// and the computation of a field can move behind the branch that tests for listeners. The encoder
// does not depend on the event: one function serves all events with the same numbers of words,
// variable fields and arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/values.hpp>
#include <eventlog/detail/var_fields.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

template <std::size_t Words, std::size_t VarFields, std::size_t Arrays>
struct [[gnu::visibility("hidden")]] packed_args {
    std::uint64_t words[at_least_one(Words)]{};
    const void* data[at_least_one(VarFields)]{};
    std::size_t sizes[at_least_one(VarFields)]{};
    const void* arrays_by_address[at_least_one(Arrays)]{};
};

/// Marks a text whose size the encoder must measure.
inline constexpr std::size_t unmeasured = static_cast<std::size_t>(-1);

template <std::size_t Size>
using unsigned_of_size = std::conditional_t<
    Size == 8, std::uint64_t,
    std::conditional_t<Size == 4, std::uint32_t,
                       std::conditional_t<Size == 2, std::uint16_t, std::uint8_t>>>;

/// Puts a value of at most 8 bytes at its offset in the payload.
[[gnu::always_inline]] inline void put_bits(std::uint64_t* words, std::size_t offset,
                                            std::size_t size, std::uint64_t bits) noexcept {
    const std::size_t bit = offset % 8 * 8;
    words[offset / 8] |= bits << bit;
    if (bit + size * 8 > 64) {
        words[offset / 8 + 1] |= bits >> (64 - bit);
    }
}

template <class Value>
[[gnu::always_inline]] inline void put_number(std::uint64_t* words, std::size_t offset,
                                              Value value) noexcept {
    using bits = unsigned_of_size<sizeof(Value)>;
    if constexpr (std::is_floating_point_v<Value>) {
        words[offset / 8] |= std::uint64_t{__builtin_bit_cast(bits, value)} << offset % 8 * 8;
    } else {
        words[offset / 8] |= std::uint64_t{static_cast<bits>(value)} << offset % 8 * 8;
    }
}

/// Puts an array of up to 16 bytes, in as few parts as possible.
template <std::size_t Size>
[[gnu::always_inline]] inline void put_bytes(std::uint64_t* words, std::size_t offset,
                                             const unsigned char* bytes) noexcept {
    constexpr std::size_t part = Size >= 8 ? 8 : Size >= 4 ? 4 : Size >= 2 ? 2 : 1;
    unsigned_of_size<part> bits;
    std::memcpy(&bits, bytes, part);
    put_bits(words, offset, part, bits);
    if constexpr (Size > part) {
        put_bytes<Size - part>(words, offset + part, bytes + part);
    }
}

template <class Field>
[[gnu::always_inline]] inline void put_value(std::uint64_t* words, std::size_t offset,
                                             const Field& field) noexcept {
    if constexpr (scalar_field<Field>) {
        put_number(words, offset, to_wire(field));
    } else {
        put_bytes<sizeof(Field)>(words, offset, reinterpret_cast<const unsigned char*>(&field));
    }
}

/// Reads a view's members separately: g++ stores the event in front of the branch if the view is
/// copied as a whole.
template <class Field>
[[gnu::always_inline]] inline var_field var_field_of(const Field& field) noexcept {
    if constexpr (std::is_pointer_v<Field>) {
        return {field, unmeasured};
    } else if constexpr (text_field<Field>) {
        return {field.data(), field.size() + 1};
    } else {
        return {field.data(), field.size() * sizeof(typename Field::value_type)};
    }
}

/// Values that are put into a word unchanged. All others need a call that compilers must inline.
template <class Field>
inline constexpr bool is_plain_number =
    scalar_field<Field>&& same_bytes<Field> && !std::is_floating_point_v<Field> &&
    !std::is_pointer_v<Field>;

/// g++ reads these types together with neighboring members, as one word, only if they are read as
/// bits. As values it converts them one by one.
template <class Field>
inline constexpr bool is_read_as_bits = std::is_same_v<Field, bool> || std::is_same_v<Field, float>;

/// Packs one field.
template <class Field, class PackedArgs>
[[gnu::always_inline]] inline void pack_field(PackedArgs& to, packed_location place,
                                              const Field& field) noexcept {
    constexpr pass_mode mode = pass_mode_of<remove_optional_t<Field>>();
    if constexpr (__is_enum(Field) && !__is_same(Field, std::byte)) {
        static_cast<void>(
            &check_description<Field, !std::is_reference_v<decltype(enum_info_of<Field>)>>);
    }
    if constexpr (converted_field<Field>) {
        pack_field(to, place, convert<Field>::to_field(field));
    } else if constexpr (is_plain_number<Field> && sizeof(Field) == 8) {
        to.words[(place & 0xffffU) / 8] = static_cast<std::uint64_t>(field);
    } else if constexpr (is_read_as_bits<Field>) {
        unsigned_of_size<sizeof(Field)> bits;
        std::memcpy(&bits, &field, sizeof bits);
        to.words[(place & 0xffffU) / 8] |= std::uint64_t{bits} << (place & 7U) * 8;
    } else if constexpr (is_plain_number<Field>) {
        to.words[(place & 0xffffU) / 8] |=
            std::uint64_t{static_cast<unsigned_of_size<sizeof(Field)>>(field)} << (place & 7U) * 8;
    } else if constexpr (std::is_same_v<Field, std::string_view>) {
        to.data[place >> 32U] = field.data();
        to.sizes[place >> 32U] = field.size() + 1;
    } else if constexpr (optional_field<Field>) {
        const bool present = field.has_value();
        put_number(to.words, presence_in(place), present);
        if constexpr (mode == pass_mode::array_by_address) {
            to.arrays_by_address[order_in(place)] = &field;
        } else if constexpr (mode == pass_mode::var_field) {
            const var_field found = present ? var_field_of(*field) : var_field{nullptr, 0};
            to.data[order_in(place)] = found.data;
            to.sizes[order_in(place)] = found.size;
        } else {
            put_value(to.words, offset_in(place), present ? *field : remove_optional_t<Field>{});
        }
    } else if constexpr (mode == pass_mode::array_by_address) {
        to.arrays_by_address[order_in(place)] = &field;
    } else if constexpr (mode == pass_mode::var_field) {
        const var_field found = var_field_of(field);
        to.data[order_in(place)] = found.data;
        to.sizes[order_in(place)] = found.size;
    } else {
        put_value(to.words, offset_in(place), field);
    }
}

template <class Event, class Struct, std::size_t Field, class Indices, class PackedArgs>
struct member_packer;

/// Rejects an adapter of a struct that was declared too late, as check_description.
template <class Struct>
void check_adapter() {
    constexpr bool is_declared = requires {
        sizeof(convert<Struct>);
    };
    static_assert(!is_declared,
                  "eventlog: eventlog::convert<...> of a struct is specialized behind the first "
                  "use of the struct in an event. Move it in front of the first emit().");
}

/// Packs a member whose first field is `Field` of the event.
template <class Event, std::size_t Field, class PackedArgs, class Member>
[[gnu::always_inline]] inline void pack_member(PackedArgs& to, const Member& member) noexcept {
    if constexpr (nested_field<Member>) {
        static_cast<void>(&check_adapter<Member>);
        using indices = std::make_index_sequence<member_count<Member>>;
        members_of<Member>::with(member,
                                 member_packer<Event, Member, Field, indices, PackedArgs>{to});
    } else {
        pack_field(to, event_layout<Event>::in_words.packed[Field], member);
    }
}

/// Packs the members of a nested struct.
template <class Event, class Struct, std::size_t Field, std::size_t... Index, class PackedArgs>
struct member_packer<Event, Struct, Field, std::index_sequence<Index...>, PackedArgs> {
    PackedArgs& to;

    template <class... Members>
    [[gnu::always_inline]] void operator()(const Members&... member) const noexcept {
        (pack_member<Event, Field + fields_of<Struct>::first_field(Index)>(to, member), ...);
    }
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
