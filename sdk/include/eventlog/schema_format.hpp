// SPDX-License-Identifier: MIT
//
// The binary form of a schema: what a provider says about its events.
//
// A schema travels with the events it describes: in the provider's file, in
// every subscription the provider attaches to, in every .elog file. Consumers
// decode from it alone. Little-endian on every machine, no padding:
//
//   schema  u32 magic, u16 version, u16 event_count, u32 size, u32 reserved (0),
//           u64 hash, name provider, event[event_count]
//   event   u8 level, u8 flags (0), u16 fixed_size, u16 field_count,
//           u64 keywords, name event, text description, field[field_count]
//   field   u8 type, u8 format (0), u16 count, u16 offset, name field
//   name    u8 length (1 to 63), then a letter or _, then letters, digits, _
//   text    u8 length (0 to 255), bytes
//
// `size` counts the whole schema. `hash` is FNV-1a of the whole schema with the
// hash itself taken as zero. An event's id is its position. Fields stand in the
// order in which they were declared; `offset` says where they are in the payload.
//
// The payload: fixed_size bytes, fields sorted by alignment (8, 4, 2, 1), so
// that there are no holes; then the bytes of the texts. A text field is a u32
// in the fixed part, size << 16 | offset, with the offset counted from the end
// of that u32 and the size including a final NUL; 0 stands for a null pointer.
// Byte order of the payload is the machine's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eventlog {

inline constexpr std::uint32_t schema_magic = 0x48435345;  // "ESCH"
inline constexpr std::uint16_t schema_version = 1;
inline constexpr std::size_t schema_header_size = 24;
inline constexpr std::size_t schema_size_max = 1U << 20U;
inline constexpr std::size_t events_max = 1024;
inline constexpr std::size_t fields_max = 100;
inline constexpr std::size_t name_length_max = 63;

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
    text = 13,
};

enum class level : std::uint8_t { error = 1, warn = 2, info = 3, verbose = 4, trace = 5 };

/// Bytes that a field of this type takes in the fixed part; 0 for an unknown type.
constexpr std::size_t size_of(field_type type) noexcept {
    switch (type) {
        case field_type::boolean:
        case field_type::character:
        case field_type::signed_8:
        case field_type::unsigned_8:
            return 1;
        case field_type::signed_16:
        case field_type::unsigned_16:
            return 2;
        case field_type::signed_32:
        case field_type::unsigned_32:
        case field_type::float_32:
        case field_type::text:
            return 4;
        case field_type::signed_64:
        case field_type::unsigned_64:
        case field_type::float_64:
            return 8;
    }
    return 0;
}

/// FNV-1a, 64 bits: simple enough to be computed by the compiler.
constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325ULL;

constexpr std::uint64_t fnv1a(std::uint64_t hash, std::uint8_t byte) noexcept {
    return (hash ^ byte) * 0x100000001b3ULL;
}

/// Whether a name can be shown, typed and handed to every tool: letters, digits and _, at most 63,
/// no digit first.
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

}  // namespace eventlog
