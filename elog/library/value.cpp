// SPDX-License-Identifier: MIT
//
// Implements elog/value.hpp: values of a field, decoded from a payload.
#include <elog/value.hpp>

#include "event_info.hpp"
#include "schema/decode.hpp"
#include "schema/value_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;

/// The value, if it has one of these types.
template <class Type, class... Others>
any_value pick(const field_value& from) noexcept {
    if (const Type* found = std::get_if<Type>(&from)) {
        return any_value(*found);
    }
    if constexpr (sizeof...(Others) != 0) {
        return pick<Others...>(from);
    } else {
        return std::monostate{};
    }
}

field_value load(const library::field_info& field, std::span<const std::uint8_t> payload,
                 std::optional<std::uint32_t> element) noexcept {
    const field_value found = decode_field(*field.schema, payload);
    if (!element || std::holds_alternative<absent_value>(found)) {
        return found;
    }
    if (std::holds_alternative<array_value>(found)) {
        return decode_element(*field.schema, *element, payload);
    }
    return *element == 0 ? found : field_value(damaged_value{});
}

/// The value of an array as a whole, if there is a type for it.
any_value load_array(const field_schema& field, std::span<const std::uint8_t> payload) noexcept {
    if (field.type == field_type::character && field.format == eventlog::format::characters) {
        return characters_of(field, payload);
    }
    if (field.type == field_type::unsigned_8 && field.count != 0) {
        return std::as_bytes(payload.subspan(field.offset, field.count));
    }
    return std::monostate{};
}

}  // namespace

value_state value::state() const noexcept {
    if (field_ == nullptr) {
        return value_state::no_field;
    }
    const field_value found = load(*field_, payload_, chosen());
    if (std::holds_alternative<absent_value>(found)) {
        return value_state::absent;
    }
    if (std::holds_alternative<null_text>(found)) {
        return value_state::null;
    }
    return std::holds_alternative<damaged_value>(found) ? value_state::damaged
                                                        : value_state::present;
}

any_value value::get() const noexcept {
    if (field_ == nullptr) {
        return std::monostate{};
    }
    const field_value found = load(*field_, payload_, chosen());
    if (std::holds_alternative<array_value>(found)) {
        return load_array(*field_->schema, payload_);
    }
    if (const auto* number = std::get_if<float>(&found)) {
        return double{*number};
    }
    if (const auto* bytes = std::get_if<byte_string>(&found)) {
        return std::as_bytes(*bytes);
    }
    return pick<bool, char, std::int64_t, std::uint64_t, double, std::string_view>(found);
}

std::size_t value::size() const noexcept {
    if (field_ == nullptr) {
        return 0;
    }
    if (element_ != whole || field_->schema->count != 0) {
        return element_ == whole ? field_->schema->count : 1;
    }
    const field_value found = decode_field(*field_->schema, payload_);
    const auto* sequence = std::get_if<array_value>(&found);
    return sequence == nullptr ? 0 : sequence->count;
}

value value::operator[](std::size_t element) const noexcept {
    if (element_ != whole) {
        // Like any single value, an element is its own first element.
        return element == 0 ? *this : value(field_, payload_, whole - 1);
    }
    const bool is_there = element < size();
    return {field_, payload_, is_there ? static_cast<std::uint32_t>(element) : whole - 1};
}

std::string_view value::name() const noexcept {
    if (field_ == nullptr || field_->schema->enumeration >= field_->provider->enumerations.size()) {
        return {};
    }
    const field_value found = load(*field_, payload_, chosen());
    const bool is_integer =
        std::holds_alternative<std::int64_t>(found) || std::holds_alternative<std::uint64_t>(found);
    if (is_integer) {
        const auto& names = field_->provider->enumerations[field_->schema->enumeration].values;
        for (const auto& [number, name] : names) {
            if (number == bits_of(found)) {
                return name;
            }
        }
    }
    return {};
}

std::string value::text() const {
    if (field_ == nullptr) {
        return {};
    }
    fmt::memory_buffer out;
    if (element_ == whole) {
        append_field(out, *field_->provider, *field_->schema, payload_);
    } else {
        append_element(out, *field_->provider, *field_->schema, element_, payload_);
    }
    return {out.data(), out.size()};
}

}  // namespace elog
