// SPDX-License-Identifier: MIT
//
// Locates the value of a name in the records of one event, and reads it without allocation and
// without trusting the payload.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "predicate/predicate.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// What a value can be compared with and converted to.
enum class value_class : std::uint8_t {
    boolean,
    character,
    integer,
    floating,
    text,     // also an array of char that is one
    address,  // IPv4, IPv6, MAC
    bytes,
    array,  // without an index
};

enum class field_source : std::uint8_t {
    payload,
    sequence,  // of the payload: an element of a sequence
    thread,    // of the record's header, as the next
    cpu,
    clock,  // the record's time
    fixed,  // the same for all records of the event: in fixed_bits or fixed_text
};

/// The part of a location that programs keep: small and free of pointers.
struct stored_location {
    field_source source = field_source::payload;
    value_class is = value_class::integer;
    eventlog::field_type type = eventlog::field_type::unsigned_64;
    bool is_signed = false;
    std::uint16_t presence = schema_format::no_index;
    std::uint32_t offset = 0;
    std::uint32_t size = 8;     // in the fixed part; that of an element of a sequence
    std::uint32_t element = 0;  // of a sequence: its distance from the first one, in bytes
};

/// Views point into the provider that was searched.
struct value_location {
    stored_location stored{};
    std::string_view name{};
    const field_schema* field = nullptr;              // nullptr: a built-in
    const enumeration_schema* enumeration = nullptr;  // names of its numbers, if any
    eventlog::format format = eventlog::format::plain;
    std::string_view unit{};
    std::uint64_t fixed_bits = 0;
    std::string_view fixed_text{};
};

/// Names that every event has; session only exists in events of a session.
[[nodiscard]] const std::vector<std::string_view>& built_in_names();
[[nodiscard]] bool is_built_in(std::string_view name);

/// The levels as an enumeration.
[[nodiscard]] const enumeration_schema& level_names();

/// nullopt: the event has no such name. Throws user_error for an index of a value without elements
/// or after the array's end.
[[nodiscard]] std::optional<value_location> find_location(const field_reference& name,
                                                          const provider_instance& provider,
                                                          const event_schema& event,
                                                          std::string_view source);

[[nodiscard]] constexpr bool is_in_payload(field_source source) noexcept {
    return source <= field_source::sequence;
}

/// The position of a sequence's element in the payload; 0: it has no such element, or is damaged.
[[nodiscard]] std::size_t element_position(const stored_location& place,
                                           const record_view& record) noexcept;

/// Whether the payload contains the value, and an optional field has one.
[[nodiscard]] inline bool is_there(const stored_location& place,
                                   const record_view& record) noexcept {
    if (!is_in_payload(place.source)) {
        return true;
    }
    if (place.source == field_source::sequence) {
        if (element_position(place, record) == 0) {
            return false;
        }
    } else if (std::size_t{place.offset} + place.size > record.payload.size()) {
        return false;
    }
    return place.presence == schema_format::no_index ||
           (place.presence < record.payload.size() && record.payload[place.presence] != 0);
}

/// Requires is_there().
template <class Number>
[[nodiscard]] Number load_number(const stored_location& place, const record_view& record) noexcept {
    const std::size_t position =
        place.source == field_source::sequence ? element_position(place, record) : place.offset;
    Number number{};
    std::memcpy(&number, record.payload.data() + position, sizeof number);
    return number;
}

/// The bits of an integer, bool or char, sign-extended. Requires is_there().
[[nodiscard]] inline std::uint64_t load_bits(const stored_location& place,
                                             const record_view& record,
                                             const clock_converter& clock) noexcept {
    using eventlog::field_type;
    switch (place.source) {
        case field_source::payload:
        case field_source::sequence:
            break;
        case field_source::thread:
            return record.thread;
        case field_source::cpu:
            return record.cpu;
        case field_source::clock:
            return static_cast<std::uint64_t>(clock.realtime(record.time));
        case field_source::fixed:
            return 0;  // not used: the value is in fixed_bits
    }
    const auto extended = [](std::int64_t number) { return static_cast<std::uint64_t>(number); };
    switch (place.type) {
        case field_type::boolean:
            return load_number<std::uint8_t>(place, record) != 0 ? 1 : 0;
        case field_type::character:
        case field_type::unsigned_8:
            return load_number<std::uint8_t>(place, record);
        case field_type::signed_8:
            return extended(load_number<std::int8_t>(place, record));
        case field_type::signed_16:
            return extended(load_number<std::int16_t>(place, record));
        case field_type::signed_32:
            return extended(load_number<std::int32_t>(place, record));
        case field_type::signed_64:
        case field_type::unsigned_64:
            return load_number<std::uint64_t>(place, record);
        case field_type::unsigned_16:
            return load_number<std::uint16_t>(place, record);
        case field_type::unsigned_32:
            return load_number<std::uint32_t>(place, record);
        default:
            return 0;
    }
}

/// The integer of a value's bits.
[[nodiscard]] constexpr wide_integer integer_of(std::uint64_t bits, bool is_signed) noexcept {
    return is_signed ? wide_integer{static_cast<std::int64_t>(bits)} : wide_integer{bits};
}

/// A number of any type as double. Requires is_there().
[[nodiscard]] inline double load_double(const stored_location& place, const record_view& record,
                                        const clock_converter& clock) noexcept {
    if (place.type == eventlog::field_type::float_32) {
        return static_cast<double>(load_number<float>(place, record));
    }
    if (place.type == eventlog::field_type::float_64) {
        return load_number<double>(place, record);
    }
    const std::uint64_t bits = load_bits(place, record, clock);
    return place.is_signed ? static_cast<double>(static_cast<std::int64_t>(bits))
                           : static_cast<double>(bits);
}

/// The bytes of an address, text or byte string. Requires is_there(). Returns false for a null text
/// or a damaged location.
[[nodiscard]] bool load_span(const stored_location& place, const record_view& record,
                             std::string_view& bytes) noexcept;

}  // namespace elog
