// SPDX-License-Identifier: MIT
#include "kernel/user_events_description.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace eventlog::core {
namespace {

std::string_view name_of_type(field_type type) noexcept {
    static constexpr std::string_view names[] = {"",
                                                 "u8",
                                                 "char",
                                                 "s8",
                                                 "s16",
                                                 "s32",
                                                 "s64",
                                                 "u8",
                                                 "u16",
                                                 "u32",
                                                 "u64",
                                                 "f32",
                                                 "f64",
                                                 "__rel_loc char[]",
                                                 "__rel_loc u8[]"};
    static_assert(std::size(names) == static_cast<std::size_t>(field_type::bytes) + 1);
    return names[static_cast<std::size_t>(type)];
}

bool is_floating(field_type type) noexcept {
    return type == field_type::float_32 || type == field_type::float_64;
}

}  // namespace

bool user_events_description::put(std::string_view part) noexcept {
    if (text_.size() - size_ <= part.size()) {
        return false;  // no room for the text and its NUL
    }
    std::memcpy(text_.data() + size_, part.data(), part.size());
    size_ += part.size();
    text_[size_] = '\0';
    return true;
}

bool user_events_description::put_number(std::size_t number) noexcept {
    // Not std::to_chars: its table is a symbol that the whole process shares, which would prevent a
    // plugin that contains this library from being unloaded.
    std::array<char, 20> digits{};
    std::size_t first = digits.size();
    do {
        digits[--first] = static_cast<char>('0' + number % 10);
        number /= 10;
    } while (number != 0);
    return put({digits.data() + first, digits.size() - first});
}

/// Collects all fields and presence bytes. False if the schema has more than the limit.
bool user_events_description::collect(schema_reader& schema) noexcept {
    field_count_ = 0;
    field_description field;
    while (schema.next_field(field)) {
        if (fields_.size() - field_count_ < 2) {
            return false;
        }
        fields_[field_count_++] = {field.offset, field.count, field.type, false, field.name};
        if (field.presence != schema_format::no_index) {
            fields_[field_count_++] = {field.presence, 1, field_type::unsigned_8, true, field.name};
        }
    }
    // Insertion sort: at most 200 items, usually almost in order.
    for (std::size_t i = 1; i < field_count_; ++i) {
        const described_field moved = fields_[i];
        std::size_t at = i;
        for (; at > 0 && fields_[at - 1].offset > moved.offset; --at) {
            fields_[at] = fields_[at - 1];
        }
        fields_[at] = moved;
    }
    return true;
}

bool user_events_description::has_no_holes(std::size_t fixed_size) const noexcept {
    std::size_t end = 0;
    for (std::size_t i = 0; i < field_count_; ++i) {
        if (fields_[i].offset != end) {
            return false;
        }
        end += fixed_size_of(fields_[i].type, fields_[i].count);
    }
    return end == fixed_size;
}

/// Whether a field has the name has_NAME followed by that many underscores.
bool user_events_description::is_taken(std::string_view name, unsigned underscores) const noexcept {
    constexpr std::string_view prefix = "has_";
    for (std::size_t i = 0; i < field_count_; ++i) {
        const std::string_view other = fields_[i].name;
        if (!fields_[i].presence && other.size() == prefix.size() + name.size() + underscores &&
            other.starts_with(prefix) &&
            std::equal(name.begin(), name.end(), other.begin() + prefix.size()) &&
            std::all_of(other.end() - underscores, other.end(), [](char c) { return c == '_'; })) {
            return true;
        }
    }
    return false;
}

bool user_events_description::put_presence(std::string_view name) noexcept {
    unsigned underscores = 0;
    while (is_taken(name, underscores)) {
        ++underscores;
    }
    bool fits = put("u8 has_") && put(name);
    for (unsigned i = 0; fits && i < underscores; ++i) {
        fits = put("_");
    }
    return fits;
}

bool user_events_description::put_field(const described_field& described) noexcept {
    const std::string_view type = name_of_type(described.type);
    if (described.presence) {
        return put_presence(described.name);
    }
    if (described.count == 0) {
        return put("__rel_loc ") && put(type) && put("[] ") && put(described.name);
    }
    if (described.count == 1 && !is_floating(described.type)) {
        return put(type) && put(" ") && put(described.name);
    }
    if (described.type == field_type::character && described.count <= user_events_array_max) {
        return put("char[") && put_number(described.count) && put("] ") && put(described.name);
    }
    bool fits = put("struct ") && put(type);
    if (described.count != 1) {
        fits = fits && put("x") && put_number(described.count);
    }
    return fits && put(" ") && put(described.name) && put(" ") &&
           put_number(size_of(described.type) * described.count);
}

bool user_events_description::describe(schema_reader& schema, const event_description& event,
                                       error_text& error, std::string_view prefix) noexcept {
    size_ = 0;
    if (!collect(schema) || !has_no_holes(event.fixed_size)) {
        error.set("its fields overlap or leave room between them");
        return false;
    }
    bool fits = put(prefix) && put(schema.provider()) && put("_") && put(event.name);
    name_size_ = size_;
    for (std::size_t i = 0; fits && i < field_count_; ++i) {
        fits = put(i == 0 ? " " : "; ") && put_field(fields_[i]);
    }
    if (!fits) {
        error.set("its description would be longer than %zu bytes", text_.size() - 1);
    }
    return fits;
}

bool user_events_description::make_name_unique() noexcept {
    constexpr std::size_t added = 9;  // _ and eight hexadecimal digits
    if (text_.size() - size_ <= added) {
        return false;
    }
    std::uint64_t hash = schema_format::fnv1a_start;
    for (std::size_t i = 0; i < size_; ++i) {
        hash = schema_format::fnv1a(hash, static_cast<std::uint8_t>(text_[i]));
    }
    char* const end_of_name = text_.data() + name_size_;
    std::memmove(end_of_name + added, end_of_name, size_ - name_size_ + 1);
    *end_of_name = '_';
    for (std::size_t i = 1; i < added; ++i) {
        end_of_name[i] = "0123456789abcdef"[hash >> 60U];
        hash <<= 4U;
    }
    size_ += added;
    name_size_ += added;
    return true;
}

}  // namespace eventlog::core
