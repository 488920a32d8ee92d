// SPDX-License-Identifier: MIT
#include "predicate/value_location.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;
using eventlog::fixed_size_of;

value_class class_of(const field_schema& field) noexcept {
    const bool is_address = field.format == eventlog::format::ip_address ||
                            field.format == eventlog::format::mac_address;
    if (is_address) {
        return value_class::address;
    }
    if (field.type == field_type::character && field.format == eventlog::format::characters) {
        return value_class::text;
    }
    if (field.count != 1) {
        return value_class::array;
    }
    switch (field.type) {
        case field_type::boolean:
            return value_class::boolean;
        case field_type::character:
            return value_class::character;
        case field_type::float_32:
        case field_type::float_64:
            return value_class::floating;
        case field_type::text:
            return value_class::text;
        case field_type::bytes:
            return value_class::bytes;
        default:
            return value_class::integer;
    }
}

value_location location_of_field(const field_schema& field,
                                 const provider_schema& provider) noexcept {
    value_location place;
    place.name = field.name;
    place.field = &field;
    place.format = field.format;
    place.unit = field.unit;
    if (field.enumeration < provider.enumerations.size()) {
        place.enumeration = &provider.enumerations[field.enumeration];
    }
    place.stored.is = class_of(field);
    place.stored.type = field.type;
    place.stored.is_signed = is_signed(field.type);
    place.stored.presence = field.presence;
    place.stored.offset = field.offset;
    place.stored.size = static_cast<std::uint32_t>(fixed_size_of(field.type, field.count));
    return place;
}

/// One element of an array or sequence of numbers.
value_location element_of(const value_location& whole, const field_reference& name,
                          std::string_view source) {
    const bool is_array = whole.field != nullptr && whole.stored.is == value_class::array;
    if (!is_array) {
        reject_expression(
            source, name.column,
            fmt::format("'{}' is no array of numbers: remove the [{}].", name.name, name.index));
    }
    const bool is_sequence = whole.field->count == 0;
    if (!is_sequence && name.index >= whole.field->count) {
        reject_expression(source, name.column,
                          fmt::format("'{}' has {} elements: its last one is {}[{}].", name.name,
                                      whole.field->count, name.name, whole.field->count - 1));
    }
    value_location place = whole;
    field_schema single = *whole.field;
    single.count = 1;
    place.stored.is = class_of(single);
    place.stored.size = static_cast<std::uint32_t>(eventlog::size_of(single.type));
    const std::uint32_t distance = place.stored.size * name.index;
    if (is_sequence) {
        place.stored.source = field_source::sequence;
        place.stored.element = distance;
    } else {
        place.stored.offset += distance;
    }
    return place;
}

value_location built_in_number(std::string_view name, field_source source, std::uint64_t bits = 0) {
    value_location place;
    place.name = name;
    place.stored.source = source;
    place.fixed_bits = bits;
    return place;
}

value_location built_in_text(std::string_view name, std::string_view text) {
    value_location place;
    place.name = name;
    place.stored.source = field_source::fixed;
    place.stored.is = value_class::text;
    place.fixed_text = text;
    return place;
}

std::optional<value_location> find_built_in(std::string_view name,
                                            const provider_instance& provider,
                                            const event_schema& event) {
    if (name == "pid") {
        return built_in_number("pid", field_source::fixed, provider.pid);
    }
    if (name == "uid") {
        return built_in_number("uid", field_source::fixed, provider.uid);
    }
    if (name == "tid") {
        return built_in_number("tid", field_source::thread);
    }
    if (name == "cpu") {
        return built_in_number("cpu", field_source::cpu);
    }
    if (name == "time") {
        value_location place = built_in_number("time", field_source::clock);
        place.stored.is_signed = true;
        place.format = eventlog::format::realtime;
        return place;
    }
    if (name == "level") {
        value_location place = built_in_number("level", field_source::fixed,
                                               static_cast<std::uint64_t>(event.severity));
        place.enumeration = &level_names();
        return place;
    }
    if (name == "comm") {
        return built_in_text("comm", provider.process);
    }
    if (name == "provider") {
        return built_in_text("provider", provider.schema.name);
    }
    if (name == "event") {
        return built_in_text("event", event.name);
    }
    if (name == "session" && event.session_bound && !event.fields.empty()) {
        value_location place = location_of_field(event.fields.front(), provider.schema);
        place.name = "session";
        return place;
    }
    return std::nullopt;
}

}  // namespace

const std::vector<std::string_view>& built_in_names() {
    static const std::vector<std::string_view> names{
        "pid", "uid", "tid", "cpu", "comm", "level", "event", "provider", "session", "time"};
    return names;
}

bool is_built_in(std::string_view name) {
    const auto& names = built_in_names();
    return std::find(names.begin(), names.end(), name) != names.end();
}

const enumeration_schema& level_names() {
    static const enumeration_schema names = [] {
        enumeration_schema made;
        made.name = "level";
        for (const auto severity :
             {eventlog::level::error, eventlog::level::warn, eventlog::level::info,
              eventlog::level::verbose, eventlog::level::trace}) {
            made.values.emplace_back(static_cast<std::uint64_t>(severity), name_of(severity));
        }
        return made;
    }();
    return names;
}

std::optional<value_location> find_location(const field_reference& name,
                                            const provider_instance& provider,
                                            const event_schema& event, std::string_view source) {
    std::optional<value_location> place;
    if (!name.field_only && is_built_in(name.name)) {
        place = find_built_in(name.name, provider, event);
    } else {
        const auto found =
            std::find_if(event.fields.begin(), event.fields.end(),
                         [&](const field_schema& field) { return field.name == name.name; });
        if (found != event.fields.end()) {
            place = location_of_field(*found, provider.schema);
        }
    }
    return place && name.has_index ? element_of(*place, name, source) : place;
}

std::size_t element_position(const stored_location& place, const record_view& record) noexcept {
    const std::span<const std::uint8_t> payload = record.payload;
    std::uint32_t word = 0;
    if (place.offset + sizeof word > payload.size()) {
        return 0;
    }
    std::memcpy(&word, payload.data() + place.offset, sizeof word);
    const std::size_t size = word >> 16U;
    const std::size_t begin = place.offset + sizeof word + (word & 0xffffU);
    const bool is_sound =
        begin <= payload.size() && payload.size() - begin >= size && size % place.size == 0;
    return is_sound && std::size_t{place.element} + place.size <= size ? begin + place.element : 0;
}

bool load_span(const stored_location& place, const record_view& record,
               std::string_view& bytes) noexcept {
    // Any object's bytes may be read through char.
    const char* payload = reinterpret_cast<const char*>(record.payload.data());
    const bool travels_apart = place.type == field_type::text || place.type == field_type::bytes;
    if (!travels_apart) {
        bytes = {payload + place.offset, place.size};
        if (place.is == value_class::text) {
            bytes = {bytes.data(), std::min(bytes.find('\0'), bytes.size())};
        }
        return true;
    }
    const auto word = load_number<std::uint32_t>(place, record);
    const std::size_t size = word >> 16U;
    const std::size_t begin = place.offset + sizeof word + (word & 0xffffU);
    if (word == 0) {
        bytes = {};
        return place.type == field_type::bytes;
    }
    if (begin > record.payload.size() || record.payload.size() - begin < size) {
        return false;
    }
    if (place.type == field_type::bytes) {
        bytes = {payload + begin, size};
        return true;
    }
    if (size == 0 || payload[begin + size - 1] != '\0') {
        return false;
    }
    bytes = {payload + begin, size - 1};
    return true;
}

}  // namespace elog
