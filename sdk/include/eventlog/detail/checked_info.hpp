// SPDX-License-Identifier: MIT
//
// The info of events, providers and enumerations, checked for null pointers.
#pragma once

#include <type_traits>

#include <eventlog/metadata.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

// These functions read the first character of each text, which is no constant expression for a null
// pointer. Under its sanitizer, g++ does not accept comparisons with null as constants.

/// 1, or 0 for an empty text.
consteval int read_text(const char* text) {
    return *text == 0 ? 0 : 1;
}

consteval int read_texts(const event_info& info) {
    int read = read_text(info.name) + read_text(info.description) + read_text(info.when) +
               read_text(info.file);
    for (const field_info& field : info.fields) {
        read += read_text(field.member) + read_text(field.name) + read_text(field.unit) +
                read_text(field.description);
    }
    return read;
}

consteval int read_texts(const provider_info& info) {
    int read = read_text(info.description) + read_text(info.file);
    for (const keyword& word : info.keywords) {
        read += read_text(word.name);
    }
    return read;
}

consteval int read_texts(const enum_info& info) {
    int read = 0;
    for (const enum_value& value : info.values) {
        read += read_text(value.name);
    }
    return read;
}

/// Whether no text is a null pointer.
template <const auto& Traits>
concept has_no_null_texts = requires {
    typename std::integral_constant<int, read_texts(Traits)>;
};

/// `Traits`, or `Default` if they are rejected.
template <const auto& Traits, const auto& Default>
consteval const auto& with_checked_texts() {
    static_assert(has_no_null_texts<Traits>,
                  "eventlog: a text in an eventlog::event_info, provider_info or "
                  "enum_info is a null pointer. Leave it out, or "
                  "write \"\".");
    if constexpr (has_no_null_texts<Traits>) {
        return Traits;
    } else {
        return Default;
    }
}

template <class Event>
inline constexpr const event_info& checked_event_info =
    with_checked_texts<event_info_of<Event>, default_event_info>();

template <class Provider>
inline constexpr const provider_info& checked_provider_info =
    with_checked_texts<provider_info_of<Provider>, default_provider_info>();

template <class Enum>
inline constexpr const enum_info& checked_enum_info =
    with_checked_texts<enum_info_of<Enum>, default_enum_info>();

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
