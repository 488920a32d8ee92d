// SPDX-License-Identifier: MIT
//
// The schema of an event: names, texts and properties of its fields, and the checks of them.
//
// All but the last templates are ordinary functions on any event, which compilers evaluate fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <eventlog/detail/checked_info.hpp>
#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/fields.hpp>
#include <eventlog/detail/layout.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/detail/source_name.hpp>
#include <eventlog/detail/struct_fields.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// An event of any type, as the schema describes it.
struct event_schema {
    const event_info* info = nullptr;
    bool has_info = false;  // the event declares its metadata
    bool is_flat = true;
    name_view name{};
    std::size_t fixed_size = 0;
    std::size_t count = 0;
    const name_view* names = nullptr;
    const field_kind* const* kinds = nullptr;
    const field_location* locations = nullptr;
    std::string_view file{};  // that declares it, without directories; empty: unknown
};

/// The description of a field; the default one if the info have none.
struct field_text {
    name_view name{};
    const field_info* info = nullptr;
    eventlog::format format{};
};

inline constexpr field_info default_field_info{};

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

constexpr field_text text_of(const event_schema& event, std::size_t field) {
    const name_view& name = event.names[field];
    if (event.has_info) {
        for (const field_info& info : event.info->fields) {
            if (is_text(name, info.member)) {
                return {*info.name == 0 ? name : view_of(info.name), &info,
                        info.format == format::plain ? event.kinds[field]->shown : info.format};
            }
        }
    }
    return {name, &default_field_info, event.kinds[field]->shown};
}

enum class event_error {
    none,
    event_name,
    event_text_length,
    field_name,
    duplicate_field_name,
    reserved_session_field,
    unknown_field,
    duplicate_field,
    unnamed_field,
    field_text_length,
    invalid_enum_name,
    duplicate_enum_value,
    format_mismatch,
    unit_without_number,
    level,
    event_kind,
    event_oversize,
    session_event_not_bound,
    two_infos,
    unusable_info,
    described_event,
};

constexpr bool is_identifier(const name_view& name) {
    return eventlog::schema_format::is_identifier(name.begin, name.size);
}

constexpr bool is_long(const char* text) {
    return __builtin_strlen(text) > description_length_max;
}

constexpr bool enumeration_is_named(const enum_description& found) {
    bool sound = eventlog::schema_format::is_identifier(found.name.data(), found.name.size());
    for (std::size_t i = 0; i < found.value_count; ++i) {
        const std::string_view value = found.values[i].name;
        sound = sound && eventlog::schema_format::is_identifier(value.data(), value.size());
    }
    return sound;
}

/// Whether a field before this one has its name.
constexpr bool name_is_taken(const event_schema& event, std::size_t field, const name_view& name) {
    for (std::size_t i = 0; i < field; ++i) {
        if (name == std::string_view(text_of(event, i).name)) {
            return true;
        }
    }
    return false;
}

/// Whether the event has a field of this name.
constexpr bool has_field(const event_schema& event, const char* name) {
    for (std::size_t i = 0; i < event.count; ++i) {
        if (is_text(event.names[i], name)) {
            return true;
        }
    }
    return false;
}

constexpr bool is_nonempty(const field_info& info) {
    return *info.name != 0 || *info.unit != 0 || *info.description != 0 ||
           info.format != format::plain;
}

/// Checks that the info describe only fields of the event, each once.
constexpr event_error find_field_info_error(const event_schema& event) {
    for (std::size_t i = 0; i < described_fields_max; ++i) {
        const field_info& info = event.info->fields[i];
        if (*info.member == 0) {
            if (is_nonempty(info)) {
                return event_error::unnamed_field;
            }
            continue;
        }
        if (!has_field(event, info.member)) {
            return event_error::unknown_field;
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (std::string_view(info.member) == event.info->fields[j].member) {
                return event_error::duplicate_field;
            }
        }
    }
    return event_error::none;
}

/// Whether a field has the name of the field that each session-bound event has in front.
constexpr bool has_session_field_conflict(const event_schema& event) {
    for (std::size_t i = 0; i < event.count; ++i) {
        if (text_of(event, i).name == std::string_view("session")) {
            return event.info->session_bound;
        }
    }
    return false;
}

constexpr bool is_about_session(kind what) {
    return what == kind::session_begin || what == kind::session_end;
}

/// Checks the info of an event.
constexpr event_error find_info_error(const event_schema& event) {
    if (is_long(event.info->description) || is_long(event.info->when)) {
        return event_error::event_text_length;
    }
    if (event.info->level < level::error || event.info->level > level::trace) {
        return event_error::level;
    }
    if (event.info->kind > kind::state_complete) {
        return event_error::event_kind;
    }
    if (event.info->oversize > oversize::truncate) {
        return event_error::event_oversize;
    }
    if (is_about_session(event.info->kind) && !event.info->session_bound) {
        return event_error::session_event_not_bound;
    }
    if (has_session_field_conflict(event)) {
        return event_error::reserved_session_field;
    }
    if (const event_error found = find_field_info_error(event); found != event_error::none) {
        return found;
    }
    for (std::size_t i = 0; i < event.count; ++i) {
        const field_text text = text_of(event, i);
        if (!is_identifier(text.name)) {
            return event_error::field_name;
        }
        if (is_long(text.info->unit) || is_long(text.info->description)) {
            return event_error::field_text_length;
        }
        if (!format_fits(text.format, event.locations[i].type, event.locations[i].count)) {
            return event_error::format_mismatch;
        }
        if (*text.info->unit != 0 && !takes_unit(event.locations[i].type)) {
            return event_error::unit_without_number;
        }
    }
    return event_error::none;
}

constexpr event_error find_event_error(const event_schema& event) {
    if (!is_identifier(event.name)) {
        return event_error::event_name;
    }
    for (std::size_t i = 0; i < event.count; ++i) {
        if (event.names[i].size - 1 >= schema_format::name_length_max) {
            return event_error::field_name;
        }
        const field_kind& kind = *event.kinds[i];
        if (kind.is_enumeration && !enumeration_is_named(*kind.enumeration)) {
            return event_error::invalid_enum_name;
        }
        if (kind.is_enumeration && !kind.enumeration->is_distinct) {
            return event_error::duplicate_enum_value;
        }
    }
    // The members of one struct have different names.
    for (std::size_t i = 0; (event.has_info || !event.is_flat) && i < event.count; ++i) {
        if (name_is_taken(event, i, text_of(event, i).name)) {
            return event_error::duplicate_field_name;
        }
    }
    return event.has_info ? find_info_error(event) : event_error::none;
}

template <class Event>
inline constexpr bool is_info_specialized = !std::is_reference_v<decltype(event_info_of<Event>)>;

template <class Event>
inline constexpr bool has_info = is_info_specialized<Event> || has_info_member<Event>;

template <class Event>
consteval event_schema make_event_schema() {
    using layout = event_layout<Event>;
    using fields = typename layout::fields;
    const name_view own = fields::table.type;
    const event_info& info = checked_event_info<Event>;
    return {&info,
            has_info<Event>,
            fields::is_flat,
            *info.name == 0 ? own : view_of(info.name),
            layout::fixed_size,
            fields::count,
            fields::table.names,
            fields::table.kinds,
            layout::locations,
            info.line == 0 ? std::string_view() : source_name(info.file)};
}

template <class Event>
[[gnu::visibility("hidden")]] inline constexpr event_schema event_schema_of =
    make_event_schema<Event>();

/// Whether a static data member `info` is no const event_info, and would be ignored.
template <class Event>
inline constexpr bool has_unusable_info = false;
template <class Event>
requires requires {
    &Event::info;
}
inline constexpr bool has_unusable_info<Event> =
    !has_info_member<Event> && std::is_pointer_v<decltype(&Event::info)> &&
    std::is_object_v<std::remove_pointer_t<decltype(&Event::info)>>;

/// Checks how an event declares its metadata.
template <class Event>
consteval event_error find_declaration_error() {
    if constexpr (is_info_specialized<Event> && has_info_member<Event>) {
        return event_error::two_infos;
    } else if constexpr (has_unusable_info<Event>) {
        return event_error::unusable_info;
    } else if constexpr (requires { describe(of<Event>{}); }) {
        return event_error::described_event;
    } else {
        return event_error::none;
    }
}

/// Of an event, or of the one that it wraps.
template <class Event>
inline constexpr event_error declaration_error_in = find_declaration_error<Event>();
template <class Entry>
requires(unwrapped<Entry>::is_wrapper) inline constexpr event_error declaration_error_in<Entry> =
    find_declaration_error<typename unwrapped<Entry>::type>();

template <class Event>
inline constexpr event_error event_error_in = declaration_error_in<Event> != event_error::none
                                                  ? declaration_error_in<Event>
                                                  : find_event_error(event_schema_of<Event>);

/// Rejects an event with an error, with a message. Instantiated only for providers that have one.
template <class Event>
struct check_event_info {
    static constexpr event_error found = event_error_in<Event>;
    static_assert(found != event_error::two_infos,
                  "eventlog: an event has both a member info and a specialization of "
                  "eventlog::event_info_of. Remove the specialization.");
    static_assert(found != event_error::unusable_info,
                  "eventlog: the static member info of an event is not its metadata. Declare it as "
                  "static constexpr eventlog::event_info, or rename it.");
    static_assert(found != event_error::described_event,
                  "eventlog: an event has a function describe(), which is for providers and "
                  "enumerations. Give the event a static constexpr eventlog::event_info info.");
    static_assert(
        found != event_error::event_name,
        "eventlog: the type of an event cannot be its name, which needs 1 to 63 letters, "
        "digits and _. Use a struct that has a name and is not a template, or give it one "
        "in its eventlog::event_info.");
    static_assert(found != event_error::event_text_length,
                  "eventlog: description or `when` of an event is longer than 255 bytes.");
    static_assert(found != event_error::field_name,
                  "eventlog: a field's name needs 1 to 63 letters, digits and _. Rename it; in a "
                  "nested struct, the joined name counts.");
    static_assert(
        found != event_error::duplicate_field_name,
        "eventlog: two fields of an event have the same name. Rename one; a.b of a nested "
        "struct is called a_b.");
    static_assert(found != event_error::reserved_session_field,
                  "eventlog: a session-bound event already has a first field named session. Remove "
                  "this one, or rename it.");
    static_assert(
        found != event_error::unknown_field,
        "eventlog: the metadata of an event describes a field that it does not have. `member` "
        "is its name, outer_inner for a nested struct.");
    static_assert(
        found != event_error::duplicate_field,
        "eventlog: the metadata of an event describes a field twice. Merge both entries, or "
        "correct the `member` of one.");
    static_assert(
        found != event_error::unnamed_field,
        "eventlog: the metadata of an event describes a field without naming it. Set `.member` "
        "to its name.");
    static_assert(found != event_error::field_text_length,
                  "eventlog: unit or description of a field is longer than 255 bytes.");
    static_assert(found != event_error::invalid_enum_name,
                  "eventlog: the name of an enumeration or of one of its values is not 1 to 63 "
                  "letters, digits and _. Give an enumeration without a name one, and name the "
                  "values in its eventlog::enum_info.");
    static_assert(found != event_error::duplicate_enum_value,
                  "eventlog: eventlog::enum_info gives two values of an enumeration the same "
                  "name, or one value two names. Give each its own.");
    static_assert(found != event_error::format_mismatch,
                  "eventlog: a field's format does not suit its type: an IP address is 4 or 16 "
                  "bytes or a std::uint32_t, a MAC address 6 bytes, durations and times are "
                  "integers of 64 bits, all other formats are for integers.");
    static_assert(found != event_error::unit_without_number,
                  "eventlog: a field that is not a number has a unit. Remove the unit, or mention "
                  "it in the field's description.");
    static_assert(found != event_error::level,
                  "eventlog: an event has an invalid level. Use one of eventlog::level.");
    static_assert(found != event_error::event_kind,
                  "eventlog: an event has an invalid kind. Use one of eventlog::kind.");
    static_assert(found != event_error::event_oversize,
                  "eventlog: an event has an invalid oversize. Use one of eventlog::oversize.");
    static_assert(found != event_error::session_event_not_bound,
                  "eventlog: an event that begins or ends a session is not session-bound. Set "
                  ".session_bound = true in its eventlog::event_info.");

    static constexpr bool passed = true;
};

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
