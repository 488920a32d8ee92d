// SPDX-License-Identifier: MIT
//
// Values of the fields of collected events.
#include <cstring>
#include <span>
#include <string_view>

#include <eventlog/collector.h>
#include <eventlog/schema_format.hpp>

#include "schema/schema.hpp"

namespace eventlog::core {
namespace {

using payload_bytes = std::span<const std::uint8_t>;

template <class Number>
Number number_at(payload_bytes payload, std::size_t offset) noexcept {
    Number value{};
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
}

/// The word of a variable field is size << 16 | distance from the end of the word; 0 is a null
/// text, or no bytes or elements.
bool read_bytes(payload_bytes payload, std::size_t offset, payload_bytes& found) noexcept {
    const auto word = number_at<std::uint32_t>(payload, offset);
    const std::size_t size = word >> 16U;
    const std::size_t begin = offset + sizeof word + (word & 0xffffU);
    found = {};
    if (word == 0) {
        return true;
    }
    if (begin > payload.size() || payload.size() - begin < size) {
        return false;
    }
    found = payload.subspan(begin, size);
    return true;
}

bool read_variable(const field_description& field, payload_bytes payload,
                   eventlog_value& value) noexcept {
    payload_bytes found;
    if (!read_bytes(payload, field.offset, found)) {
        return false;
    }
    if (field.count == 0) {
        const std::size_t size = eventlog::size_of(field.type);
        value = eventlog_array(static_cast<eventlog_type>(field.type), found.data(),
                               found.size() / size);
        return found.size() % size == 0;
    }
    if (field.type == field_type::bytes) {
        value = eventlog_bytes(found.data(), found.size());
        return true;
    }
    // The size of a text includes its NUL.
    value = eventlog_text_of(nullptr, 0);
    if (found.data() == nullptr) {
        return true;
    }
    value.as.data = found.data();
    value.count = found.size() - 1;
    return !found.empty() && found.back() == 0;
}

bool read_one(const field_description& field, payload_bytes payload,
              eventlog_value& value) noexcept {
    const std::size_t at = field.offset;
    const auto set_signed = [&](std::int64_t number) { value = eventlog_signed(number); };
    const auto set_unsigned = [&](std::uint64_t number) { value = eventlog_unsigned(number); };
    switch (field.type) {
        case field_type::boolean:
            value = eventlog_boolean(number_at<std::uint8_t>(payload, at) != 0);
            return true;
        case field_type::character:
            set_signed(number_at<char>(payload, at));
            return true;
        case field_type::signed_8:
            set_signed(number_at<std::int8_t>(payload, at));
            return true;
        case field_type::signed_16:
            set_signed(number_at<std::int16_t>(payload, at));
            return true;
        case field_type::signed_32:
            set_signed(number_at<std::int32_t>(payload, at));
            return true;
        case field_type::signed_64:
            set_signed(number_at<std::int64_t>(payload, at));
            return true;
        case field_type::unsigned_8:
            set_unsigned(number_at<std::uint8_t>(payload, at));
            return true;
        case field_type::unsigned_16:
            set_unsigned(number_at<std::uint16_t>(payload, at));
            return true;
        case field_type::unsigned_32:
            set_unsigned(number_at<std::uint32_t>(payload, at));
            return true;
        case field_type::unsigned_64:
            set_unsigned(number_at<std::uint64_t>(payload, at));
            return true;
        case field_type::float_32:
            value = eventlog_real(double{number_at<float>(payload, at)});
            return true;
        case field_type::float_64:
            value = eventlog_real(number_at<double>(payload, at));
            return true;
        case field_type::text:
        case field_type::bytes:
            break;
    }
    return false;
}

bool read_value(const field_description& field, payload_bytes payload,
                eventlog_value& value) noexcept {
    if (field.presence != schema_format::no_index) {
        if (field.presence >= payload.size()) {
            return false;
        }
        if (payload[field.presence] == 0) {
            value = eventlog_absent();
            return true;
        }
    }
    if (field.offset + eventlog::fixed_size_of(field.type, field.count) > payload.size()) {
        return false;
    }
    if (eventlog::is_variable(field.type, field.count)) {
        return read_variable(field, payload, value);
    }
    if (field.count == 1) {
        return read_one(field, payload, value);
    }
    value = eventlog_array(static_cast<eventlog_type>(field.type), payload.data() + field.offset,
                           field.count);
    return true;
}

/// False if the schema has no such field.
bool find_field(payload_bytes bytes, std::uint32_t event, std::string_view name,
                field_description& field) noexcept {
    schema_reader schema;
    error_text ignored;
    event_description found;
    if (!schema.open(bytes, ignored)) {
        return false;
    }
    do {
        if (!schema.next_event(found)) {
            return false;
        }
    } while (found.id != event);
    do {
        if (!schema.next_field(field)) {
            return false;
        }
    } while (field.name != name);
    return true;
}

}  // namespace
}  // namespace eventlog::core

bool eventlog_collected_value(const eventlog_collected* event, const void* payload,
                              const char* field, eventlog_value* value) {
    using namespace eventlog::core;
    if (event == nullptr || event->size < sizeof *event || event->schema == nullptr ||
        field == nullptr || value == nullptr || (payload == nullptr && event->payload_size != 0)) {
        return false;
    }
    field_description found;
    return find_field({static_cast<const std::uint8_t*>(event->schema), event->schema_size},
                      event->event, field, found) &&
           read_value(found, {static_cast<const std::uint8_t*>(payload), event->payload_size},
                      *value);
}
