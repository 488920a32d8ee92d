// SPDX-License-Identifier: MIT
#include "schema/value_text.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <iterator>
#include <utility>

#include "text/append_format.hpp"
#include "text/utc_text.hpp"

namespace elog {
namespace {

// Bytes of a byte string that are shown; further ones are counted.
constexpr std::size_t shown_bytes_max = 64;

struct value_appender {
    fmt::memory_buffer& out;

    void operator()(bool value) const { append(out, value ? "true" : "false"); }
    void operator()(char value) const {
        out.push_back('\'');
        if (static_cast<unsigned char>(value) >= 0x20 && static_cast<unsigned char>(value) < 0x7f) {
            // The form that a predicate accepts.
            if (value == '\'' || value == '\\') {
                out.push_back('\\');
            }
            out.push_back(value);
        } else {
            append_escaped(out, static_cast<unsigned char>(value));
        }
        out.push_back('\'');
    }
    void operator()(std::integral auto value) const {
        const fmt::format_int text(value);
        append(out, {text.data(), text.size()});
    }
    void operator()(std::floating_point auto value) const { append_format(out, "{}", value); }
    void operator()(std::string_view value) const { append_quoted(out, value); }
    void operator()(null_text /*value*/) const { append(out, "(null)"); }
    void operator()(damaged_value /*value*/) const { append(out, "<damaged>"); }
    void operator()(absent_value /*value*/) const { out.push_back('-'); }
    void operator()(array_value value) const { append_format(out, "[{} elements]", value.count); }
    void operator()(byte_string bytes) const {
        out.push_back('<');
        for (const std::uint8_t byte : bytes.first(std::min(bytes.size(), shown_bytes_max))) {
            append_format(out, "{:02x}", byte);
        }
        if (bytes.size() > shown_bytes_max) {
            append_format(out, "...{} bytes", bytes.size());
        }
        out.push_back('>');
    }
};

bool is_number_value(const field_value& value) noexcept {
    return std::holds_alternative<std::int64_t>(value) ||
           std::holds_alternative<std::uint64_t>(value);
}

/// Appends the name of an error number, which kernels return negated.
void append_error_name(fmt::memory_buffer& out, std::int64_t number) {
    const bool in_range = number > -4096 && number < 4096 && number != 0;
    const char* name =
        in_range ? ::strerrorname_np(static_cast<int>(number < 0 ? -number : number)) : nullptr;
    if (name != nullptr) {
        append_format(out, "({})", name);
    }
}

/// Appends number / unit with all digits behind the point, but for zeros at the end.
void append_quotient(fmt::memory_buffer& out, wide_integer number, std::int64_t unit) {
    const auto size = static_cast<wide_unsigned>(number < 0 ? -number : number);
    const auto divisor = static_cast<wide_unsigned>(unit);
    append_format(out, "{}{}", number < 0 ? "-" : "", size / divisor);
    auto rest = static_cast<std::int64_t>(size % divisor);
    if (rest != 0) {
        out.push_back('.');
    }
    for (std::int64_t weight = unit / 10; rest != 0; weight /= 10) {
        out.push_back(static_cast<char>('0' + rest / weight));
        rest %= weight;
    }
}

/// Appends nanoseconds in the largest unit in which the number is at least 1.
void append_duration(fmt::memory_buffer& out, wide_integer nanoseconds) {
    constexpr std::pair<std::int64_t, const char*> units[] = {
        {1'000'000'000, "s"}, {1'000'000, "ms"}, {1000, "us"}, {1, "ns"}};
    const auto* found = std::find_if(std::begin(units), std::end(units) - 1, [&](const auto& unit) {
        return nanoseconds >= unit.first || nanoseconds <= -unit.first;
    });
    append_quotient(out, nanoseconds, found->first);
    append(out, found->second);
}

/// Appends seconds with nine digits behind the point.
void append_monotonic(fmt::memory_buffer& out, wide_integer nanoseconds) {
    const auto size = static_cast<wide_unsigned>(nanoseconds < 0 ? -nanoseconds : nanoseconds);
    append_format(out, "{}{}.{:09}s", nanoseconds < 0 ? "-" : "", size / 1'000'000'000,
                  static_cast<std::uint64_t>(size % 1'000'000'000));
}

void append_byte_size(fmt::memory_buffer& out, wide_integer size) {
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t found = units.size();
    for (std::size_t i = 0; i < units.size(); ++i) {
        if (size >= wide_integer{1} << 10 * (i + 1)) {
            found = i;
        }
    }
    if (found == units.size()) {
        append_format(out, "{}B", size);
        return;
    }
    append_format(out, "{:.4g}{}",
                  std::ldexp(static_cast<double>(size), -10 * (static_cast<int>(found) + 1)),
                  units[found]);
}

void append_single(fmt::memory_buffer& out, const provider_schema& provider,
                   const field_schema& field, const field_value& value) {
    if (!is_number_value(value)) {
        append_value(out, value);
        return;
    }
    if (field.enumeration < provider.enumerations.size()) {
        append_enumeration(out, provider.enumerations[field.enumeration], value);
        return;
    }
    switch (field.format) {
        case eventlog::format::hexadecimal:
        case eventlog::format::duration:
        case eventlog::format::realtime:
        case eventlog::format::monotonic:
        case eventlog::format::byte_size:
            append_number(out, wide_of(value), field.format, eventlog::size_of(field.type));
            break;
        case eventlog::format::error_number:
            append_value(out, value);
            append_error_name(out, static_cast<std::int64_t>(bits_of(value)));
            break;
        default:
            append_value(out, value);
            break;
    }
}

/// Appends names joined by |, and bits without a name as a number.
void append_combination(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                        std::uint64_t bits) {
    std::uint64_t left = bits;
    const char* between = "";
    for (const auto& [value, name] : enumeration.values) {
        if (value != 0 && (left & value) == value) {
            append(out, between);
            append(out, name);
            between = "|";
            left &= ~value;
        }
    }
    if (left != 0 || bits == 0) {
        append(out, between);
        append_hexadecimal(out, left, 8);
    }
}

/// Appends 4 or 16 bytes in network byte order.
void append_ip_address(fmt::memory_buffer& out, std::span<const std::uint8_t> bytes) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
    if (::inet_ntop(family, bytes.data(), text.data(), text.size()) != nullptr) {
        append(out, text.data());
    }
}

}  // namespace

wide_integer wide_of(const field_value& value) noexcept {
    const auto* natural = std::get_if<std::uint64_t>(&value);
    return natural != nullptr ? wide_integer{*natural}
                              : wide_integer{static_cast<std::int64_t>(bits_of(value))};
}

std::uint64_t bits_of(const field_value& value) noexcept {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return static_cast<std::uint64_t>(*number);
    }
    const auto* number = std::get_if<std::uint64_t>(&value);
    return number == nullptr ? 0 : *number;
}

void append_value(fmt::memory_buffer& out, const field_value& value) {
    std::visit(value_appender{out}, value);
}

void append_hexadecimal(fmt::memory_buffer& out, std::uint64_t bits, std::size_t size) {
    const std::uint64_t mask = size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * size) - 1;
    append_format(out, "0x{:x}", bits & mask);
}

void append_time_point(fmt::memory_buffer& out, wide_integer nanoseconds) {
    if (nanoseconds >= INT64_MIN && nanoseconds <= INT64_MAX) {
        append_realtime(out, static_cast<std::int64_t>(nanoseconds));
    } else {
        append_format(out, "{}ns", nanoseconds);
    }
}

void append_number(fmt::memory_buffer& out, wide_integer number, eventlog::format format,
                   std::size_t size) {
    switch (format) {
        case eventlog::format::hexadecimal:
            if (number >= INT64_MIN && number <= wide_integer{UINT64_MAX}) {
                append_hexadecimal(out, static_cast<std::uint64_t>(number), size);
            } else {
                append_format(out, "{}", number);
            }
            break;
        case eventlog::format::duration:
            append_duration(out, number);
            break;
        case eventlog::format::realtime:
            append_time_point(out, number);
            break;
        case eventlog::format::monotonic:
            append_monotonic(out, number);
            break;
        case eventlog::format::byte_size:
            append_byte_size(out, number);
            break;
        case eventlog::format::error_number:
            append_format(out, "{}", number);
            append_error_name(out, static_cast<std::int64_t>(
                                       std::clamp<wide_integer>(number, INT64_MIN, INT64_MAX)));
            break;
        default:
            append_format(out, "{}", number);
            break;
    }
}

bool append_enumeration(fmt::memory_buffer& out, const enumeration_schema& enumeration,
                        const field_value& value) {
    const std::uint64_t bits = bits_of(value);
    const auto found = std::find_if(enumeration.values.begin(), enumeration.values.end(),
                                    [&](const auto& item) { return item.first == bits; });
    if (found != enumeration.values.end()) {
        append(out, found->second);
        return true;
    }
    if (enumeration.is_bitmask) {
        append_combination(out, enumeration, bits);
        return true;
    }
    append_value(out, value);
    return false;
}

bool append_address(fmt::memory_buffer& out, const field_schema& field,
                    std::span<const std::uint8_t> payload) {
    const auto bytes = payload.subspan(field.offset, eventlog::size_of(field.type) * field.count);
    if (field.format == eventlog::format::ip_address) {
        append_ip_address(out, bytes);
        return true;
    }
    if (field.format == eventlog::format::mac_address) {
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            append_format(out, "{}{:02x}", i == 0 ? "" : ":", bytes[i]);
        }
        return true;
    }
    return false;
}

std::string_view characters_of(const field_schema& field, std::span<const std::uint8_t> payload) {
    // Aliasing: char may access the bytes of any object.
    const std::string_view text(reinterpret_cast<const char*>(payload.data() + field.offset),
                                field.count);
    return text.substr(0, text.find('\0'));
}

void append_field(fmt::memory_buffer& out, const provider_schema& provider,
                  const field_schema& field, std::span<const std::uint8_t> payload) {
    const field_value value = decode_field(field, payload);
    if (std::holds_alternative<damaged_value>(value) ||
        std::holds_alternative<absent_value>(value)) {
        append_value(out, value);
        return;
    }
    if (append_address(out, field, payload)) {
        return;
    }
    if (field.format == eventlog::format::characters) {
        append_quoted(out, characters_of(field, payload));
        return;
    }
    if (const auto* array = std::get_if<array_value>(&value)) {
        out.push_back('[');
        for (std::size_t i = 0; i < array->count; ++i) {
            append(out, i == 0 ? "" : ",");
            append_single(out, provider, field, decode_element(field, i, payload));
        }
        out.push_back(']');
    } else {
        append_single(out, provider, field, value);
    }
    append_visible(out, field.unit);
}

void append_element(fmt::memory_buffer& out, const provider_schema& provider,
                    const field_schema& field, std::size_t element,
                    std::span<const std::uint8_t> payload) {
    const field_value whole = decode_field(field, payload);
    if (!std::holds_alternative<array_value>(whole)) {
        if (element == 0 || std::holds_alternative<absent_value>(whole)) {
            append_field(out, provider, field, payload);
        } else {
            append_value(out, damaged_value{});
        }
        return;
    }
    const field_value value = decode_element(field, element, payload);
    append_single(out, provider, field, value);
    if (!std::holds_alternative<damaged_value>(value)) {
        append_visible(out, field.unit);
    }
}

}  // namespace elog
