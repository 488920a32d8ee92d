// SPDX-License-Identifier: MIT
//
// What the schema says about an event and its fields in words, and all mistakes that can be made
// in these words.
//
// All but the last template is about any event: functions that are no templates are what compilers
// evaluate fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/detail/struct_fields.hpp>
#include <eventlog/detail/told.hpp>
#include <eventlog/schema_format.hpp>
#include <eventlog/traits.hpp>

namespace eventlog::detail {

/// An event, whatever its type: what the schema says of it.
struct event_content {
    const event_traits* traits = nullptr;
    bool is_told = false;  // somebody has said something in traits_of
    bool is_flat = true;
    name_view name{};
    std::size_t fixed_size = 0;
    std::size_t count = 0;
    const name_view* names = nullptr;
    const field_kind* const* kinds = nullptr;
    const field_place* places = nullptr;
};

/// What the traits say about a field, or what they say about none.
struct field_text {
    name_view name{};
    const field_traits* traits = nullptr;
    eventlog::format format{};
};

inline constexpr field_traits untold_field{};

constexpr bool is_text(const name_view& name, const char* text) {
    std::size_t size = 0;
    while (size < name.size && text[size] == name.begin[size]) {
        ++size;
    }
    return size == name.size && text[size] == 0;
}

constexpr name_view view_of(const char* text) {
    return {text, __builtin_strlen(text)};
}

constexpr field_text text_of(const event_content& event, std::size_t field) {
    const name_view& name = event.names[field];
    if (event.is_told) {
        for (const field_traits& traits : event.traits->fields) {
            if (is_text(name, traits.of)) {
                return {*traits.name == 0 ? name : view_of(traits.name), &traits,
                        traits.format == format::plain ? event.kinds[field]->shown : traits.format};
            }
        }
    }
    return {name, &untold_field, event.kinds[field]->shown};
}

enum class text_mistake {
    none,
    event_name,
    event_text_length,
    field_name,
    same_field_name,
    session_field,
    foreign_field,
    field_twice,
    nameless_field,
    field_text_length,
    enumeration_name,
    enumeration_twice,
    unfit_format,
    unit_of_no_number,
    level,
    event_kind,
    event_oversize,
    session_of_none,
};

constexpr bool is_identifier(const name_view& name) {
    return eventlog::is_identifier(name.begin, name.size);
}

constexpr bool is_long(const char* text) {
    return __builtin_strlen(text) > description_length_max;
}

constexpr bool enumeration_is_named(const enum_description& found) {
    bool sound = eventlog::is_identifier(found.name.data(), found.name.size());
    for (std::size_t i = 0; i < found.value_count; ++i) {
        const std::string_view value = found.values[i].name;
        sound = sound && eventlog::is_identifier(value.data(), value.size());
    }
    return sound;
}

/// Whether a field before this one has its name.
constexpr bool name_is_taken(const event_content& event, std::size_t field, const name_view& name) {
    for (std::size_t i = 0; i < field; ++i) {
        if (name == std::string_view(text_of(event, i).name)) {
            return true;
        }
    }
    return false;
}

/// Whether the event has a field of this name.
constexpr bool has_field(const event_content& event, const char* name) {
    for (std::size_t i = 0; i < event.count; ++i) {
        if (is_text(event.names[i], name)) {
            return true;
        }
    }
    return false;
}

constexpr bool says_something(const field_traits& traits) {
    return *traits.name != 0 || *traits.unit != 0 || *traits.description != 0 ||
           traits.format != format::plain;
}

/// Whether each field that the traits describe is one of the event's, described once.
constexpr text_mistake find_mistaken_field(const event_content& event) {
    for (std::size_t i = 0; i < described_fields_max; ++i) {
        const field_traits& traits = event.traits->fields[i];
        if (*traits.of == 0) {
            if (says_something(traits)) {
                return text_mistake::nameless_field;
            }
            continue;
        }
        if (!has_field(event, traits.of)) {
            return text_mistake::foreign_field;
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (std::string_view(traits.of) == event.traits->fields[j].of) {
                return text_mistake::field_twice;
            }
        }
    }
    return text_mistake::none;
}

/// Whether a field has the name of the one that stands in front of it in each event of a session.
constexpr bool names_session_again(const event_content& event) {
    for (std::size_t i = 0; i < event.count; ++i) {
        if (text_of(event, i).name == std::string_view("session")) {
            return event.traits->session_bound;
        }
    }
    return false;
}

constexpr bool is_about_session(kind what) {
    return what == kind::session_begin || what == kind::session_end;
}

/// The mistakes that somebody can make who says something about an event.
constexpr text_mistake find_told_mistake(const event_content& event) {
    if (is_long(event.traits->description) || is_long(event.traits->meaning)) {
        return text_mistake::event_text_length;
    }
    if (event.traits->level < level::error || event.traits->level > level::trace) {
        return text_mistake::level;
    }
    if (event.traits->kind > kind::dump_complete) {
        return text_mistake::event_kind;
    }
    if (event.traits->oversize > oversize::cut) {
        return text_mistake::event_oversize;
    }
    if (is_about_session(event.traits->kind) && !event.traits->session_bound) {
        return text_mistake::session_of_none;
    }
    if (names_session_again(event)) {
        return text_mistake::session_field;
    }
    if (const text_mistake found = find_mistaken_field(event); found != text_mistake::none) {
        return found;
    }
    for (std::size_t i = 0; i < event.count; ++i) {
        const field_text text = text_of(event, i);
        if (!is_identifier(text.name)) {
            return text_mistake::field_name;
        }
        if (is_long(text.traits->unit) || is_long(text.traits->description)) {
            return text_mistake::field_text_length;
        }
        if (!format_fits(text.format, event.places[i].type, event.places[i].count)) {
            return text_mistake::unfit_format;
        }
        if (*text.traits->unit != 0 && !takes_unit(event.places[i].type)) {
            return text_mistake::unit_of_no_number;
        }
    }
    return text_mistake::none;
}

constexpr text_mistake find_mistake(const event_content& event) {
    if (!is_identifier(event.name)) {
        return text_mistake::event_name;
    }
    for (std::size_t i = 0; i < event.count; ++i) {
        if (event.names[i].size - 1 >= name_length_max) {
            return text_mistake::field_name;
        }
        const field_kind& kind = *event.kinds[i];
        if (kind.is_enumeration && !enumeration_is_named(*kind.enumeration)) {
            return text_mistake::enumeration_name;
        }
        if (kind.is_enumeration && !kind.enumeration->is_distinct) {
            return text_mistake::enumeration_twice;
        }
    }
    // Members of one struct have different names anyway.
    for (std::size_t i = 0; (event.is_told || !event.is_flat) && i < event.count; ++i) {
        if (name_is_taken(event, i, text_of(event, i).name)) {
            return text_mistake::same_field_name;
        }
    }
    return event.is_told ? find_told_mistake(event) : text_mistake::none;
}

template <class Event>
inline constexpr bool is_told = !std::is_reference_v<decltype(traits_of<Event>)>;

template <class Event>
consteval event_content make_content() {
    using layout = event_layout<Event>;
    using fields = typename layout::fields;
    const name_view own = fields::table.type;
    const event_traits& told = told_of_event<Event>;
    return {&told,
            is_told<Event>,
            fields::is_flat,
            *told.name == 0 ? own : view_of(told.name),
            layout::fixed_size,
            fields::count,
            fields::table.names,
            fields::table.kinds,
            layout::places};
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr event_content content_of = make_content<Event>();

template <class Event>
inline constexpr text_mistake mistake_in = find_mistake(content_of<Event>);

/// Refuses an event with a mistake, in words. Made only for providers that have one.
template <class Event>
struct check_texts {
    static constexpr text_mistake found = mistake_in<Event>;
    static_assert(
        found != text_mistake::event_name,
        "eventlog: the type of an event cannot be its name, which needs 1 to 63 letters, "
        "digits and _. Use a struct that has a name and is not a template, or give it one "
        "in eventlog::traits_of.");
    static_assert(found != text_mistake::event_text_length,
                  "eventlog: description or meaning of an event is longer than 255 bytes.");
    static_assert(found != text_mistake::field_name,
                  "eventlog: a field's name needs 1 to 63 letters, digits and _. Rename it; of a "
                  "nested struct, the names of both together count.");
    static_assert(
        found != text_mistake::same_field_name,
        "eventlog: two fields of an event have the same name. Rename one; a.b of a nested "
        "struct is called a_b.");
    static_assert(found != text_mistake::session_field,
                  "eventlog: a session-bound event has a field named session already, in front. "
                  "Leave this one out, or rename it.");
    static_assert(found != text_mistake::foreign_field,
                  "eventlog: the traits of an event describe a field that it does not have. `of` "
                  "is the member's name, outer_inner for a nested struct.");
    static_assert(found != text_mistake::field_twice,
                  "eventlog: the traits of an event describe a field twice. Say all of it in one "
                  "place, or correct the other one's `of`.");
    static_assert(found != text_mistake::nameless_field,
                  "eventlog: the traits of an event describe a field, but do not say which. Say "
                  "`.of` and the member's name.");
    static_assert(found != text_mistake::field_text_length,
                  "eventlog: unit or description of a field is longer than 255 bytes.");
    static_assert(found != text_mistake::enumeration_name,
                  "eventlog: the name of an enumeration or of one of its values is not 1 to 63 "
                  "letters, digits and _. Give an enumeration without a name one, and name the "
                  "values in eventlog::enum_traits_of.");
    static_assert(found != text_mistake::enumeration_twice,
                  "eventlog: eventlog::enum_traits_of gives two values of an enumeration the same "
                  "name, or one value two names. Give each its own.");
    static_assert(found != text_mistake::unfit_format,
                  "eventlog: a field's format does not go with its type: an IP address is 4 or 16 "
                  "bytes or a std::uint32_t, a MAC address 6 bytes, durations and times are "
                  "integers of 64 bits, the others are integers.");
    static_assert(found != text_mistake::unit_of_no_number,
                  "eventlog: a field that is no number has a unit. Leave the unit out, or say it "
                  "in the field's description.");
    static_assert(found != text_mistake::level,
                  "eventlog: an event has a level that there is not. Take one of eventlog::level.");
    static_assert(found != text_mistake::event_kind,
                  "eventlog: an event has a kind that there is not. Take one of eventlog::kind.");
    static_assert(found != text_mistake::event_oversize,
                  "eventlog: what becomes of an event that is too large is neither refuse nor cut. "
                  "Take one of eventlog::oversize.");
    static_assert(found != text_mistake::session_of_none,
                  "eventlog: an event begins or ends a session, but does not say which. Say "
                  ".session_bound = true in eventlog::traits_of.");

    static constexpr bool passed = true;
};

}  // namespace eventlog::detail
