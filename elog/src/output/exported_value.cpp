// SPDX-License-Identifier: MIT
#include "output/exported_value.hpp"

#include <cmath>
#include <cstddef>
#include <variant>

#include "schema/value_text.hpp"
#include "text/append_format.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

exported_value view_of(exported_kind kind, const fmt::memory_buffer& scratch) noexcept {
    return {kind, {scratch.data(), scratch.size()}};
}

/// Converts values for which the schema has no format.
struct plain_value_view {
    fmt::memory_buffer& scratch;

    exported_value operator()(bool value) const {
        return {exported_kind::literal, value ? "true" : "false"};
    }
    exported_value operator()(char value) const {
        scratch.push_back(value);
        return view_of(exported_kind::text, scratch);
    }
    exported_value operator()(std::int64_t value) const { return number(value); }
    exported_value operator()(std::uint64_t value) const { return number(value); }
    exported_value operator()(float value) const { return floating(value); }
    exported_value operator()(double value) const { return floating(value); }
    exported_value operator()(std::string_view value) const { return {exported_kind::text, value}; }
    exported_value operator()(null_text /*value*/) const { return {}; }
    exported_value operator()(absent_value /*value*/) const { return {}; }
    exported_value operator()(damaged_value /*value*/) const { return {exported_kind::damaged}; }
    exported_value operator()(array_value /*value*/) const { return {exported_kind::damaged}; }
    exported_value operator()(byte_string bytes) const {
        for (const std::uint8_t byte : bytes) {
            append_format(scratch, "{:02x}", byte);
        }
        return view_of(exported_kind::text, scratch);
    }

  private:
    template <class Number>
    [[nodiscard]] exported_value number(Number value) const {
        const fmt::format_int text(value);
        append(scratch, {text.data(), text.size()});
        return view_of(exported_kind::literal, scratch);
    }
    template <class Number>
    [[nodiscard]] exported_value floating(Number value) const {
        if (!std::isfinite(value)) {
            return {exported_kind::text, name_of_infinite(value)};
        }
        append_format(scratch, "{}", value);
        return view_of(exported_kind::literal, scratch);
    }
};

exported_value number_with_name(fmt::memory_buffer& scratch, const enumeration_schema& enumeration,
                                const field_value& value) {
    const bool has_name = append_enumeration(scratch, enumeration, value);
    return view_of(has_name ? exported_kind::text : exported_kind::literal, scratch);
}

/// A value, or an element of an array.
exported_value export_single(fmt::memory_buffer& scratch, const provider_schema& provider,
                             const field_schema& field, const field_value& value) {
    scratch.clear();
    const bool is_number =
        std::holds_alternative<std::int64_t>(value) || std::holds_alternative<std::uint64_t>(value);
    if (is_number && field.enumeration < provider.enumerations.size()) {
        return number_with_name(scratch, provider.enumerations[field.enumeration], value);
    }
    // Pointers and masks: many JSON readers do not keep that many digits of a number.
    if (is_number && field.format == eventlog::format::hexadecimal) {
        append_hexadecimal(scratch, bits_of(value), eventlog::size_of(field.type));
        return view_of(exported_kind::text, scratch);
    }
    if (is_number && field.format == eventlog::format::realtime) {
        append_time_point(scratch, wide_of(value));
        return view_of(exported_kind::text, scratch);
    }
    return std::visit(plain_value_view{scratch}, value);
}

/// A value that is no array, or an array that is shown as a whole.
exported_value export_whole(fmt::memory_buffer& scratch, const provider_schema& provider,
                            const field_schema& field, const field_value& value,
                            std::span<const std::uint8_t> payload) {
    if (std::holds_alternative<damaged_value>(value) ||
        std::holds_alternative<absent_value>(value)) {
        return std::visit(plain_value_view{scratch}, value);
    }
    scratch.clear();
    if (append_address(scratch, field, payload)) {
        return view_of(exported_kind::text, scratch);
    }
    if (field.format == eventlog::format::characters) {
        return {exported_kind::text, characters_of(field, payload)};
    }
    return export_single(scratch, provider, field, value);
}

bool is_list(const field_schema& field, const field_value& value) noexcept {
    using eventlog::format;
    return std::holds_alternative<array_value>(value) && field.format != format::ip_address &&
           field.format != format::mac_address && field.format != format::characters;
}

/// Returns false if the value is damaged.
bool append_exported_json(fmt::memory_buffer& out, const exported_value& value) {
    switch (value.kind) {
        case exported_kind::literal:
            append(out, value.text);
            return true;
        case exported_kind::text:
            append_json_text(out, value.text);
            return true;
        case exported_kind::nothing:
        case exported_kind::damaged:
            break;
    }
    append(out, "null");
    return value.kind != exported_kind::damaged;
}

}  // namespace

bool append_json_field(fmt::memory_buffer& out, fmt::memory_buffer& room,
                       const provider_schema& provider, const field_schema& field,
                       std::span<const std::uint8_t> payload) {
    const field_value value = decode_field(field, payload);
    if (!is_list(field, value)) {
        return append_exported_json(out, export_whole(room, provider, field, value, payload));
    }
    bool is_sound = true;
    out.push_back('[');
    for (std::size_t i = 0; i < std::get<array_value>(value).count; ++i) {
        if (i != 0) {
            out.push_back(',');
        }
        const field_value element = decode_element(field, i, payload);
        is_sound =
            append_exported_json(out, export_single(room, provider, field, element)) && is_sound;
    }
    out.push_back(']');
    return is_sound;
}

exported_value export_field(fmt::memory_buffer& scratch, const provider_schema& provider,
                            const field_schema& field, std::span<const std::uint8_t> payload) {
    const field_value value = decode_field(field, payload);
    if (!is_list(field, value)) {
        return export_whole(scratch, provider, field, value, payload);
    }
    fmt::memory_buffer element;
    scratch.clear();
    if (!append_json_field(scratch, element, provider, field, payload)) {
        return {exported_kind::damaged};
    }
    return view_of(exported_kind::text, scratch);
}

}  // namespace elog
