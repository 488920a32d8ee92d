// SPDX-License-Identifier: MIT
//
// Writes the schema of a provider at compile time, in the form of schema_format.hpp.
//
// Compilers evaluate this code byte by byte, so it is optimized for them: templates only where they
// are needed, plain pointers, and few long expressions for the parts that each field has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <eventlog/detail/checked_info.hpp>
#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/event_list.hpp>
#include <eventlog/detail/event_schema.hpp>
#include <eventlog/detail/fixed_string.hpp>
#include <eventlog/detail/schema_sink.hpp>
#include <eventlog/detail/source_name.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// The distinct enumerations of a list of events.
template <std::size_t Capacity>
struct enumeration_list {
    const field_kind* items[at_least_one(Capacity)]{};
    std::size_t count = 0;
};

consteval std::size_t count_enumerations(const event_schema* const* events, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < events[i]->count; ++j) {
            found += events[i]->kinds[j]->is_enumeration ? 1 : 0;
        }
    }
    return found;
}

/// The index of the field's enumeration; schema_format::no_index for none.
consteval std::uint16_t index_of(const field_kind* const* listed, std::size_t count,
                                 const field_kind& kind) {
    for (std::size_t i = 0; i < count; ++i) {
        if (std::string_view(listed[i]->enumeration_identity) == kind.enumeration_identity) {
            return static_cast<std::uint16_t>(i);
        }
    }
    return schema_format::no_index;
}

template <class... Events>
consteval auto list_enumerations() {
    constexpr std::size_t capacity =
        count_enumerations(event_schemas_of<Events...>, sizeof...(Events));
    enumeration_list<capacity> list;
    for (std::size_t i = 0; capacity != 0 && i < sizeof...(Events); ++i) {
        const event_schema& event = *event_schemas_of<Events...>[i];
        for (std::size_t j = 0; j < event.count; ++j) {
            const field_kind& kind = *event.kinds[j];
            if (kind.is_enumeration &&
                index_of(list.items, list.count, kind) == schema_format::no_index) {
                list.items[list.count++] = &kind;
            }
        }
    }
    return list;
}

/// The content of a provider's schema.
struct provider_content {
    std::string_view name;
    const provider_info* info;
    std::string_view file;  // that declares it, without directories; empty: unknown
    std::size_t keyword_count;
    const field_kind* const* enumerations;
    std::size_t enumeration_count;
    const event_schema* const* events;
    std::size_t event_count;
};

consteval std::size_t length_of(const char* text) {
    return __builtin_strlen(text);
}

consteval std::size_t size_of_event(const event_schema& event) {
    const event_info& info = *event.info;
    std::size_t size = 16 + 3 + event.name.size;
    if (event.has_info) {
        size += length_of(info.description) + length_of(info.when) +
                size_of_source(event.file, info.line);
    }
    if (info.session_bound) {
        size += 10 + 3 + 7;
    }
    size += (10 + 3) * event.count;
    if (!event.has_info) {
        for (std::size_t i = 0; i < event.count; ++i) {
            size += event.names[i].size;
        }
        return size;
    }
    for (std::size_t i = 0; i < event.count; ++i) {
        const field_text text = text_of(event, i);
        size += text.name.size + length_of(text.info->unit) + length_of(text.info->description);
    }
    return size;
}

consteval std::size_t size_of_enumeration(const enum_description& enumeration) {
    std::size_t size = 1 + 2 + 1 + enumeration.name.size();
    for (std::size_t i = 0; i < enumeration.value_count; ++i) {
        size += 8 + 1 + enumeration.values[i].name.size();
    }
    return size;
}

consteval std::size_t size_of_schema(const provider_content& provider) {
    std::size_t size = schema_format::header_size + 2 + provider.name.size() +
                       length_of(provider.info->description) +
                       size_of_source(provider.file, provider.info->line);
    for (std::size_t i = 0; provider.keyword_count != 0 && i < schema_format::keywords_max; ++i) {
        const char* name = provider.info->keywords[i].name;
        size += *name == 0 ? 0 : 2 + length_of(name);
    }
    for (std::size_t i = 0; i < provider.enumeration_count; ++i) {
        size += size_of_enumeration(*provider.enumerations[i]->enumeration);
    }
    for (std::size_t i = 0; i < provider.event_count; ++i) {
        size += size_of_event(*provider.events[i]);
    }
    return size;
}

/// Writes and hashes bytes at once. The memory must be zero.
struct hashing_schema_writer {
    std::uint8_t* end = nullptr;
    std::uint64_t hash = schema_format::fnv1a_start;

    constexpr void byte(std::uint8_t value) {
        *end++ = value;
        hash = (hash ^ value) * schema_format::fnv1a_factor;
    }
    constexpr void number(std::uint64_t value, std::size_t size) {
        for (; size != 0; --size) {
            byte(static_cast<std::uint8_t>(value));
            value >>= 8U;
        }
    }
    /// Skips two bytes that are zero.
    constexpr void two_zeros() {
        end += 2;
        hash *= schema_format::fnv1a_factor * schema_format::fnv1a_factor;
    }
    // Four bytes at a time: for compilers, each iteration of a loop costs as much as its body.
    constexpr void text(const char* from, std::size_t size) {
        constexpr std::uint64_t one = schema_format::fnv1a_factor;
        std::uint8_t* to = end;
        std::uint64_t so_far = (hash ^ (*to++ = static_cast<std::uint8_t>(size))) * one;
        for (; size >= 4; size -= 4, from += 4, to += 4) {
            so_far = (so_far ^ (to[0] = static_cast<std::uint8_t>(from[0]))) * one;
            so_far = (so_far ^ (to[1] = static_cast<std::uint8_t>(from[1]))) * one;
            so_far = (so_far ^ (to[2] = static_cast<std::uint8_t>(from[2]))) * one;
            so_far = (so_far ^ (to[3] = static_cast<std::uint8_t>(from[3]))) * one;
        }
        for (; size != 0; --size) {
            so_far = (so_far ^ (*to++ = static_cast<std::uint8_t>(*from++))) * one;
        }
        end = to;
        hash = so_far;
    }
    constexpr void text(const char* characters) { text(characters, __builtin_strlen(characters)); }
    constexpr void text(std::string_view text_view) { text(text_view.data(), text_view.size()); }
};

/// Writes the ten bytes of a field in front of its texts.
consteval void write_field_location(hashing_schema_writer& writer, const field_location& place,
                                    format shown, std::uint16_t enumeration) {
    writer.byte(static_cast<std::uint8_t>(place.type));
    writer.byte(static_cast<std::uint8_t>(shown));
    writer.number(place.count, 2);
    writer.number(place.offset, 2);
    writer.number(place.presence, 2);
    writer.number(enumeration, 2);
}

constexpr bool is_plain_field(const field_location& place, format shown) {
    return shown == format::plain && place.count == 1 && !place.optional;
}

/// As write_field_location for the most frequent kind of field: one value that is always present,
/// with plain format and without an enumeration. It uses few steps, because this is the largest
/// part of the schema.
consteval void write_plain_field_location(hashing_schema_writer& writer, field_type type,
                                          std::size_t offset) {
    constexpr std::uint64_t one = schema_format::fnv1a_factor;
    constexpr std::uint64_t two = one * one;  // for a zero byte, which only multiplies
    std::uint8_t* const to = writer.end;
    const std::uint64_t start =
        (writer.hash ^ (to[0] = static_cast<std::uint8_t>(type))) * two ^ (to[2] = 1);
    const std::uint64_t middle = (start * two ^ (to[4] = static_cast<std::uint8_t>(offset))) * one ^
                                 (to[5] = static_cast<std::uint8_t>(offset >> 8U));
    // schema_format::no_index, twice.
    writer.hash =
        ((((middle * one ^ (to[6] = 0xff)) * one ^ (to[7] = 0xff)) * one ^ (to[8] = 0xff)) * one ^
         (to[9] = 0xff)) *
        one;
    writer.end = to + 10;
}

consteval void write_field(hashing_schema_writer& writer, const provider_content& provider,
                           const event_schema& event, std::size_t i) {
    const field_kind& kind = *event.kinds[i];
    const std::uint16_t enumeration =
        kind.is_enumeration ? index_of(provider.enumerations, provider.enumeration_count, kind)
                            : schema_format::no_index;
    const field_text text = text_of(event, i);
    write_field_location(writer, event.locations[i], text.format, enumeration);
    writer.text(text.name.begin, text.name.size);
    writer.text(text.info->unit);
    writer.text(text.info->description);
}

consteval void write_fields(hashing_schema_writer& writer, const provider_content& provider,
                            const event_schema& event) {
    for (std::size_t i = 0; i < event.count; ++i) {
        const field_kind& kind = *event.kinds[i];
        const field_location& place = event.locations[i];
        if (event.has_info || kind.is_enumeration || !is_plain_field(place, kind.shown)) {
            write_field(writer, provider, event, i);
            continue;
        }
        write_plain_field_location(writer, place.type, place.offset);
        writer.text(event.names[i].begin, event.names[i].size);
        writer.two_zeros();  // no unit, no description
    }
}

consteval void write_event(hashing_schema_writer& writer, const provider_content& provider,
                           const event_schema& event) {
    const event_info& info = *event.info;
    writer.byte(static_cast<std::uint8_t>(info.level));
    writer.byte(static_cast<std::uint8_t>(info.kind));
    writer.byte(static_cast<std::uint8_t>(
        (info.session_bound ? schema_format::event_session_bound : 0U) |
        (info.oversize == oversize::truncate ? schema_format::event_truncates : 0U)));
    writer.byte(event.file.empty() ? 0 : 1);  // attributes
    writer.number(event.fixed_size, 2);
    writer.number(event.count + (info.session_bound ? 1 : 0), 2);
    writer.number(info.keywords, 8);
    writer.text(event.name.begin, event.name.size);
    writer.text(info.description);
    writer.text(info.when);
    if (!event.file.empty()) {
        write_source(writer, event.file, info.line);
    }
    if (info.session_bound) {
        write_field_location(writer,
                             {field_type::unsigned_64, 1, false, 0, schema_format::no_index},
                             format::plain, schema_format::no_index);
        writer.text("session");
        writer.byte(0);
        writer.byte(0);
    }
    write_fields(writer, provider, event);
}

consteval void write_enumeration(hashing_schema_writer& writer,
                                 const enum_description& enumeration) {
    writer.number(enumeration.is_bitmask ? schema_format::enumeration_combines : 0, 1);
    writer.number(enumeration.value_count, 2);
    writer.text(enumeration.name);
    for (std::size_t i = 0; i < enumeration.value_count; ++i) {
        writer.number(static_cast<std::uint64_t>(enumeration.values[i].value), 8);
        writer.text(enumeration.values[i].name);
    }
}

/// Writes a schema of `size` bytes, the result of size_of_schema. The memory must be zero.
consteval void write_schema(std::uint8_t* bytes, std::size_t size,
                            const provider_content& provider) {
    hashing_schema_writer writer{bytes};
    writer.number(schema_format::magic, 4);
    writer.number(schema_format::version, 2);
    writer.number(provider.event_count, 2);
    writer.number(size, 4);
    writer.number(provider.enumeration_count, 2);
    writer.number(provider.keyword_count, 1);
    writer.number(provider.file.empty() ? 0 : 1, 1);  // attributes
    writer.number(0, 8);                              // the hash
    writer.text(provider.name);
    writer.text(provider.info->description);
    if (!provider.file.empty()) {
        write_source(writer, provider.file, provider.info->line);
    }
    for (unsigned bit = 0; provider.keyword_count != 0 && bit < schema_format::keywords_max;
         ++bit) {
        for (const keyword& word : provider.info->keywords) {
            if (*word.name != 0 && word.bit == bit) {
                writer.number(bit, 1);
                writer.text(word.name);
            }
        }
    }
    for (std::size_t i = 0; i < provider.enumeration_count; ++i) {
        write_enumeration(writer, *provider.enumerations[i]->enumeration);
    }
    for (std::size_t i = 0; i < provider.event_count; ++i) {
        write_event(writer, provider, *provider.events[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[schema_hash_offset + i] = static_cast<std::uint8_t>(writer.hash >> (8 * i));
    }
}

consteval std::size_t count_keywords(const provider_info& info) {
    std::size_t count = 0;
    for (const keyword& word : info.keywords) {
        count += *word.name == 0 ? 0 : 1;
    }
    return count;
}

template <class... Events>
[[gnu::visibility("hidden")]] inline constexpr auto enumerations_of =
    list_enumerations<Events...>();

template <fixed_string Name, class Provider, class... Events>
consteval auto make_schema() {
    constexpr const provider_info& info = checked_provider_info<Provider>;
    constexpr provider_content content{Name.view(),
                                       &info,
                                       info.line == 0 ? std::string_view() : source_name(info.file),
                                       count_keywords(info),
                                       enumerations_of<Events...>.items,
                                       enumerations_of<Events...>.count,
                                       event_schemas_of<Events...>,
                                       sizeof...(Events)};
    constexpr std::size_t size = size_of_schema(content);
    static_assert(size <= schema_format::size_max,
                  "eventlog: the schema of this provider is over 1 MiB. Split the provider.");
    std::array<std::uint8_t, size> bytes{};
    // Not written if it was rejected, to save compile time.
    if constexpr (size <= schema_format::size_max) {
        write_schema(bytes.data(), size, content);
    }
    return bytes;
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
