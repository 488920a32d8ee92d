// SPDX-License-Identifier: MIT
#include "schema/schema_values.hpp"

#include <array>
#include <utility>

namespace elog {
namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::array<std::pair<std::string_view, type_word>, 3> shorthands{{
    {"ip4", {field_type::unsigned_8, 4, format::ip_address}},
    {"ip6", {field_type::unsigned_8, 16, format::ip_address}},
    {"mac", {field_type::unsigned_8, 6, format::mac_address}},
}};

/// The value from `first` to `last` that has this name.
template <class Value>
std::optional<Value> find(std::string_view word, Value first, Value last) noexcept {
    for (auto i = static_cast<unsigned>(first); i <= static_cast<unsigned>(last); ++i) {
        if (name_of(static_cast<Value>(i)) == word) {
            return static_cast<Value>(i);
        }
    }
    return std::nullopt;
}

template <class Value>
std::string list(Value first, Value last) {
    std::string all;
    for (auto i = static_cast<unsigned>(first); i <= static_cast<unsigned>(last); ++i) {
        all += all.empty() ? "" : ", ";
        all += name_of(static_cast<Value>(i));
    }
    return all;
}

}  // namespace

std::optional<type_word> find_type(std::string_view word) noexcept {
    for (const auto& [name, meaning] : shorthands) {
        if (name == word) {
            return meaning;
        }
    }
    const auto found = find(word, field_type::boolean, field_type::bytes);
    return found ? std::optional(type_word{*found}) : std::nullopt;
}

std::optional<format> find_format(std::string_view word) noexcept {
    return find(word, format::plain, static_cast<format>(schema_format::format_last));
}

std::optional<eventlog::level> find_level(std::string_view word) noexcept {
    return find(word, eventlog::level::error, eventlog::level::trace);
}

std::optional<eventlog::kind> find_kind(std::string_view word) noexcept {
    return find(word, eventlog::kind::instant,
                static_cast<eventlog::kind>(schema_format::kind_last));
}

std::string list_types() {
    std::string all = list(field_type::boolean, field_type::bytes);
    for (const auto& [name, meaning] : shorthands) {
        all += ", ";
        all += name;
    }
    return all;
}

std::string list_formats() {
    return list(format::plain, static_cast<format>(schema_format::format_last));
}

bool is_signed(field_type type) noexcept {
    return type >= field_type::signed_8 && type <= field_type::signed_64;
}

bool fits(field_type type, bool negative, std::uint64_t magnitude) noexcept {
    const std::size_t bits = eventlog::size_of(type) * 8;
    if (is_signed(type)) {
        const std::uint64_t beyond = std::uint64_t{1} << (bits - 1);
        return negative ? magnitude <= beyond : magnitude < beyond;
    }
    return (!negative || magnitude == 0) && (bits == 64 || magnitude < std::uint64_t{1} << bits);
}

}  // namespace elog
