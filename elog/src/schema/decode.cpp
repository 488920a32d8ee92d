// SPDX-License-Identifier: MIT
#include "schema/decode.hpp"

namespace elog {
namespace {

template <class Number>
Number read_number(std::span<const std::uint8_t> payload, std::size_t offset) noexcept {
    Number value{};
    std::memcpy(&value, payload.data() + offset, sizeof value);
    return value;
}

/// The word of a text or byte string is size << 16 | distance from the end of the word; 0 is a null
/// text or an empty byte string.
field_value decode_variable(std::span<const std::uint8_t> payload, std::size_t offset,
                            bool is_text) noexcept {
    const auto word = read_number<std::uint32_t>(payload, offset);
    if (word == 0) {
        return is_text ? field_value(null_text{}) : field_value(byte_string{});
    }
    const std::size_t size = word >> 16U;
    const std::size_t begin = offset + sizeof word + (word & 0xffffU);
    if (begin > payload.size() || payload.size() - begin < size) {
        return damaged_value{};
    }
    const byte_string bytes = payload.subspan(begin, size);
    if (!is_text) {
        return bytes;
    }
    if (bytes.empty() || bytes.back() != 0) {
        return damaged_value{};
    }
    // Aliasing: char may access the bytes of any object.
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), size - 1);
}

}  // namespace

field_value decode_field(const field_schema& field,
                         std::span<const std::uint8_t> payload) noexcept {
    if (field.presence != eventlog::no_index) {
        if (field.presence >= payload.size()) {
            return damaged_value{};
        }
        if (payload[field.presence] == 0) {
            return absent_value{};
        }
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
    const std::size_t size = eventlog::size_of(field.type);
    const std::size_t at = field.offset + size * index;
    if (index >= field.count || at + size > payload.size()) {
        return damaged_value{};
    }
    switch (field.type) {
        case field_type::boolean:
            return read_number<std::uint8_t>(payload, at) != 0;
        case field_type::character:
            return read_number<char>(payload, at);
        case field_type::signed_8:
            return std::int64_t{read_number<std::int8_t>(payload, at)};
        case field_type::signed_16:
            return std::int64_t{read_number<std::int16_t>(payload, at)};
        case field_type::signed_32:
            return std::int64_t{read_number<std::int32_t>(payload, at)};
        case field_type::signed_64:
            return read_number<std::int64_t>(payload, at);
        case field_type::unsigned_8:
            return std::uint64_t{read_number<std::uint8_t>(payload, at)};
        case field_type::unsigned_16:
            return std::uint64_t{read_number<std::uint16_t>(payload, at)};
        case field_type::unsigned_32:
            return std::uint64_t{read_number<std::uint32_t>(payload, at)};
        case field_type::unsigned_64:
            return read_number<std::uint64_t>(payload, at);
        case field_type::float_32:
            return read_number<float>(payload, at);
        case field_type::float_64:
            return read_number<double>(payload, at);
        case field_type::text:
        case field_type::bytes:
            return decode_variable(payload, at, field.type == field_type::text);
    }
    return damaged_value{};
}

}  // namespace elog
