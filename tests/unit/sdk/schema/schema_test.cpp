// SPDX-License-Identifier: MIT
#include "schema/schema.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "schema/schema_attributes.hpp"

namespace {

using namespace eventlog::core;

struct opened {
    std::uint16_t port;
    std::string_view peer;
    std::uint64_t id;
};
struct closed {
    std::uint64_t id;
};
using door = eventlog::provider<"door", opened, closed>;

std::vector<std::uint8_t> bytes_of_schema() {
    const auto& schema = door::schema();
    return {schema.begin(), schema.end()};
}

bool opens(std::span<const std::uint8_t> bytes) {
    schema_reader reader;
    error_text error;
    return reader.open(bytes, error);
}

TEST(schema, names_provider_events_and_fields_in_declared_order) {
    const std::vector<std::uint8_t> bytes = bytes_of_schema();
    schema_reader reader;
    error_text error;
    ASSERT_TRUE(reader.open(bytes, error)) << error.text().c_str();
    EXPECT_EQ(reader.provider(), "door");
    EXPECT_EQ(reader.event_count(), 2U);
    event_description event;
    ASSERT_TRUE(reader.next_event(event));
    EXPECT_EQ(event.id, 0U);
    EXPECT_EQ(event.name, "opened");
    EXPECT_EQ(event.severity, eventlog::level::info);
    EXPECT_EQ(event.keywords, 0U);
    EXPECT_EQ(event.fixed_size, 14U);
    field_description field;
    ASSERT_TRUE(reader.next_field(field));
    EXPECT_EQ(field.name, "port");
    EXPECT_EQ(field.type, eventlog::field_type::unsigned_16);
    EXPECT_EQ(field.offset, 12U);
    ASSERT_TRUE(reader.next_field(field));
    EXPECT_EQ(field.name, "peer");
    EXPECT_EQ(field.offset, 8U);
    ASSERT_TRUE(reader.next_field(field));
    EXPECT_EQ(field.name, "id");
    EXPECT_EQ(field.offset, 0U);
    EXPECT_FALSE(reader.next_field(field));
    ASSERT_TRUE(reader.next_event(event));
    EXPECT_EQ(event.name, "closed");
    EXPECT_EQ(event.id, 1U);
    EXPECT_FALSE(reader.next_event(event));
}

TEST(schema, next_event_skips_unread_fields) {
    const std::vector<std::uint8_t> bytes = bytes_of_schema();
    schema_reader reader;
    error_text error;
    ASSERT_TRUE(reader.open(bytes, error));
    event_description event;
    ASSERT_TRUE(reader.next_event(event));
    ASSERT_TRUE(reader.next_event(event));
    EXPECT_EQ(event.name, "closed");
}

TEST(schema, may_be_followed_by_trailing_bytes) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    bytes.push_back(1);
    EXPECT_TRUE(opens(bytes));
}

TEST(schema, truncated_anywhere_is_rejected) {
    const std::vector<std::uint8_t> bytes = bytes_of_schema();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        // A copy of exactly this size, so that a sanitizer detects reads after its end.
        const std::vector<std::uint8_t> cut(bytes.begin(),
                                            bytes.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_FALSE(opens(cut)) << size;
    }
}

TEST(schema, with_any_bit_flipped_is_rejected) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
        EXPECT_FALSE(opens(bytes)) << bit;
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    }
    EXPECT_TRUE(opens(bytes));
}

/// Recomputes the hash of a changed schema whose size may be wrong.
std::vector<std::uint8_t> with_right_hash(std::vector<std::uint8_t> bytes) {
    const std::vector<std::uint8_t> changed = bytes;
    eventlog::test::complete_schema(bytes);
    std::copy_n(changed.begin() + eventlog::test::schema_size_offset, 4,
                bytes.begin() + eventlog::test::schema_size_offset);
    return bytes;
}

TEST(schema, with_valid_hash_is_still_validated) {
    // Any byte changed to one of these values: the schema is rejected, or its values are in bounds.
    const std::vector<std::uint8_t> bytes = bytes_of_schema();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        for (const int value : {0, 1, 13, 14, 63, 64, 127, 128, 255}) {
            std::vector<std::uint8_t> changed = bytes;
            changed[i] = static_cast<std::uint8_t>(value);
            changed = with_right_hash(changed);
            schema_reader reader;
            error_text error;
            if (!reader.open(changed, error)) {
                continue;
            }
            event_description event;
            while (reader.next_event(event)) {
                field_description field;
                while (reader.next_field(field)) {
                    EXPECT_LE(field.offset + eventlog::size_of(field.type), event.fixed_size);
                    EXPECT_TRUE(eventlog::schema_format::is_identifier(field.name.data(),
                                                                       field.name.size()));
                }
            }
        }
    }
}

TEST(schema, of_another_version_is_rejected) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    for (const int version : {0, 1, 2, 4, 255}) {
        bytes[4] = static_cast<std::uint8_t>(version);
        EXPECT_FALSE(opens(with_right_hash(bytes))) << version;
    }
    bytes[4] = 3;
    EXPECT_TRUE(opens(with_right_hash(bytes)));
}

/// Names of all events and fields, and the numbers of skipped attributes.
std::string text_of(std::span<const std::uint8_t> bytes) {
    schema_reader reader;
    error_text error;
    if (!reader.open(bytes, error)) {
        return error.text().c_str();
    }
    std::string text = std::to_string(reader.unknown_attributes());
    event_description event;
    while (reader.next_event(event)) {
        text += ' ';
        text += event.name;
        text += ' ' + std::to_string(event.unknown_attributes);
        field_description field;
        while (reader.next_field(field)) {
            text += ' ';
            text += field.name;
        }
    }
    return text;
}

TEST(schema, unknown_attributes_are_skipped_and_counted) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    EXPECT_EQ(text_of(bytes), "0 opened 0 port peer id closed 0 id");
    EXPECT_EQ(eventlog::test::add_unknown_attributes(bytes), 9U);
    EXPECT_EQ(text_of(bytes), "3 opened 3 port peer id closed 3 id");
    // One kind may occur several times.
    eventlog::test::add_attribute(bytes, 1, {200, {1, 2}});
    eventlog::test::add_attribute(bytes, 1, {200, {1, 2}});
    EXPECT_EQ(text_of(bytes), "3 opened 5 port peer id closed 3 id");
}

TEST(schema, may_have_the_largest_number_and_size_of_attributes) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    for (int i = 0; i < 255; ++i) {
        eventlog::test::add_attribute(bytes, 1, {254, {}});
    }
    eventlog::test::add_attribute(bytes, 2, {255, std::vector<std::uint8_t>(65535)});
    EXPECT_EQ(text_of(bytes), "0 opened 255 port peer id closed 1 id");
}

TEST(schema, with_attributes_truncated_anywhere_is_rejected) {
    std::vector<std::uint8_t> whole = bytes_of_schema();
    eventlog::test::add_unknown_attributes(whole);
    for (std::size_t size = eventlog::schema_format::header_size; size < whole.size(); ++size) {
        std::vector<std::uint8_t> cut(whole.begin(),
                                      whole.begin() + static_cast<std::ptrdiff_t>(size));
        eventlog::test::complete_schema(cut);
        EXPECT_FALSE(opens(cut)) << size;
    }
}

TEST(schema, with_wrong_size_or_number_of_attributes_is_rejected) {
    for (const std::size_t owner : {0U, 1U, 2U}) {
        for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{5},
                                       std::size_t{255}, std::size_t{65535}}) {
            std::vector<std::uint8_t> bytes = bytes_of_schema();
            eventlog::test::add_attribute(bytes, owner, {99, {0, 0, 0, 0}, size});
            EXPECT_FALSE(opens(bytes)) << owner << ' ' << size;
        }
        for (const int count : {1, 2, 127, 255}) {
            std::vector<std::uint8_t> bytes = bytes_of_schema();
            bytes[eventlog::test::schema_walk(bytes).places.at(owner).count_at] =
                static_cast<std::uint8_t>(count);
            EXPECT_FALSE(opens(with_right_hash(bytes))) << owner << ' ' << count;
        }
    }
}

TEST(schema, with_an_attribute_of_no_kind_is_rejected) {
    std::vector<std::uint8_t> bytes = bytes_of_schema();
    eventlog::test::add_attribute(bytes, 0, {0, {1}});
    EXPECT_FALSE(opens(bytes));
}

/// The content of a source attribute.
std::vector<std::uint8_t> source(std::uint32_t line, std::string_view file, std::size_t more = 0) {
    std::vector<std::uint8_t> content;
    for (unsigned i = 0; i < 4; ++i) {
        content.push_back(static_cast<std::uint8_t>(line >> (8 * i)));
    }
    content.push_back(static_cast<std::uint8_t>(file.size()));
    content.insert(content.end(), file.begin(), file.end());
    content.resize(content.size() + more, 0xee);
    return content;
}

TEST(schema, names_the_lines_that_declare_it) {
    for (const std::size_t more : {0U, 1U, 500U}) {
        std::vector<std::uint8_t> bytes = bytes_of_schema();
        eventlog::test::add_unknown_attributes(bytes);
        eventlog::test::add_attribute(bytes, 0, {1, source(7, "door.hpp", more)});
        eventlog::test::add_attribute(bytes, 2, {1, source(0xfffffffe, std::string(255, 'c'))});
        schema_reader reader;
        error_text error;
        ASSERT_TRUE(reader.open(bytes, error)) << error.text().c_str();
        EXPECT_EQ(reader.source().file, "door.hpp");
        EXPECT_EQ(reader.source().line, 7U);
        EXPECT_EQ(reader.unknown_attributes(), 3U);
        event_description event;
        ASSERT_TRUE(reader.next_event(event));
        EXPECT_EQ(event.source.file, "");
        EXPECT_EQ(event.source.line, 0U);
        ASSERT_TRUE(reader.next_event(event));
        EXPECT_EQ(event.source.file, std::string(255, 'c'));
        EXPECT_EQ(event.source.line, 0xfffffffeU);
        EXPECT_EQ(event.unknown_attributes, 3U);
    }
}

TEST(schema, with_an_invalid_source_is_rejected) {
    std::vector<eventlog::test::added_attribute> invalid{
        {1, source(0, "a.c")}, {1, source(7, "")}, {1, {}}, {1, {7, 0, 0, 0}}};
    // Its text is longer than the attribute, but not than the schema.
    eventlog::test::added_attribute cut{1, source(7, "abcdef")};
    for (std::size_t size = 0; size < 11; ++size) {
        cut.content.resize(size);
        cut.claimed_size = size;
        invalid.push_back(cut);
        cut.content = source(7, "abcdef");
    }
    for (const std::size_t owner : {0U, 1U, 2U}) {
        for (const eventlog::test::added_attribute& added : invalid) {
            std::vector<std::uint8_t> bytes = bytes_of_schema();
            eventlog::test::add_attribute(bytes, owner, added);
            EXPECT_FALSE(opens(bytes)) << owner << ' ' << added.content.size();
        }
        std::vector<std::uint8_t> twice = bytes_of_schema();
        eventlog::test::add_attribute(twice, owner, {1, source(7, "a.c")});
        EXPECT_TRUE(opens(twice));
        eventlog::test::add_attribute(twice, owner, {1, source(7, "a.c")});
        EXPECT_FALSE(opens(twice)) << owner;
    }
}

struct same_fields {
    std::uint64_t id;
};

TEST(schema, of_different_events_has_a_different_hash) {
    schema_reader one;
    schema_reader other;
    error_text error;
    const auto& second = eventlog::provider<"door", opened, same_fields>::schema();
    const std::vector<std::uint8_t> bytes = bytes_of_schema();
    ASSERT_TRUE(one.open(bytes, error));
    ASSERT_TRUE(other.open(second, error));
    EXPECT_NE(one.hash(), other.hash());
}

}  // namespace
