// SPDX-License-Identifier: MIT
#include "schema/decode.hpp"

#include <algorithm>
#include <optional>

namespace elog {
namespace {

template <class Number>
Number read_number(std::span<const std::uint8_t> payload, std::size_t offset) noexcept {
    Number value{};
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
}

/// The bytes of a variable field, whose word is size << 16 | distance from the end of the word; no
/// bytes for the word 0. nullopt: damaged.
std::optional<byte_string> find_bytes(std::span<const std::uint8_t> payload,
                                      std::size_t offset) noexcept {
    if (offset + sizeof(std::uint32_t) > payload.size()) {
        return std::nullopt;
    }
    const auto word = read_number<std::uint32_t>(payload, offset);
    if (word == 0) {
        return byte_string{};
    }
    const std::size_t size = word >> 16U;
    const std::size_t begin = offset + sizeof word + (word & 0xffffU);
    if (begin > payload.size() || payload.size() - begin < size) {
        return std::nullopt;
    }
    return payload.subspan(begin, size);
}

field_value decode_variable(const field_schema& field,
                            std::span<const std::uint8_t> payload) noexcept {
    const std::optional<byte_string> bytes = find_bytes(payload, field.offset);
    if (!bytes) {
        return damaged_value{};
    }
    if (field.count == 0) {
        const std::size_t size = eventlog::size_of(field.type);
        return bytes->size() % size == 0 ? field_value(array_value{bytes->size() / size})
                                         : field_value(damaged_value{});
    }
    if (field.type == eventlog::field_type::bytes) {
        return *bytes;
    }
    if (bytes->data() == nullptr) {
        return null_text{};
    }
    if (bytes->empty() || bytes->back() != 0) {
        return damaged_value{};
    }
    // Aliasing: char may access the bytes of any object.
    return std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size() - 1);
}

/// The bytes that begin with the elements of a field.
std::span<const std::uint8_t> elements_from(const field_schema& field,
                                            std::span<const std::uint8_t> payload) noexcept {
    if (field.count == 0) {
        return find_bytes(payload, field.offset).value_or(byte_string{});
    }
    return payload.subspan(std::min<std::size_t>(field.offset, payload.size()));
}

}  // namespace

field_value decode_field(const field_schema& field,
                         std::span<const std::uint8_t> payload) noexcept {
    if (field.presence != schema_format::no_index) {
        if (field.presence >= payload.size()) {
            return damaged_value{};
        }
        if (payload[field.presence] == 0) {
            return absent_value{};
        }
    }
    if (eventlog::is_variable(field.type, field.count)) {
        return decode_variable(field, payload);
    }
    if (field.count == 1) {
        return decode_element(field, 0, payload);
    }
    if (field.offset + eventlog::size_of(field.type) * field.count > payload.size()) {
        return damaged_value{};
    }
    return array_value{field.count};
}

field_value decode_element(const field_schema& field, std::size_t index,
                           std::span<const std::uint8_t> payload) noexcept {
    using eventlog::field_type;
    if (field.type >= field_type::text) {
        return index == 0 ? decode_variable(field, payload) : damaged_value{};
    }
    const std::size_t size = eventlog::size_of(field.type);
    const std::span<const std::uint8_t> elements = elements_from(field, payload);
    const std::size_t count = field.count == 0 ? elements.size() / size : field.count;
    const std::size_t at = size * index;
    if (index >= count || at + size > elements.size()) {
        return damaged_value{};
    }
    switch (field.type) {
        case field_type::boolean:
            return read_number<std::uint8_t>(elements, at) != 0;
        case field_type::character:
            return read_number<char>(elements, at);
        case field_type::signed_8:
            return std::int64_t{read_number<std::int8_t>(elements, at)};
        case field_type::signed_16:
            return std::int64_t{read_number<std::int16_t>(elements, at)};
        case field_type::signed_32:
            return std::int64_t{read_number<std::int32_t>(elements, at)};
        case field_type::signed_64:
            return read_number<std::int64_t>(elements, at);
        case field_type::unsigned_8:
            return std::uint64_t{read_number<std::uint8_t>(elements, at)};
        case field_type::unsigned_16:
            return std::uint64_t{read_number<std::uint16_t>(elements, at)};
        case field_type::unsigned_32:
            return std::uint64_t{read_number<std::uint32_t>(elements, at)};
        case field_type::unsigned_64:
            return read_number<std::uint64_t>(elements, at);
        case field_type::float_32:
            return read_number<float>(elements, at);
        case field_type::float_64:
            return read_number<double>(elements, at);
        case field_type::text:
        case field_type::bytes:
            break;
    }
    return damaged_value{};
}

}  // namespace elog
