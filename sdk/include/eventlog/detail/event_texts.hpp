// SPDX-License-Identifier: MIT
//
// What the schema says about an event and its fields in words, and all mistakes that can be made
// in these words.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/leaves.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// What is not known from the layout: one object for each field of an event, in declared order.
struct field_text {
    std::string_view name{};
    std::string_view unit{};
    std::string_view description{};
    eventlog::format format{};
    const enum_description* enumeration = nullptr;
    std::string_view enumeration_identity{};  // empty: none
};

template <class Event, std::size_t Leaf>
consteval field_text text_of_field() {
    using field = inner_of<leaf_of<Event, Leaf>>;
    constexpr const event_traits& described = traits_of<Event>;
    field_text text{
        leaf_name<Event, Leaf>::value(), {}, {}, format_of<field>(), enumeration_of<field>(),
        identity_of_enumeration<field>()};
    for (const field_traits& traits : described.fields) {
        if (text.name == traits.of) {
            text.unit = traits.unit;
            text.description = traits.description;
            text.format = traits.format == format::plain ? text.format : traits.format;
            text.name = *traits.name == 0 ? text.name : traits.name;
            break;
        }
    }
    return text;
}

template <class Event>
inline constexpr auto texts_of_fields = []<std::size_t... Leaf>(std::index_sequence<Leaf...>) {
    return std::array<field_text, sizeof...(Leaf)>{text_of_field<Event, Leaf>()...};
}
(typename event_layout<Event>::indices{});

template <class Event>
consteval std::string_view event_name() {
    return *traits_of<Event>.name == 0 ? type_name<Event>() : traits_of<Event>.name;
}

/// All mistakes that an event and its traits can contain, each with its sentence.
template <class Event>
struct check_texts {
    static constexpr const event_traits& traits = traits_of<Event>;
    static constexpr std::string_view name = event_name<Event>();
    static_assert(
        is_identifier(name.data(), name.size()),
        "eventlog: the type of an event cannot be its name, which needs 1 to 63 letters, "
        "digits and _. Use a struct that has a name and is not a template, or give it one "
        "in eventlog::traits_of.");
    static_assert(std::string_view(traits.description).size() <= description_length_max &&
                      std::string_view(traits.meaning).size() <= description_length_max,
                  "eventlog: description or meaning of an event is longer than 255 bytes.");

    static consteval bool names_are_sound() {
        for (const field_text& field : texts_of_fields<Event>) {
            if (!is_identifier(field.name.data(), field.name.size())) {
                return false;
            }
        }
        return true;
    }
    static_assert(names_are_sound(),
                  "eventlog: a field's name needs 1 to 63 letters, digits and _. Rename it; of a "
                  "nested struct, the names of both together count.");

    static consteval bool names_are_distinct() {
        for (std::size_t i = 0; i < texts_of_fields<Event>.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                if (texts_of_fields<Event>[i].name == texts_of_fields<Event>[j].name) {
                    return false;
                }
            }
        }
        return true;
    }
    static_assert(
        names_are_distinct(),
        "eventlog: two fields of an event have the same name. Rename one; a.b of a nested "
        "struct is called a_b.");

    static consteval bool describes_fields_that_exist() {
        std::size_t found = 0;
        std::size_t described = 0;
        for (const field_traits& field : traits.fields) {
            described += *field.of == 0 ? 0 : 1;
        }
        [&]<std::size_t... Leaf>(std::index_sequence<Leaf...>) {
            [[maybe_unused]] const auto count = [&](std::string_view leaf) {
                for (const field_traits& field : traits.fields) {
                    found += leaf == field.of ? 1 : 0;
                }
            };
            (count(leaf_name<Event, Leaf>::value()), ...);
        }
        (typename event_layout<Event>::indices{});
        return found == described;
    }
    static_assert(describes_fields_that_exist(),
                  "eventlog: the traits of an event describe a field that it does not have, or one "
                  "twice. `of` is the member's name, outer_inner for a nested struct.");

    static consteval bool texts_are_short() {
        for (const field_text& field : texts_of_fields<Event>) {
            if (field.unit.size() > description_length_max ||
                field.description.size() > description_length_max) {
                return false;
            }
        }
        return true;
    }
    static_assert(texts_are_short(),
                  "eventlog: unit or description of a field is longer than 255 bytes.");

    static consteval bool enumerations_are_named() {
        for (const field_text& field : texts_of_fields<Event>) {
            if (field.enumeration_identity.empty()) {
                continue;
            }
            const enum_description& found = *field.enumeration;
            bool sound = is_identifier(found.name.data(), found.name.size());
            for (std::size_t i = 0; i < found.value_count; ++i) {
                const std::string_view value = found.values[i].name;
                sound = sound && is_identifier(value.data(), value.size());
            }
            if (!sound) {
                return false;
            }
        }
        return true;
    }
    static_assert(enumerations_are_named(),
                  "eventlog: the name of an enumeration or of one of its values is not 1 to 63 "
                  "letters, digits and _. Name the values in eventlog::enum_traits_of.");

    static consteval bool formats_fit() {
        for (std::size_t i = 0; i < texts_of_fields<Event>.size(); ++i) {
            const field_place& place = event_layout<Event>::places[i];
            if (!format_fits(texts_of_fields<Event>[i].format, place.type, place.count)) {
                return false;
            }
        }
        return true;
    }
    static_assert(formats_fit(),
                  "eventlog: a field's format does not go with its type: an IP address is 4 or 16 "
                  "bytes or a std::uint32_t, a MAC address 6 bytes, durations and times are "
                  "integers of 64 bits, the others are integers.");

    static constexpr bool passed = true;
};

}  // namespace eventlog::detail
