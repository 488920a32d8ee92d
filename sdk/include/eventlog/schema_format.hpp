// SPDX-License-Identifier: MIT
//
// The binary form of a schema, which describes the events of a provider.
//
// A schema accompanies the events that it describes: it is in the process's file, in every
// subscription that the provider attaches to, and in every .elog file. Consumers need nothing else
// to decode events. Little-endian on every machine, no padding:
//
//       schema   u32 magic, u16 version, u16 event_count, u32 size, u16 enumeration_count,
//                u8 keyword_count (0 to 64), u8 attribute_count, u64 hash, name provider,
//                text description, attribute[attribute_count], keyword[keyword_count],
//                enumeration[enumeration_count], event[event_count]
//       keyword  u8 bit (0 to 63, ascending), name
//       enumeration  u8 flags (1: the values are bits that combine), u16 value_count, name,
//                value[value_count]
//       value    u64 (two's complement of what the field holds), name
//       event    u8 level, u8 kind, u8 flags (1: session-bound, 2: texts are truncated to fit),
//                u8 attribute_count, u16 fixed_size, u16 field_count, u64 keywords, name,
//                text description, text when ("logged when ..."), attribute[attribute_count],
//                field[field_count]
//       field    u8 type, u8 format, u16 count (0: a sequence), u16 offset, u16 presence (offset of
//                a byte that is 0 when the field has no value; 0xffff: it always has one), u16
//                enumeration (its position in the schema; 0xffff: none), name, text unit, text
//                description
//       attribute  u8 kind (not 0), u16 size, bytes
//       source   the attribute of kind 1, at most once: u32 line (not 0), text file (not empty)
//       name     u8 length (1 to 63), then a letter or _, then letters, digits, _
//       text     u8 length (0 to 255), bytes
//
// `size` is the size of the whole schema. `hash` is FNV-1a of the whole schema with the hash itself
// taken as zero. An event's id is its position. Fields are in the order of declaration; `offset` is
// their position in the payload. The first field of a session-bound event is the session, an
// unsigned_64 at 0.
//
// An attribute is a property that no reader needs in order to decode events. A reader skips and
// counts attributes of a kind that it does not know, so a new kind needs no new version, and
// ignores bytes behind the known ones of an attribute. A property of a field is an attribute of its
// event that begins with the field's position. `source` names the line of a program that declares
// the provider or the event; the file has no directories.
//
// The payload has fixed_size bytes: the fields sorted by alignment (8, 4, 2, 1), so that there are
// no holes, then the presence bytes. The bytes of variable fields follow: of texts, byte strings
// and sequences. The `count` elements of an array are contiguous; a sequence has any number of
// elements, each a number or bool. There are no arrays or sequences of texts or byte strings. In
// the fixed part, a variable field is a u32, size << 16 | offset, with the offset counted from the
// end of that u32. The size is in bytes. That of a text includes its final NUL, that of a sequence
// is a multiple of its element's, and its elements need not be aligned. The whole u32 is 0 for a
// null pointer, an empty byte string and an empty sequence. The payload has the machine's byte
// order.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eventlog {
inline namespace v0 {

/// Type of a field, or of each element of an array, in the payload.
enum class field_type : std::uint8_t {
    boolean = 1,
    character = 2,
    signed_8 = 3,
    signed_16 = 4,
    signed_32 = 5,
    signed_64 = 6,
    unsigned_8 = 7,
    unsigned_16 = 8,
    unsigned_32 = 9,
    unsigned_64 = 10,
    float_32 = 11,
    float_64 = 12,
    text = 13,   // UTF-8, of any length
    bytes = 14,  // of any number
};

/// How to show a field. A new format needs a new version; older tools reject the schema.
enum class format : std::uint8_t {
    plain = 0,
    decimal = 1,
    hexadecimal = 2,
    ip_address = 3,    // 4 or 16 bytes, or an unsigned_32 in network byte order
    mac_address = 4,   // 6 bytes
    error_number = 5,  // errno
    duration = 6,      // nanoseconds
    realtime = 7,      // nanoseconds since 1970, UTC
    monotonic = 8,     // nanoseconds of CLOCK_MONOTONIC
    byte_size = 9,     // a number of bytes
    characters = 10,   // a text in an array of char, up to its first NUL
};

/// Role of an event in time. Most events are instants.
enum class kind : std::uint8_t {
    instant = 0,
    begin = 1,          // the thread begins an activity
    end = 2,            // the thread ends that activity
    gauge = 3,          // its numbers are new values of a quantity
    session_begin = 4,  // session-bound
    session_end = 5,
    state_complete = 6,  // the new listener has received the current state
};

/// Severity of an event. A listener selects all events up to a level, so the rare and most
/// important ones have the small numbers. The default is `info`.
enum class level : std::uint8_t {
    error = 1,    // a request could not be fulfilled
    warn = 2,     // work continues, but needs attention: a retry, a fallback, a limit that is near
    info = 3,     // what the program does: requests, connections, changes of state
    verbose = 4,  // how it does that: the steps of a request
    trace = 5,    // each detail, for readers of the code
};

/// Bytes that a field of this type takes in the fixed part; 0 for an unknown type.
constexpr std::size_t size_of(field_type type) noexcept {
    // Half a byte for each type, from the low end up: at most 15 types, of at most 15 bytes.
    // Compilers evaluate this twice for each field of each event; a switch takes much longer.
    constexpr std::uint64_t sizes = 0x448'4842'1842'1110;
    return type > field_type::bytes ? 0 : sizes >> 4U * static_cast<unsigned>(type) & 0xfU;
}

/// Whether a field is a u32 in the fixed part, with its bytes behind that part.
constexpr bool is_variable(field_type type, std::size_t count) noexcept {
    return count == 0 || type >= field_type::text;
}

/// Bytes that a field takes in the fixed part.
constexpr std::size_t fixed_size_of(field_type type, std::size_t count) noexcept {
    return count == 0 ? sizeof(std::uint32_t) : size_of(type) * count;
}

/// Whether a field may be a sequence of this type.
constexpr bool may_repeat(field_type type) noexcept {
    return type == field_type::boolean ||
           (type >= field_type::signed_8 && type <= field_type::float_64);
}

/// Whether values of this type are integers. Booleans and characters are not.
constexpr bool is_integer(field_type type) noexcept {
    return type >= field_type::signed_8 && type <= field_type::unsigned_64;
}

/// Whether values of this type are numbers, which can have a unit.
constexpr bool takes_unit(field_type type) noexcept {
    return type >= field_type::signed_8 && type <= field_type::float_64;
}

/// Whether the format suits a field of this type and count.
constexpr bool format_fits(format how, field_type type, std::size_t count) noexcept {
    const bool eight_bytes = is_integer(type) && size_of(type) == 8;
    switch (how) {
        case format::plain:
            return true;
        case format::decimal:
        case format::hexadecimal:
        case format::error_number:
        case format::byte_size:
            return is_integer(type);
        case format::ip_address:
            return (type == field_type::unsigned_32 && count == 1) ||
                   (type == field_type::unsigned_8 && (count == 4 || count == 16));
        case format::mac_address:
            return type == field_type::unsigned_8 && count == 6;
        case format::duration:
        case format::realtime:
        case format::monotonic:
            return eight_bytes;
        case format::characters:
            return type == field_type::character;
    }
    return false;
}

/// Constants and checks of the binary form.
namespace schema_format {

/// The first four bytes of every schema, and the version of the form described above.
inline constexpr std::uint32_t magic = 0x48435345;  // "ESCH"
inline constexpr std::uint16_t version = 3;
/// Bytes of a schema in front of the provider's name.
inline constexpr std::size_t header_size = 24;
/// Limits of a schema: total bytes, events, fields of an event, bytes of a name, keywords,
/// enumerations. A schema that exceeds one is rejected.
inline constexpr std::size_t size_max = 1U << 20U;
inline constexpr std::size_t events_max = 1024;
inline constexpr std::size_t fields_max = 100;
inline constexpr std::size_t name_length_max = 63;
inline constexpr std::size_t keywords_max = 64;
inline constexpr std::size_t enumerations_max = 1024;
/// In a field: no presence byte, or no enumeration.
inline constexpr std::uint16_t no_index = 0xffff;

/// Flags of an enumeration: the values are bits that combine.
inline constexpr std::uint8_t enumeration_combines = 1;
/// Flags of an event: it belongs to a session; its texts are truncated to fit.
inline constexpr std::uint8_t event_session_bound = 1;
inline constexpr std::uint8_t event_truncates = 2;

/// Kinds of attributes.
enum class attribute_kind : std::uint8_t {
    source = 1,  // the line of a source file that declares the provider or event
};

/// The largest numbers of a format and of a kind: a larger one is not valid in a schema.
inline constexpr auto format_last = static_cast<std::uint8_t>(format::characters);
inline constexpr auto kind_last = static_cast<std::uint8_t>(kind::state_complete);

/// FNV-1a, 64 bits, which compilers evaluate quickly: the initial value, and the factor of each
/// byte.
constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325ULL;
constexpr std::uint64_t fnv1a_factor = 0x100000001b3ULL;

/// Extends a hash by one byte.
constexpr std::uint64_t fnv1a(std::uint64_t hash, std::uint8_t byte) noexcept {
    return (hash ^ byte) * fnv1a_factor;
}

/// Whether a name is valid for every tool: letters, digits and _, at most 63, no digit first.
constexpr bool is_identifier(const char* name, std::size_t length) noexcept {
    if (length == 0 || length > name_length_max) {
        return false;
    }
    for (std::size_t i = 0; i < length; ++i) {
        const char c = name[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        const bool digit = c >= '0' && c <= '9';
        if (!letter && (!digit || i == 0)) {
            return false;
        }
    }
    return true;
}

}  // namespace schema_format
}  // namespace v0
}  // namespace eventlog
