// SPDX-License-Identifier: MIT
#include "schema.hpp"

namespace eventlog::core {
namespace {

constexpr std::size_t hash_offset = 16;

std::uint64_t compute_hash(std::span<const std::uint8_t> bytes) noexcept {
    std::uint64_t hash = fnv1a_start;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool is_hash = i >= hash_offset && i < hash_offset + 8;
        hash = fnv1a(hash, is_hash ? std::uint8_t{0} : bytes[i]);
    }
    return hash;
}

}  // namespace

bool schema_reader::number(std::size_t size, std::uint64_t& value) noexcept {
    if (bytes_.size() - position_ < size) {
        return false;
    }
    value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value |= std::uint64_t{bytes_[position_ + i]} << (8 * i);
    }
    position_ += size;
    return true;
}

bool schema_reader::text(std::string_view& value) noexcept {
    std::uint64_t length = 0;
    if (!number(1, length) || bytes_.size() - position_ < length) {
        return false;
    }
    // char may look at any object's bytes.
    value = {reinterpret_cast<const char*>(bytes_.data() + position_), length};
    position_ += length;
    return true;
}

bool schema_reader::parse_header() noexcept {
    std::uint64_t magic = 0;
    std::uint64_t version = 0;
    std::uint64_t count = 0;
    std::uint64_t size = 0;
    std::uint64_t reserved = 0;
    if (!number(4, magic) || !number(2, version) || !number(2, count) || !number(4, size) ||
        !number(4, reserved) || !number(8, hash_)) {
        return false;
    }
    if (magic != schema_magic || version != schema_version || count == 0 || count > events_max ||
        size > schema_size_max || size < schema_header_size || size > bytes_.size() ||
        reserved != 0) {
        return false;
    }
    bytes_ = bytes_.first(size);
    event_count_ = static_cast<std::uint16_t>(count);
    return text(provider_) && is_identifier(provider_.data(), provider_.size());
}

bool schema_reader::parse_event(event_description& event) noexcept {
    std::uint64_t severity = 0;
    std::uint64_t flags = 0;
    std::uint64_t fixed_size = 0;
    std::uint64_t field_count = 0;
    if (!number(1, severity) || !number(1, flags) || !number(2, fixed_size) ||
        !number(2, field_count) || !number(8, event.keywords) || !text(event.name) ||
        !text(event.description)) {
        return false;
    }
    if (severity < 1 || severity > 5 || flags != 0 || field_count == 0 ||
        field_count > fields_max || !is_identifier(event.name.data(), event.name.size())) {
        return false;
    }
    event.id = events_read_;
    event.severity = static_cast<level>(severity);
    event.fixed_size = static_cast<std::uint16_t>(fixed_size);
    event.field_count = static_cast<std::uint16_t>(field_count);
    return true;
}

bool schema_reader::parse_field(field_description& field) noexcept {
    std::uint64_t type = 0;
    std::uint64_t format = 0;
    std::uint64_t count = 0;
    std::uint64_t offset = 0;
    if (!number(1, type) || !number(1, format) || !number(2, count) || !number(2, offset) ||
        !text(field.name)) {
        return false;
    }
    field.type = static_cast<field_type>(type);
    field.offset = static_cast<std::uint16_t>(offset);
    return size_of(field.type) != 0 && format == 0 && count == 1 &&
           is_identifier(field.name.data(), field.name.size());
}

/// An event whose fields lie inside its fixed part.
bool schema_reader::check_event() noexcept {
    event_description event;
    if (!parse_event(event)) {
        return false;
    }
    for (unsigned i = 0; i < event.field_count; ++i) {
        field_description field;
        if (!parse_field(field) ||
            std::size_t{field.offset} + size_of(field.type) > event.fixed_size) {
            return false;
        }
    }
    return true;
}

bool schema_reader::open(std::span<const std::uint8_t> bytes, error_text& error) noexcept {
    *this = schema_reader{};
    bytes_ = bytes;
    bool sound = parse_header();
    first_event_ = position_;
    for (unsigned i = 0; sound && i < event_count_; ++i) {
        sound = check_event();
    }
    if (!sound || position_ != bytes_.size()) {
        error.set("The schema is damaged or of a newer version (noticed at byte %zu). Update "
                  "eventlog, or record again.",
                  position_);
        return false;
    }
    if (compute_hash(bytes_) != hash_) {
        error.set("The schema is damaged: its bytes do not have the hash that they name. Record "
                  "again.");
        return false;
    }
    position_ = first_event_;
    return true;
}

bool schema_reader::next_event(event_description& event) noexcept {
    field_description skipped;
    while (fields_left_ != 0) {
        if (!next_field(skipped)) {
            return false;
        }
    }
    if (events_read_ == event_count_ || !parse_event(event)) {
        return false;
    }
    ++events_read_;
    fields_left_ = event.field_count;
    return true;
}

bool schema_reader::next_field(field_description& field) noexcept {
    if (fields_left_ == 0 || !parse_field(field)) {
        return false;
    }
    --fields_left_;
    return true;
}

}  // namespace eventlog::core
