// SPDX-License-Identifier: MIT
//
// Where a record of one event keeps what a name stands for, and taking it from there: without
// allocation, and without believing the payload.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "predicate/predicate.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// What a value can be compared with, and computed to.
enum class value_class : std::uint8_t {
    boolean,
    character,
    integer,
    floating,
    text,     // also an array of char that is one
    address,  // IPv4, IPv6, MAC
    bytes,
    array,  // of which no element is named
};

enum class field_source : std::uint8_t {
    payload,
    thread,  // of the record's header, as the next
    cpu,
    clock,  // the record's time
    fixed,  // the same for all records of the event: in fixed_bits or fixed_text
};

/// What a program keeps of a place: small, and free of pointers.
struct stored_location {
    field_source source = field_source::payload;
    value_class is = value_class::integer;
    eventlog::field_type type = eventlog::field_type::unsigned_64;
    bool is_signed = false;
    std::uint16_t presence = eventlog::no_index;
    std::uint32_t offset = 0;
    std::uint32_t size = 8;  // in the fixed part
};

/// Views point into the provider that the place was found in.
struct value_location {
    stored_location stored{};
    std::string_view name{};
    const field_schema* field = nullptr;              // nullptr: a built-in
    const enumeration_schema* enumeration = nullptr;  // whose names its numbers have
    eventlog::format format = eventlog::format::plain;
    std::string_view unit{};
    std::uint64_t fixed_bits = 0;
    std::string_view fixed_text{};
};

/// Names that every event has, but session, which those of a session have.
[[nodiscard]] const std::vector<std::string_view>& built_in_names();

/// The levels, as an enumeration.
[[nodiscard]] const enumeration_schema& level_names();

/// nullopt: the event has nothing of that name. Throws failure for an index that cannot be; that of
/// a value which cannot have one, or is behind the array's end.
[[nodiscard]] std::optional<value_location> find_location(const field_reference& name,
                                                          const provider_instance& provider,
                                                          const event_schema& event,
                                                          std::string_view source);

/// Whether the payload is long enough for it, and an optional field has a value.
[[nodiscard]] inline bool is_there(const stored_location& place,
                                   const record_view& record) noexcept {
    if (place.source != field_source::payload) {
        return true;
    }
    if (std::size_t{place.offset} + place.size > record.payload.size()) {
        return false;
    }
    return place.presence == eventlog::no_index ||
           (place.presence < record.payload.size() && record.payload[place.presence] != 0);
}

template <class Number>
[[nodiscard]] Number load_number(const stored_location& place, const record_view& record) noexcept {
    Number number{};
    std::memcpy(&number, record.payload.data() + place.offset, sizeof number);
    return number;
}

/// Of an integer, bool or char that is there: its bits, sign-extended.
[[nodiscard]] inline std::uint64_t load_bits(const stored_location& place,
                                             const record_view& record,
                                             const clock_converter& clock) noexcept {
    using eventlog::field_type;
    switch (place.source) {
        case field_source::payload:
            break;
        case field_source::thread:
            return record.header.thread;
        case field_source::cpu:
            return record.header.cpu;
        case field_source::clock:
            return static_cast<std::uint64_t>(clock.realtime(record.header.time));
        case field_source::fixed:
            return 0;  // never asked for: it was known before
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

/// Of a number of any type that is there.
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

/// The bytes of an address, text or byte string that is there. False: it has no value (a null
/// pointer), or is damaged.
[[nodiscard]] bool load_span(const stored_location& place, const record_view& record,
                             std::string_view& bytes) noexcept;

}  // namespace elog
