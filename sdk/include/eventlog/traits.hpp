// SPDX-License-Identifier: MIT
//
// What can be said about providers, events, fields and enumerations without touching their types:
// specialise a variable, with designated initialisers, in front of the first use.
//
//     template <>
//     inline constexpr eventlog::event_traits eventlog::traits_of<loss>{
//         .level = eventlog::level::warn,
//         .keywords = retransmit,
//         .description = "A segment was lost",
//         .fields = {{.of = "bytes", .format = eventlog::format::byte_size}}};
//
// (Texts are plain C strings, because g++ 12 does not take an array of string_views that is not
// given in full for a constant.)
//
// All of it goes into the schema; nothing of it costs anything when an event is emitted.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/schema_format.hpp>

namespace eventlog {

/// One of a provider's 64 keywords, which group its events for those who listen. Combine with |.
struct keyword {
    unsigned bit = 0;
    const char* name = "";

    // Implicit on purpose: a set of keywords is a number.
    constexpr operator std::uint64_t() const noexcept { return std::uint64_t{1} << bit; }
};

/// What becomes of an event that is larger than a record can be (64 KiB).
enum class oversize : std::uint8_t {
    refuse,  // it is not emitted, but counted as lost: too large
    cut,     // its longest texts are cut until it fits; the record says so, and it is counted
};

/// Up to so many fields of an event can be described.
inline constexpr std::size_t described_fields_max = 32;
/// Bytes of a description, meaning or unit; a longer one does not compile.
inline constexpr std::size_t description_length_max = 255;

/// Of a field that `of` names; what is left out is as if nothing had been said.
struct field_traits {
    const char* of = "";    // the member's name; of a nested struct: outer_inner
    const char* name = "";  // shown instead
    const char* unit = "";  // of a number: "packets", "ms", "%"
    const char* description = "";
    eventlog::format format = eventlog::format::plain;  // plain: what the type suggests
};

/// Of an event. A program whose `fields` name a member that is not there does not compile.
struct event_traits {
    eventlog::level level = eventlog::level::info;
    std::uint64_t keywords = 0;
    const char* name = "";         // instead of the struct's
    const char* description = "";  // what it is: "A segment was lost"
    const char* meaning = "";      // logged when: "the retransmission timer expires"
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;  // belongs to a session: emitted through eventlog::session only
    eventlog::oversize oversize = eventlog::oversize::refuse;
    field_traits fields[described_fields_max]{};
};

/// Of a provider.
struct provider_traits {
    const char* description = "";
    keyword keywords[keywords_max]{};
    bool dumps = false;  // tells late listeners the present state: see provider::on_dump
    bool usdt = false;   // each event is a USDT probe, too, for bpftrace, perf probe and gdb
};

/// One value of an enumeration, and how it is shown.
struct enum_value {
    std::int64_t value = 0;
    const char* name = "";
};

/// Up to so many values of an enumeration can be named.
inline constexpr std::size_t enum_values_max = 256;

/// Of an enumeration.
struct enum_traits {
    bool combines = false;  // the values are bits: a field holds any number of them
    /// In place of what the compiler knows, which is the values -1 to 126 and the powers of two.
    /// Names and values are distinct.
    enum_value values[enum_values_max]{};
};

namespace detail {

inline constexpr event_traits default_event_info{};
inline constexpr provider_traits default_provider_info{};
inline constexpr enum_traits default_enum_info{};

}  // namespace detail

// References to one object each, because compilers take their time to make as many as there are
// events; specialisations are objects.

/// Specialise it for an event.
template <class Event>
inline constexpr const event_traits& traits_of = detail::default_event_info;

/// Specialise it for a provider.
template <class Provider>
inline constexpr const provider_traits& provider_traits_of = detail::default_provider_info;

/// Specialise it for an enumeration.
template <class Enumeration>
inline constexpr const enum_traits& enum_traits_of = detail::default_enum_info;

}  // namespace eventlog
