// SPDX-License-Identifier: MIT
//
// Metadata of events, fields, providers and enumerations, declared beside their types.
//
// An event has it as a static member:
//
//     struct loss {
//         static constexpr eventlog::event_info info{
//             .level = eventlog::level::warn,
//             .keywords = retransmit,
//             .description = "A segment was lost",
//             .fields = {{.member = "bytes", .format = eventlog::format::byte_size}}};
//         std::uint32_t bytes;
//     };
//
// Providers and enumerations have a function, found by argument-dependent lookup:
//
//     enum class color { red, green };
//     consteval auto describe(eventlog::of<color>) {
//         return eventlog::enum_info{.values = {{0, "scarlet"}, {1, "emerald"}}};
//     }
//
// For types of other libraries, specialize event_info_of, provider_info_of or enum_info_of. All
// metadata must be declared before the first use of the type in a provider; a later declaration
// does not compile.
//
// The schema contains all of it; it costs nothing when an event is emitted. Texts are C strings,
// because g++ 12 does not accept a partly initialized array of string_views as a constant.
//
// An event_info and a provider_info know the line of the program on which their initializer ends,
// which becomes the event's or the provider's `source` in the schema. `.line = 0` leaves it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {

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

/// The maximum number of described fields of an event. In C it is that of all fields; here a larger
/// array would make each event slower to compile.
inline constexpr std::size_t described_fields_max = 32;
/// Maximum bytes of a description, `when` or unit. A longer one does not compile.
inline constexpr std::size_t description_length_max = 255;

/// Properties of the field that `member` names. Members that are left out have their defaults.
struct field_info {
    const char* member = "";  // the member's name; of a nested struct: outer_inner
    const char* name = "";    // shown instead of the member's name
    const char* unit = "";    // for numbers: "packets", "ms", "%"
    const char* description = "";
    eventlog::format format = eventlog::format::plain;  // plain: the default of the type
};

/// Properties of an event. `fields` that name no member do not compile.
struct event_info {
    eventlog::level level = eventlog::level::info;
    std::uint64_t keywords = 0;
    const char* name = "";         // instead of the struct's name
    const char* description = "";  // what happened: "A segment was lost"
    const char* when = "";         // logged when: "the retransmission timer expires"
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;  // emitted through eventlog::session only
    eventlog::oversize oversize = eventlog::oversize::drop;
    field_info fields[described_fields_max]{};
    const char* file = __builtin_FILE();  // of this info; the schema leaves out its directories
    std::uint32_t line = __builtin_LINE();
};

/// Properties of a provider.
struct provider_info {
    const char* description = "";
    keyword keywords[schema_format::keywords_max]{};
    /// Emits the current state for each new listener: see provider::on_new_listener.
    bool replays_state = false;
    bool usdt = false;  // each event is also a USDT probe, for bpftrace, perf probe and gdb
    const char* file = __builtin_FILE();  // as in event_info
    std::uint32_t line = __builtin_LINE();
};

/// One value of an enumeration and its name.
struct enum_value {
    std::int64_t value = 0;
    const char* name = "";
};

/// The maximum number of named values of an enumeration. In C it is 65535; see
/// described_fields_max. Values without a name are shown as numbers.
inline constexpr std::size_t enum_values_max = 256;

/// The values from `first` to `last`.
struct enum_range {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

/// The maximum number of values in a range: the compiler tries each of them.
inline constexpr std::size_t enum_range_max = 4096;

/// Properties of an enumeration. Names are found at compile time for the values -1 to 126, for
/// powers of two, and for those in the range. A value without a name is shown as a number.
struct enum_info {
    bool is_bitmask = false;  // the values are bits: a field holds any set of them
    /// Replaces the names that are found. Names and values are distinct.
    enum_value values[enum_values_max]{};
    /// Values whose names are found, too: `.range = {-1000, 2000}`.
    enum_range range{};
};

/// The parameter of a function `describe`, by which it is found for a provider or an enumeration.
template <class Type>
struct of {};

namespace detail {

inline constexpr event_info default_event_info{.line = 0};
inline constexpr provider_info default_provider_info{.line = 0};
inline constexpr enum_info default_enum_info{};

/// Whether an event has its metadata in a static member. A data member may be called info, too.
template <class Event>
concept has_info_member = std::is_same_v<decltype(&Event::info), const event_info*>;

/// The result of describe(of<Type>), as an object.
template <class Type>
inline constexpr auto description_of_type = describe(of<Type>{});

template <class Event>
consteval const event_info& declared_event_info() {
    if constexpr (has_info_member<Event>) {
        return Event::info;
    } else {
        return default_event_info;
    }
}

/// Whether describe(of<Type>) was declared when the metadata of the type was first needed.
template <class Type>
inline constexpr bool was_described = requires {
    describe(of<Type>{});
};

template <class Type, class Info, const Info& Default>
consteval const Info& declared_info() {
    if constexpr (was_described<Type>) {
        static_assert(std::is_same_v<decltype(description_of_type<Type>), const Info>,
                      "eventlog: describe() returns the wrong type. Return "
                      "eventlog::provider_info for a provider, and eventlog::enum_info for an "
                      "enumeration.");
        return description_of_type<Type>;
    } else {
        return Default;
    }
}

}  // namespace detail

// References, because creating an object for each event costs compile time. Specializations are
// objects.

/// The metadata of an event: its member `info`, or a specialization.
template <class Event>
inline constexpr const event_info& event_info_of = detail::declared_event_info<Event>();

/// The metadata of a provider: the result of its describe(), or a specialization.
template <class Provider>
inline constexpr const provider_info& provider_info_of =
    detail::declared_info<Provider, provider_info, detail::default_provider_info>();

/// The metadata of an enumeration: the result of its describe(), or a specialization.
template <class Enumeration>
inline constexpr const enum_info& enum_info_of =
    detail::declared_info<Enumeration, enum_info, detail::default_enum_info>();

/// Specialize it to make a type of a program or of another library a field:
///
///     template <>
///     struct eventlog::convert<my::uuid> {
///         static std::array<std::uint8_t, 16> to_field(const my::uuid& id) noexcept;
///     };
///
/// The result has a type of field, and no std::optional. What it refers to must live until the
/// event has been emitted: a text is a std::string_view, an array of over 16 bytes a reference.
/// to_field is called only for a listener, and has the contract of the callable of emit.
template <class Type>
struct convert;

namespace detail {

/// Rejects a describe() that was declared too late, or beside a specialization. Compilers
/// instantiate a function whose address is taken at the end of the translation unit, so this sees
/// all declarations.
template <class Type, bool IsSpecialized>
void check_description() {
    constexpr bool is_described = requires {
        describe(of<Type>{});
    };
    static_assert(!is_described || was_described<Type>,
                  "eventlog: describe() of a provider or an enumeration is declared behind its "
                  "first use. Move it in front of the first emit().");
    static_assert(!is_described || !IsSpecialized,
                  "eventlog: a provider or an enumeration has both describe() and a "
                  "specialization. Remove the specialization.");
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
