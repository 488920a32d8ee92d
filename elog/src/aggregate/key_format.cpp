// SPDX-License-Identifier: MIT
#include "aggregate/key_format.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "schema/value_text.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

template <class Value>
void append_raw(std::string& key, const Value& value) {
    std::array<char, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    key.append(bytes.data(), bytes.size());
}

void append_sized(std::string& key, std::string_view text) {
    append_raw(key, static_cast<std::uint32_t>(text.size()));
    key += text;
}

bool is_spelled(const value_location& place) noexcept {
    return place.stored.is == value_class::text || place.stored.is == value_class::address ||
           place.stored.is == value_class::bytes;
}

std::string json_of(std::string_view text) {
    fmt::memory_buffer out;
    append_json_text(out, text);
    return fmt::to_string(out);
}

key_text format_text_key(std::string_view text) {
    fmt::memory_buffer out;
    append_distinct(out, text);
    return {fmt::to_string(out), json_of(text)};
}

/// Of a text as append_distinct shows it.
bool needs_quotes(std::string_view shown) noexcept {
    return shown == "-" || shown.starts_with('"') || shown.starts_with(' ') || shown.ends_with(' ');
}

std::string quoted(std::string_view shown) {
    std::string text = "\"";
    for (const char each : shown) {
        text += each == '"' ? "\\" : "";
        text += each;
    }
    return text + '"';
}

/// The location's field, or the single array element that it refers to.
field_schema field_of(const value_location& place) {
    field_schema field = *place.field;
    const std::size_t size = eventlog::size_of(field.type);
    if (place.stored.size == size) {
        field.count = 1;
    }
    field.offset = static_cast<std::uint16_t>(place.stored.offset);
    return field;
}

/// Requires is_there().
void append_shown(fmt::memory_buffer& out, const value_location& place,
                  const provider_schema& provider, const record_view& record) {
    if (place.stored.source == field_source::sequence) {
        append_element(out, provider, *place.field, place.stored.element / place.stored.size,
                       record.payload);
    } else {
        append_field(out, provider, field_of(place), record.payload);
    }
}

std::string json_number(const value_location& place, const record_view& record,
                        const clock_converter& clock) {
    fmt::memory_buffer out;
    if (place.stored.is == value_class::boolean) {
        return load_bits(place.stored, record, clock) != 0 ? "true" : "false";
    }
    if (place.stored.is == value_class::floating) {
        const double number = load_double(place.stored, record, clock);
        if (!std::isfinite(number)) {
            // Null is a missing value.
            return fmt::format("\"{}\"", name_of_infinite(number));
        }
        append_json_number(out, number);
        return fmt::to_string(out);
    }
    const std::uint64_t bits = place.stored.source == field_source::fixed
                                   ? place.fixed_bits
                                   : load_bits(place.stored, record, clock);
    return place.stored.is_signed ? fmt::format("{}", static_cast<std::int64_t>(bits))
                                  : fmt::format("{}", bits);
}

std::string format_built_in(const value_location& place, const record_view& record,
                            const clock_converter& clock) {
    if (place.enumeration != nullptr) {
        for (const auto& [value, name] : place.enumeration->values) {
            if (value == place.fixed_bits) {
                return name;
            }
        }
    }
    if (place.format == eventlog::format::plain) {
        return json_number(place, record, clock);
    }
    fmt::memory_buffer out;
    append_number(out, integer_of(load_bits(place.stored, record, clock), place.stored.is_signed),
                  place.format, sizeof(std::uint64_t));
    return fmt::to_string(out);
}

}  // namespace

bool append_key(std::string& key, const value_location& place, const record_view& record,
                const clock_converter& clock) {
    if (place.stored.source == field_source::fixed) {
        key.push_back('f');
        append_raw(key, place.fixed_bits);
        append_sized(key, place.fixed_text);
        return true;
    }
    if (!is_there(place.stored, record)) {
        key.push_back('-');
        return true;
    }
    if (is_spelled(place)) {
        std::string_view bytes;
        if (!load_span(place.stored, record, bytes)) {
            key.push_back('-');
            // A null text is a missing value; any other failure is damage.
            return place.stored.type == eventlog::field_type::text &&
                   load_number<std::uint32_t>(place.stored, record) == 0;
        }
        key.push_back('t');
        append_sized(key, bytes);
        return true;
    }
    if (place.stored.is == value_class::floating) {
        key.push_back('d');
        const double number = load_double(place.stored, record, clock) + 0.0;  // -0 is 0
        append_raw(key, std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
        return true;
    }
    const std::uint64_t bits = load_bits(place.stored, record, clock);
    const bool negative = place.stored.is_signed && static_cast<std::int64_t>(bits) < 0;
    key.push_back(negative ? 'n' : 'p');
    append_raw(key, bits);
    return true;
}

key_text format_key(const value_location& place, const provider_schema& provider,
                    const record_view& record, const clock_converter& clock) {
    if (place.stored.source == field_source::fixed && place.stored.is == value_class::text) {
        return format_text_key(place.fixed_text);
    }
    std::string_view bytes;
    const bool spelled = is_spelled(place);
    if (!is_there(place.stored, record) || (spelled && !load_span(place.stored, record, bytes))) {
        return {"-", "null"};
    }
    if (place.stored.is == value_class::text) {
        return format_text_key(bytes);
    }
    if (place.field == nullptr) {
        const std::string shown = format_built_in(place, record, clock);
        return {shown,
                place.enumeration != nullptr ? json_of(shown) : json_number(place, record, clock)};
    }
    if (place.stored.is == value_class::floating &&
        std::isnan(load_double(place.stored, record, clock))) {
        return {"nan", json_number(place, record, clock)};  // whatever its sign and its other bits
    }
    fmt::memory_buffer out;
    append_shown(out, place, provider, record);
    const std::string shown = fmt::to_string(out);
    const bool named =
        spelled || place.enumeration != nullptr || place.stored.is == value_class::character;
    return {shown, named ? json_of(shown) : json_number(place, record, clock)};
}

key_text format_table_key(const value_location& place, const provider_schema& provider,
                          const record_view& record, const clock_converter& clock) {
    key_text key = format_key(place, provider, record, clock);
    const bool is_text = place.stored.is == value_class::text && key.json != "null";
    if (is_text && needs_quotes(key.shown)) {
        key.shown = quoted(key.shown);
    }
    return key;
}

std::string key_format_signature(const value_location& place) {
    const bool number = place.stored.is == value_class::integer;
    std::string look = fmt::format("{} {} {}", static_cast<int>(place.stored.is),
                                   static_cast<int>(place.format), place.unit);
    // Hexadecimal numbers are as wide as their type.
    if (number && place.format == eventlog::format::hexadecimal) {
        look += fmt::format(" {}", place.stored.size);
    }
    if (place.enumeration != nullptr) {
        look += place.enumeration->is_bitmask ? '|' : ';';
        for (const auto& [value, name] : place.enumeration->values) {
            look += fmt::format("{}={};", value, name);
        }
    }
    return look;
}

}  // namespace elog
