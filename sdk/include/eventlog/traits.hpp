// SPDX-License-Identifier: MIT
//
// Properties of providers, events, fields and enumerations that are declared beside their types.
// Specialize a variable, with designated initializers, before the first use:
//
//     template <>
//     inline constexpr eventlog::event_info eventlog::event_info_of<loss>{
//         .level = eventlog::level::warn,
//         .keywords = retransmit,
//         .description = "A segment was lost",
//         .fields = {{.of = "bytes", .format = eventlog::format::byte_size}}};
//
// The schema contains all of it; it costs nothing when an event is emitted. Texts are C strings,
// because g++ 12 does not accept a partly initialized array of string_views as a constant.
#pragma once

#include <cstddef>
#include <cstdint>

#include <eventlog/schema_format.hpp>

namespace eventlog {

/// One of a provider's 64 keywords, by which listeners select groups of events. Combine with |.
struct keyword {
    unsigned bit = 0;
    const char* name = "";

    // Implicit on purpose: a set of keywords is a number.
    constexpr operator std::uint64_t() const noexcept { return std::uint64_t{1} << bit; }
};

/// Handling of an event that is larger than a record can be (64 KiB).
enum class oversize : std::uint8_t {
    drop,      // the event is counted as lost (too large)
    truncate,  // its longest texts are truncated until it fits; the record is marked and counted
};

/// The maximum number of described fields of an event.
inline constexpr std::size_t described_fields_max = 32;
/// Maximum bytes of a description, meaning or unit. A longer one does not compile.
inline constexpr std::size_t description_length_max = 255;

/// Properties of the field that `of` names. Members that are left out have their defaults.
struct field_info {
    const char* of = "";    // the member's name; of a nested struct: outer_inner
    const char* name = "";  // shown instead of the member's name
    const char* unit = "";  // for numbers: "packets", "ms", "%"
    const char* description = "";
    eventlog::format format = eventlog::format::plain;  // plain: the default of the type
};

/// Properties of an event. `fields` that name no member do not compile.
struct event_info {
    eventlog::level level = eventlog::level::info;
    std::uint64_t keywords = 0;
    const char* name = "";         // instead of the struct's name
    const char* description = "";  // what happened: "A segment was lost"
    const char* meaning = "";      // logged when: "the retransmission timer expires"
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;  // emitted through eventlog::session only
    eventlog::oversize oversize = eventlog::oversize::drop;
    field_info fields[described_fields_max]{};
};

/// Properties of a provider.
struct provider_info {
    const char* description = "";
    keyword keywords[keywords_max]{};
    /// Emits the current state for each new listener: see provider::on_new_listener.
    bool replays_state = false;
    bool usdt = false;  // each event is also a USDT probe, for bpftrace, perf probe and gdb
};

/// One value of an enumeration and its name.
struct enum_value {
    std::int64_t value = 0;
    const char* name = "";
};

/// The maximum number of named values of an enumeration.
inline constexpr std::size_t enum_values_max = 256;

/// Properties of an enumeration.
struct enum_info {
    bool combines = false;  // the values are bits: a field holds any set of them
    /// Replaces the names that are found at compile time, which are those of the values -1 to 126
    /// and of powers of two. Names and values are distinct.
    enum_value values[enum_values_max]{};
};

namespace detail {

inline constexpr event_info default_event_info{};
inline constexpr provider_info default_provider_info{};
inline constexpr enum_info default_enum_info{};

}  // namespace detail

// By default references to one object, because creating an object for each event costs compile
// time. Specializations are objects.

/// Specialize it for an event.
template <class Event>
inline constexpr const event_info& event_info_of = detail::default_event_info;

/// Specialize it for a provider.
template <class Provider>
inline constexpr const provider_info& provider_info_of = detail::default_provider_info;

/// Specialize it for an enumeration.
template <class Enumeration>
inline constexpr const enum_info& enum_info_of = detail::default_enum_info;

}  // namespace eventlog
