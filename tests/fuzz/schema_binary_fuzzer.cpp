// SPDX-License-Identifier: MIT
//
// Random binary schemas: they are rejected, or all their parts can be used, and a random payload
// can be decoded with them. The input is a schema followed by a payload.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include "base/user_error.hpp"
#include "fuzz_target.hpp"
#include "schema/decode.hpp"
#include "schema/provider_schema.hpp"
#include "schema/schema_text.hpp"
#include "schema/value_text.hpp"

namespace {

constexpr std::size_t size_offset = 8;
constexpr std::size_t hash_offset = 16;

/// Corrects the hash, which random mutations would never pass.
std::vector<std::uint8_t> with_right_hash(const std::uint8_t* data, std::size_t size) {
    std::vector<std::uint8_t> bytes(data, data + size);
    if (size < eventlog::schema_format::header_size) {
        return bytes;
    }
    std::size_t schema_size = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        schema_size |= std::size_t{bytes[size_offset + i]} << (8 * i);
    }
    if (schema_size > size) {
        return bytes;
    }
    std::uint64_t hash = eventlog::schema_format::fnv1a_start;
    for (std::size_t i = 0; i < schema_size; ++i) {
        const bool is_hash = i >= hash_offset && i < hash_offset + 8;
        hash = eventlog::schema_format::fnv1a(hash, is_hash ? std::uint8_t{0} : bytes[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[hash_offset + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
    return bytes;
}

void decode_all(const elog::provider_schema& schema, std::span<const std::uint8_t> payload) {
    for (const elog::event_schema& event : schema.events) {
        for (const elog::field_schema& field : event.fields) {
            fmt::memory_buffer out;
            elog::append_field(out, schema, field, payload);
            for (const std::size_t index : {std::size_t{0}, std::size_t{field.count}}) {
                elog::append_value(out, elog::decode_element(field, index, payload));
            }
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const std::vector<std::uint8_t> bytes = with_right_hash(data, size);
        const elog::provider_schema schema = elog::provider_schema::parse(bytes);
        // A copy of exactly that size, so that a sanitizer detects reads beyond its end.
        const std::vector<std::uint8_t> payload(
            bytes.begin() + static_cast<std::ptrdiff_t>(schema.binary.size()), bytes.end());
        decode_all(schema, payload);
        // The text is equivalent unless it begins with a comment that says otherwise.
        const std::string text = elog::write_schema_text(schema);
        if (text.front() != '#' &&
            elog::parse_schema_text("text", text).schema.binary != schema.binary) {
            std::abort();
        }
    } catch (const elog::user_error&) {
        return 0;
    }
    return 0;
}
