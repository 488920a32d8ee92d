// SPDX-License-Identifier: MIT
//
// The schema of a provider, written by the compiler. The form is explained in schema_format.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/event_texts.hpp>
#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/schema_sink.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// The enumerations of some events, each once.
template <std::size_t Capacity>
struct enumeration_list {
    std::array<const enum_description*, Capacity> items{};
    std::array<std::string_view, Capacity> identities{};
    std::size_t count = 0;

    constexpr void add(const field_text& field) {
        if (!field.enumeration_identity.empty() && index_of(field) == no_index) {
            items[count] = field.enumeration;
            identities[count++] = field.enumeration_identity;
        }
    }
    [[nodiscard]] constexpr std::uint16_t index_of(const field_text& field) const {
        for (std::size_t i = 0; i < count; ++i) {
            if (identities[i] == field.enumeration_identity) {
                return static_cast<std::uint16_t>(i);
            }
        }
        return no_index;
    }
};

/// An event, whatever its type: one function writes them all.
struct event_content {
    const event_traits* traits;
    std::string_view name;
    std::size_t fixed_size;
    std::span<const field_place> places;
    std::span<const field_text> texts;
};

template <class Event>
consteval event_content content_of() {
    static_assert(check_texts<Event>::passed);
    return {&traits_of<Event>, event_name<Event>(), event_layout<Event>::fixed_size,
            event_layout<Event>::places, texts_of_fields<Event>};
}

// In an array, not in a fold expression: clang takes no more than 256 operands for one.
template <class... Events>
inline constexpr std::array<event_content, sizeof...(Events)> contents_of{content_of<Events>()...};

consteval std::size_t count_enumerations(std::span<const event_content> events) {
    std::size_t count = 0;
    for (const event_content& event : events) {
        for (const field_text& field : event.texts) {
            count += field.enumeration_identity.empty() ? 0 : 1;
        }
    }
    return count;
}

template <class... Events>
consteval auto list_enumerations() {
    enumeration_list<count_enumerations(contents_of<Events...>)> list;
    for (const event_content& event : contents_of<Events...>) {
        for (const field_text& field : event.texts) {
            list.add(field);
        }
    }
    return list;
}

constexpr void write_event(schema_sink& sink, const event_content& event,
                           const auto& enumerations) {
    const event_traits& traits = *event.traits;
    sink.number(static_cast<std::uint8_t>(traits.level), 1);
    sink.number(static_cast<std::uint8_t>(traits.kind), 1);
    sink.number((traits.session_bound ? event_session_bound : 0U) |
                    (traits.oversize == oversize::cut ? event_cuts_texts : 0U),
                1);
    sink.number(0, 1);
    sink.number(event.fixed_size, 2);
    sink.number(event.places.size() + (traits.session_bound ? 1 : 0), 2);
    sink.number(traits.keywords, 8);
    sink.text(event.name);
    sink.text(traits.description);
    sink.text(traits.meaning);
    const auto write_field = [&](const field_place& place, const field_text& text) {
        sink.number(static_cast<std::uint8_t>(place.type), 1);
        sink.number(static_cast<std::uint8_t>(text.format), 1);
        sink.number(place.count, 2);
        sink.number(place.offset, 2);
        sink.number(place.presence, 2);
        sink.number(enumerations.index_of(text), 2);
        sink.text(text.name);
        sink.text(text.unit);
        sink.text(text.description);
    };
    if (traits.session_bound) {
        write_field({field_type::unsigned_64}, {"session"});
    }
    for (std::size_t i = 0; i < event.places.size(); ++i) {
        write_field(event.places[i], event.texts[i]);
    }
}

constexpr void write_enumeration(schema_sink& sink, const enum_description& enumeration) {
    sink.number(enumeration.combines ? enumeration_combines : 0, 1);
    sink.number(enumeration.value_count, 2);
    sink.text(enumeration.name);
    for (std::size_t i = 0; i < enumeration.value_count; ++i) {
        sink.number(static_cast<std::uint64_t>(enumeration.values[i].value), 8);
        sink.text(enumeration.values[i].name);
    }
}

/// `Name` is the provider's, `traits` are those of the provider type.
template <fixed_string Name, class... Events>
constexpr void write_schema(schema_sink& sink, const provider_traits& traits, std::size_t size) {
    constexpr auto enumerations = list_enumerations<Events...>();
    std::size_t keyword_count = 0;
    for (const keyword& word : traits.keywords) {
        keyword_count += *word.name == 0 ? 0 : 1;
    }
    sink.number(schema_magic, 4);
    sink.number(schema_version, 2);
    sink.number(sizeof...(Events), 2);
    sink.number(size, 4);
    sink.number(enumerations.count, 2);
    sink.number(keyword_count, 1);
    sink.number(0, 1);
    sink.number(0, 8);  // the hash
    sink.text(Name.view());
    sink.text(traits.description);
    for (unsigned bit = 0; bit < keywords_max; ++bit) {
        for (const keyword& word : traits.keywords) {
            if (*word.name != 0 && word.bit == bit) {
                sink.number(bit, 1);
                sink.text(word.name);
            }
        }
    }
    for (std::size_t i = 0; i < enumerations.count; ++i) {
        write_enumeration(sink, *enumerations.items[i]);
    }
    for (const event_content& event : contents_of<Events...>) {
        write_event(sink, event, enumerations);
    }
}

template <fixed_string Name, class Provider, class... Events>
consteval auto make_schema() {
    constexpr const provider_traits& traits = provider_traits_of<Provider>;
    constexpr std::size_t size = [] {
        schema_sink counter;
        write_schema<Name, Events...>(counter, provider_traits_of<Provider>, 0);
        return counter.size();
    }();
    static_assert(size <= schema_size_max,
                  "eventlog: the schema of this provider is over 1 MiB. Split the provider.");
    std::array<std::uint8_t, size> bytes{};
    schema_sink writer(bytes.data());
    write_schema<Name, Events...>(writer, traits, size);
    put_hash(bytes);
    return bytes;
}

}  // namespace eventlog::detail
