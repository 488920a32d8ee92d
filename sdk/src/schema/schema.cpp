// SPDX-License-Identifier: MIT
#include "schema/schema.hpp"

namespace eventlog::core {
namespace {

constexpr std::size_t hash_offset = 16;

std::uint64_t compute_hash(std::span<const std::uint8_t> bytes) noexcept {
    std::uint64_t hash = schema_format::fnv1a_start;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool is_hash = i >= hash_offset && i < hash_offset + 8;
        hash = schema_format::fnv1a(hash, is_hash ? std::uint8_t{0} : bytes[i]);
    }
    return hash;
}

bool fits(const field_description& field, const event_description& event) noexcept {
    const bool may_have_count = field.count == 0
                                    ? may_repeat(field.type)
                                    : field.count == 1 || field.type < field_type::text;
    return may_have_count &&
           field.offset + fixed_size_of(field.type, field.count) <= event.fixed_size &&
           (field.presence == schema_format::no_index || field.presence < event.fixed_size) &&
           (field.enumeration == schema_format::no_index || is_integer(field.type));
}

bool is_session(const field_description& field) noexcept {
    return field.type == field_type::unsigned_64 && field.offset == 0 && field.count == 1 &&
           field.presence == schema_format::no_index;
}

}  // namespace

template <class Number>
bool schema_reader::number(cursor& at, Number& value) const noexcept {
    if (bytes_.size() - at.position < sizeof value) {
        return false;
    }
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
        found |= std::uint64_t{bytes_[at.position + i]} << (8 * i);
    }
    at.position += sizeof value;
    value = static_cast<Number>(found);
    return true;
}

bool schema_reader::text(cursor& at, std::string_view& value) const noexcept {
    std::uint8_t length = 0;
    if (!number(at, length) || bytes_.size() - at.position < length) {
        return false;
    }
    // char may alias any object.
    value = {reinterpret_cast<const char*>(bytes_.data() + at.position), length};
    at.position += length;
    return true;
}

bool schema_reader::name(cursor& at, std::string_view& value) const noexcept {
    return text(at, value) && schema_format::is_identifier(value.data(), value.size());
}

/// The content of an attribute of `size` bytes. A later version may have more behind it.
bool schema_reader::parse_source(cursor at, std::size_t size,
                                 source_description& source) const noexcept {
    const std::size_t end = at.position + size;
    return number(at, source.line) && source.line != 0 && text(at, source.file) &&
           !source.file.empty() && at.position <= end;
}

/// Sets `source`, which is empty before, and counts attributes of unknown kinds.
bool schema_reader::parse_attributes(cursor& at, unsigned count, source_description& source,
                                     unsigned& unknown) const noexcept {
    for (unsigned i = 0; i < count; ++i) {
        std::uint8_t kind = 0;
        std::uint16_t size = 0;
        if (!number(at, kind) || !number(at, size) || kind == 0 ||
            bytes_.size() - at.position < size) {
            return false;
        }
        if (kind != static_cast<std::uint8_t>(schema_format::attribute_kind::source)) {
            ++unknown;
        } else if (source.line != 0 || !parse_source(at, size, source)) {
            return false;
        }
        at.position += size;
    }
    return true;
}

bool schema_reader::parse_header(cursor& at) noexcept {
    std::uint32_t magic = 0;
    std::uint16_t version = 0;
    std::uint32_t size = 0;
    std::uint8_t keywords = 0;
    std::uint8_t attributes = 0;
    if (!number(at, magic) || !number(at, version) || !number(at, event_count_) ||
        !number(at, size) || !number(at, enumeration_count_) || !number(at, keywords) ||
        !number(at, attributes) || !number(at, hash_)) {
        return false;
    }
    if (magic != schema_format::magic || version != schema_format::version || event_count_ == 0 ||
        event_count_ > schema_format::events_max || size > schema_format::size_max ||
        size < schema_format::header_size || size > bytes_.size() ||
        enumeration_count_ > schema_format::enumerations_max ||
        keywords > schema_format::keywords_max) {
        return false;
    }
    bytes_ = bytes_.first(size);
    keywords_.left = keywords;
    return name(at, provider_) && text(at, description_) &&
           parse_attributes(at, attributes, source_, unknown_attributes_);
}

bool schema_reader::parse_keyword(cursor& at, keyword_description& keyword) const noexcept {
    std::uint8_t bit = 0;
    const bool is_sound =
        number(at, bit) && bit < schema_format::keywords_max && name(at, keyword.name);
    keyword.bit = bit;
    return is_sound;
}

bool schema_reader::parse_enumeration(cursor& at,
                                      enumeration_description& enumeration) const noexcept {
    std::uint8_t flags = 0;
    const bool is_sound = number(at, flags) && number(at, enumeration.value_count) &&
                          name(at, enumeration.name) &&
                          flags <= schema_format::enumeration_combines;
    enumeration.is_bitmask = flags == schema_format::enumeration_combines;
    return is_sound;
}

bool schema_reader::parse_value(cursor& at, value_description& value) const noexcept {
    return number(at, value.value) && name(at, value.name);
}

bool schema_reader::parse_event(cursor& at, event_description& event) const noexcept {
    std::uint8_t flags = 0;
    std::uint8_t attributes = 0;
    if (!number(at, event.severity) || !number(at, event.kind) || !number(at, flags) ||
        !number(at, attributes) || !number(at, event.fixed_size) ||
        !number(at, event.field_count) || !number(at, event.keywords) || !name(at, event.name) ||
        !text(at, event.description) || !text(at, event.when)) {
        return false;
    }
    event.source = {};
    event.unknown_attributes = 0;
    if (!parse_attributes(at, attributes, event.source, event.unknown_attributes)) {
        return false;
    }
    event.session_bound = (flags & schema_format::event_session_bound) != 0;
    event.truncates = (flags & schema_format::event_truncates) != 0;
    return event.severity >= level::error && event.severity <= level::trace &&
           static_cast<std::uint8_t>(event.kind) <= schema_format::kind_last &&
           flags <= (schema_format::event_session_bound | schema_format::event_truncates) &&
           event.field_count <= schema_format::fields_max;
}

bool schema_reader::parse_field(cursor& at, field_description& field) const noexcept {
    return number(at, field.type) && number(at, field.format) && number(at, field.count) &&
           number(at, field.offset) && number(at, field.presence) &&
           number(at, field.enumeration) && name(at, field.name) && text(at, field.unit) &&
           text(at, field.description) && size_of(field.type) != 0 &&
           static_cast<std::uint8_t>(field.format) <= schema_format::format_last &&
           format_fits(field.format, field.type, field.count) &&
           (field.enumeration == schema_format::no_index || field.enumeration < enumeration_count_);
}

/// Keywords are sorted by bit, each bit once.
bool schema_reader::check_keywords(cursor& at) noexcept {
    unsigned next_bit = 0;
    for (unsigned i = 0; i < keywords_.left; ++i) {
        keyword_description keyword;
        if (!parse_keyword(at, keyword) || keyword.bit < next_bit) {
            return false;
        }
        next_bit = keyword.bit + 1;
    }
    return true;
}

bool schema_reader::check_enumerations(cursor& at) noexcept {
    for (unsigned i = 0; i < enumeration_count_; ++i) {
        enumeration_description enumeration;
        if (!parse_enumeration(at, enumeration)) {
            return false;
        }
        for (unsigned j = 0; j < enumeration.value_count; ++j) {
            value_description value;
            if (!parse_value(at, value)) {
                return false;
            }
        }
    }
    return true;
}

/// The fields must lie inside the event's fixed part.
bool schema_reader::check_event(cursor& at) noexcept {
    event_description event;
    if (!parse_event(at, event) || (event.session_bound && event.field_count == 0)) {
        return false;
    }
    for (unsigned i = 0; i < event.field_count; ++i) {
        field_description field;
        if (!parse_field(at, field) || !fits(field, event) ||
            (event.session_bound && i == 0 && !is_session(field))) {
            return false;
        }
    }
    return true;
}

bool schema_reader::open(std::span<const std::uint8_t> bytes, error_text& error) noexcept {
    *this = schema_reader{};
    bytes_ = bytes;
    cursor at;
    bool sound = parse_header(at);
    keywords_.position = at.position;
    sound = sound && check_keywords(at);
    enumerations_ = {at.position, enumeration_count_, 0};
    sound = sound && check_enumerations(at);
    events_ = {at.position, event_count_, 0};
    for (unsigned i = 0; sound && i < event_count_; ++i) {
        sound = check_event(at);
    }
    if (!sound || at.position != bytes_.size()) {
        error.set("The schema is damaged or of another version (noticed at byte %zu). Update "
                  "eventlog, or record again.",
                  at.position);
        return false;
    }
    if (compute_hash(bytes_) != hash_) {
        error.set("The schema is damaged: its bytes do not have the hash that they name. Record "
                  "again.");
        return false;
    }
    return true;
}

bool schema_reader::next_keyword(keyword_description& keyword) noexcept {
    if (keywords_.left == 0 || !parse_keyword(keywords_, keyword)) {
        return false;
    }
    --keywords_.left;
    return true;
}

bool schema_reader::next_enumeration(enumeration_description& enumeration) noexcept {
    value_description skipped;
    while (enumerations_.parts_left != 0) {
        if (!next_value(skipped)) {
            return false;
        }
    }
    if (enumerations_.left == 0 || !parse_enumeration(enumerations_, enumeration)) {
        return false;
    }
    --enumerations_.left;
    enumerations_.parts_left = enumeration.value_count;
    return true;
}

bool schema_reader::next_value(value_description& value) noexcept {
    if (enumerations_.parts_left == 0 || !parse_value(enumerations_, value)) {
        return false;
    }
    --enumerations_.parts_left;
    return true;
}

bool schema_reader::next_event(event_description& event) noexcept {
    field_description skipped;
    while (events_.parts_left != 0) {
        if (!next_field(skipped)) {
            return false;
        }
    }
    if (events_.left == 0 || !parse_event(events_, event)) {
        return false;
    }
    event.id = static_cast<std::uint16_t>(event_count_ - events_.left);
    --events_.left;
    events_.parts_left = event.field_count;
    return true;
}

bool schema_reader::next_field(field_description& field) noexcept {
    if (events_.parts_left == 0 || !parse_field(events_, field)) {
        return false;
    }
    --events_.parts_left;
    return true;
}

}  // namespace eventlog::core
