// SPDX-License-Identifier: MIT
//
// Schemas as text: their expressiveness, the lossless conversion to the binary form and back, and
// the position and text of each error.
#include "schema/schema_text.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "schema/schema_attributes.hpp"
#include "schema/schema_binary.hpp"

namespace {

using elog::parse_schema_text;
using elog::provider_schema;
using elog::write_schema_text;

provider_schema parse(std::string_view text) {
    return parse_schema_text("x.schema", text).schema;
}

/// A provider with these items.
std::string provider(std::string_view items) {
    return "provider p {\n" + std::string(items) + "\n}\n";
}

/// The error text; empty: the schema is accepted.
std::string rejection(std::string_view text) {
    try {
        static_cast<void>(parse(text));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return {};
}

// The same provider in C++ and as text.

enum class color : std::uint8_t { red, green, blue = 100 };
enum class rights_of : std::uint32_t { read = 1, write = 2 };

struct painted {
    std::uint16_t port;
    color old_color;
    std::optional<color> new_color;
    std::string_view who;
    std::array<std::uint64_t, 3> sizes;
    rights_of rights;
    eventlog::ipv6_address from;
    std::optional<std::string_view> why;
    double share;
};
struct cleaned {};

constexpr eventlog::keyword paint{5, "paint"};
using painter = eventlog::provider<"painter", painted, cleaned>;

}  // namespace

template <>
inline constexpr eventlog::enum_info eventlog::enum_info_of<rights_of>{.is_bitmask = true};

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<painted>{
    .level = eventlog::level::verbose,
    .keywords = paint,
    .description = "A wall was \"painted\"\n\x01",
    .when = "it is dry",
    .kind = eventlog::kind::gauge,
    .oversize = eventlog::oversize::truncate,
    .fields = {{.member = "port", .unit = "p", .description = "of the wall"},
               {.member = "sizes", .format = eventlog::format::duration}},
    .file = "../include/painted.hpp",
    .line = 30};

template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<painter>{
    .description = "Paints",
    .keywords = {paint},
    .file = "/src/paint\"er\".cpp",
    .line = 4294967295};

namespace {

constexpr std::string_view painter_text =
    R"(provider painter "Paints" at "paint\"er\".cpp":4294967295 {
    keyword paint = 5

    enum color : u8 {
        red = 0,
        green = 1,
        blue = 100,
    }

    flags rights_of : u32 {
        read = 0x1,
        write = 0x2,
    }

    event painted verbose gauge truncates [paint] "A wall was \"painted\"\n\x01" when "it is dry" at "painted.hpp":30 {
        port: u16 unit "p" "of the wall"
        old_color: color
        new_color: color?
        who: text
        sizes: u64[3] format duration
        rights: rights_of
        from: ip6
        why: text?
        share: f64
    }

    event cleaned info {}
}
)";

provider_schema schema_of_compiler() {
    const auto& bytes = painter::schema();
    return provider_schema::parse({bytes.data(), bytes.size()});
}

TEST(schema_text, matches_bytes_generated_from_structs) {
    EXPECT_EQ(parse(painter_text).binary, schema_of_compiler().binary);
    EXPECT_EQ(parse(painter_text).hash, schema_of_compiler().hash);
}

TEST(schema_text, is_written_in_canonical_form) {
    EXPECT_EQ(write_schema_text(schema_of_compiler()), painter_text);
}

TEST(schema_text, has_level_info_by_default) {
    EXPECT_EQ(
        parse("provider p { event a gauge { v: u64 } event b truncates { t: text } event c {} }")
            .binary,
        parse("provider p { event a info gauge { v: u64 } event b info truncates { t: text } "
              "event c info {} }")
            .binary);
}

TEST(schema_text, accepts_any_whitespace_and_comments) {
    std::string dense;
    for (const char c : painter_text) {
        dense += c == '\n' ? ' ' : c;
    }
    dense = "# a comment: \"\n\t" + dense + "\r\n# another";
    EXPECT_EQ(parse(dense).binary, parse(painter_text).binary);
}

TEST(schema_text, accepts_commas_behind_fields) {
    EXPECT_EQ(parse("provider p { event e { a: u8 unit \"B\", b: text?, c: u8[2] } }").binary,
              parse("provider p { event e { a: u8 unit \"B\" b: text? c: u8[2] } }").binary);
    EXPECT_EQ(parse("provider p { event e { a: u8, } }").binary,
              parse("provider p { event e { a: u8 } }").binary);
}

TEST(schema_text, accepts_language_keywords_as_names) {
    const provider_schema schema = parse(
        provider("event event info { format: u16 unit: u8 when: text event: u8 format decimal }"));
    EXPECT_EQ(schema.events.at(0).name, "event");
    ASSERT_EQ(schema.events.at(0).fields.size(), 4U);
    EXPECT_EQ(schema.events.at(0).fields[1].name, "unit");
    EXPECT_EQ(schema.events.at(0).fields[3].format, eventlog::format::decimal);
}

TEST(schema_text, writes_negative_and_large_values) {
    const provider_schema schema =
        parse(provider("enum s : i64 { least = -9223372036854775808, most = 0x7fffffffffffffff }\n"
                       "enum u : u64 { all = 18446744073709551615 }\n"
                       "event e info { a: s b: u }"));
    EXPECT_EQ(schema.enumerations[0].values[0].first, 0x8000000000000000U);
    EXPECT_EQ(schema.enumerations[0].values[1].first, 0x7fffffffffffffffU);
    EXPECT_EQ(schema.enumerations[1].values[0].first, 0xffffffffffffffffU);
    EXPECT_EQ(parse(write_schema_text(schema)).binary, schema.binary);
}

TEST(schema_text, keeps_enumerations_of_several_types_and_unused_ones) {
    const provider_schema schema =
        parse(provider("enum a : u8 { x = 1 }\nenum b : i32 { y = -1 }\nenum c : u8 {}\n"
                       "event e info { f: u16 as a[2]? g: a }"));
    EXPECT_EQ(schema.events[0].fields[0].type, eventlog::field_type::unsigned_16);
    EXPECT_EQ(schema.events[0].fields[0].enumeration, 0U);
    EXPECT_EQ(schema.events[0].fields[1].type, eventlog::field_type::unsigned_8);
    EXPECT_EQ(parse(write_schema_text(schema)).binary, schema.binary);
}

TEST(schema_text, starts_with_session) {
    const provider_schema schema =
        parse(provider("event e info session { session: u64 name: text }"));
    EXPECT_TRUE(schema.events[0].session_bound);
    EXPECT_EQ(provider_schema::parse(schema.binary).events[0].fields[0].offset, 0U);
}

TEST(schema_text, warns_if_binary_form_reorders_fields) {
    provider_schema schema = parse(provider("event e info { a: u8 b: u8 }"));
    std::swap(schema.events[0].fields[0].offset, schema.events[0].fields[1].offset);
    elog::write_binary(schema);
    const provider_schema read = provider_schema::parse(schema.binary);
    EXPECT_EQ(write_schema_text(read).substr(0, 60),
              "# This text does not give the same schema when it is read, a");
}

TEST(schema_text, warns_of_unknown_attributes) {
    const provider_schema schema = parse(provider("event e info { a: u8 }"));
    std::vector<std::uint8_t> binary = schema.binary;
    eventlog::test::add_attribute(binary, 1, {200, {1, 2, 3}});
    const std::string one = write_schema_text(provider_schema::parse(binary));
    EXPECT_NE(one.find("# from it: An attribute of a kind that this version does not know is "
                       "missing. Update elog.\nprovider p {\n"),
              std::string::npos)
        << one;
    eventlog::test::add_attribute(binary, 0, {200, {}});
    const provider_schema read = provider_schema::parse(binary);
    EXPECT_EQ(read.unknown_attributes, 2U);
    EXPECT_EQ(read.events[0].fields[0].name, "a");
    EXPECT_NE(write_schema_text(read).find("2 attributes of a kind that this version does not know "
                                           "are missing."),
              std::string::npos);
}

TEST(schema_text, without_sources_differs_in_nothing_else) {
    provider_schema schema = parse(painter_text);
    EXPECT_EQ(schema.source.line, 4294967295U);
    EXPECT_EQ(schema.events[0].source.file, "painted.hpp");
    elog::remove_sources(schema);
    std::string expected(painter_text);
    for (const std::string_view place :
         {R"( at "paint\"er\".cpp":4294967295)", R"( at "painted.hpp":30)"}) {
        expected.erase(expected.find(place), place.size());
    }
    EXPECT_EQ(write_schema_text(provider_schema::parse(schema.binary)), expected);
}

// Constructs of C++ providers that the text form distinguishes.
namespace door {
enum class state : std::uint8_t { open, shut };
}
namespace lamp {
enum class state : std::uint16_t { off = 1, on = 256 };
enum class state_2 : std::uint8_t { dim };
}  // namespace lamp
enum class u8 : std::uint8_t { none };

struct evening {
    door::state front;
    lamp::state kitchen;
    lamp::state_2 hall;
    u8 left;
    std::array<lamp::state, 2> others;
};
using house = eventlog::provider<"house", evening>;

TEST(schema_text, distinguishes_enumerations_of_one_name) {
    const auto& bytes = house::schema();
    const provider_schema schema = provider_schema::parse({bytes.data(), bytes.size()});
    const std::string text = write_schema_text(schema);
    EXPECT_EQ(text, R"(provider house {

    enum state : u8 {
        open = 0,
        shut = 1,
    }

    enum state_3 called state : u16 {
        off = 1,
        on = 256,
    }

    enum state_2 : u8 {
        dim = 0,
    }

    enum u8_2 called u8 : u8 {
        none = 0,
    }

    event evening info {
        front: state
        kitchen: state_3
        hall: state_2
        left: u8_2
        others: state_3[2]
    }
}
)");
    EXPECT_EQ(parse(text).binary, schema.binary);
}

TEST(schema_text, distinguishes_enumerations_of_maximum_name_length) {
    const std::string name(63, 'n');
    provider_schema schema = parse(provider(
        fmt::format("enum {} : u8 {{}}\nenum b : u8 {{}}\nevent e info {{ f: b }}", name)));
    schema.enumerations[1].name = name;
    elog::write_binary(schema);
    EXPECT_EQ(parse(write_schema_text(schema)).binary, schema.binary);
}

TEST(schema_text, accepts_called_as_a_name) {
    const provider_schema schema =
        parse(provider("enum called called b : u8 {}\nevent e info { f: called }"));
    EXPECT_EQ(schema.enumerations[0].name, "b");
    EXPECT_EQ(schema.events[0].fields[0].enumeration, 0U);
}

struct schema_error {
    std::string_view text;
    std::string_view rejection;  // the start of the error text
};

class schema_text_error : public testing::TestWithParam<schema_error> {};

TEST_P(schema_text_error, is_reported_with_position_and_reason) {
    const std::string said = rejection(GetParam().text);
    EXPECT_EQ(said.substr(0, GetParam().rejection.size()), GetParam().rejection) << GetParam().text;
    EXPECT_TRUE(said.ends_with('.')) << said;
}

constexpr schema_error schema_errors[] = {
    {"", "x.schema:1:1: A schema begins with: provider NAME {, not with the end of the file"},
    {"tcp {", "x.schema:1:1: A schema begins with"},
    {"provider 7", "x.schema:1:10: There must be the name of the provider, not the number 7"},
    {"provider p", "x.schema:1:11: There must be a '{' behind the provider"},
    {"provider p {", "x.schema:1:13: A provider has: keyword"},
    {"provider p {}", "x.schema:1:13: A provider needs at least one event"},
    {"provider p { event e info {} }\n provider", "x.schema:2:2: A file holds one provider"},
    {"provider p {\n  evnt e", "x.schema:2:3: A provider has: keyword, enum, flags, event"},
    {"provider p { ; }", "x.schema:1:14: ';' means nothing here"},
    {"provider p \"a", "x.schema:1:12: The text is not closed in its line"},
    {R"(provider p "\q")", "x.schema:1:13: A backslash stands in front of"},
    {R"(provider p "\x4")", "x.schema:1:13: \\x needs two hexadecimal digits"},
    {"provider p \"\a\"", "x.schema:1:13: Byte 0x07 is no character"},
    {"provider p # \xff", "x.schema:1:14: Byte 0xff is no character"},
    {"provider p \"\xc3\xa9\" \xe2\x80\xae", "x.schema:1:16: Byte 0xe2 is no character"},
    {"provider p { keyword a = 64", "x.schema:1:26: The bit of a keyword is 0 to 63"},
    {"provider p { keyword a = -1", "x.schema:1:26: The bit of a keyword is 0 to 63"},
    {"provider p { keyword a = b", "x.schema:1:26: There must be the keyword's bit"},
    {"provider p { keyword a 1", "x.schema:1:24: There must be a '='"},
    {"provider p { keyword a = 1 keyword a = 2", "x.schema:1:36: There is a keyword called a"},
    {"provider p { keyword a = 1 keyword b = 1", "x.schema:1:40: Bit 1 is that of the keyword a"},
    {"provider p { enum a { x = 1", "x.schema:1:21: There must be a ':'"},
    {"provider p { enum a : f32", "x.schema:1:23: An enumeration's type is i8"},
    {"provider p { enum u8 : u8", "x.schema:1:19: u8 is the name of a type"},
    {"provider p { enum a called : u8", "x.schema:1:28: There must be the name of the enumeration"},
    {"provider p { enum a called b : u8 {} event e info { a: b",
     "x.schema:1:56: A field's type is"},
    {"provider p { enum a : u8 { x }", "x.schema:1:30: There must be a '='"},
    {"provider p { enum a : u8 { x = 256", "x.schema:1:32: 256 does not fit u8"},
    {"provider p { enum a : u8 { x = -1", "x.schema:1:32: -1 does not fit u8"},
    {"provider p { enum a : i8 { x = -129", "x.schema:1:32: -129 does not fit i8"},
    {"provider p { enum a : i8 { x = 128", "x.schema:1:32: 128 does not fit i8"},
    {"provider p { enum a : u64 { x = 18446744073709551616",
     "x.schema:1:33: The number does not fit 64 bits"},
    {"provider p { enum a : u8 { x = 1 y = 2", "x.schema:1:34: Between values stands a ','"},
    {"provider p { enum a : u8 { x = 1, y = 1", "x.schema:1:39: Another name has this value"},
    {"provider p { enum a : u8 { x = 1, x = 2", "x.schema:1:35: There is a value of this"},
    {"provider p { enum a : u8 {} flags a", "x.schema:1:35: There is an enumeration called a"},
    {"provider p { enum a : u8 { x = 12z", "x.schema:1:34: 'z' does not belong into a number"},
    {"provider p { enum a : u8 { x = 0x", "x.schema:1:32: A number needs digits"},
    {"provider p { event e gauge info {", "x.schema:1:28: Behind the name of an event stand"},
    {"provider p { event e loud", "x.schema:1:22: Behind the name of an event stand"},
    {"provider p { event e info truncates session {", "x.schema:1:37: Behind the name of an event"},
    {"provider p { event e info [x]", "x.schema:1:28: There is no keyword x above"},
    {"provider p { keyword x = 1 event e info [x, x]", "x.schema:1:45: The event has the keyword"},
    {"provider p { event e info when {", "x.schema:1:32: There must be when the event is logged"},
    {"provider p at {", "x.schema:1:15: There must be the file that declares it in double quotes"},
    {R"(provider p at "" {)", "x.schema:1:15: The name of the file is empty"},
    {R"(provider p at "a" 7 {)", "x.schema:1:19: There must be a ':' between a file and its line"},
    {R"(provider p at "a": {)", "x.schema:1:20: There must be the line in the file"},
    {R"(provider p at "a":0 {)", "x.schema:1:19: The line in a file is 1 to 4294967295"},
    {R"(provider p at "a":-1 {)", "x.schema:1:19: The line in a file is 1 to 4294967295"},
    {R"(provider p at "a":4294967296 {)", "x.schema:1:19: The line in a file is 1 to 42949"},
    {R"(provider p at "a":1 "d" {)", "x.schema:1:21: There must be a '{' behind the provider"},
    {R"(provider p { event e at "a":1 when "b" {)", "x.schema:1:31: Behind the name of an event"},
    {"provider p { event e info {} event e", "x.schema:1:36: There is an event called e already"},
    {"provider p { event e info session {}", "x.schema:1:36: The first field of an event that"},
    {"provider p { event e info session { a: u32 }", "x.schema:1:37: The first field of an event"},
    {"provider p { event e info session { a: u64? }", "x.schema:1:37: The first field of an event"},
    {"provider p { event e info { a u8", "x.schema:1:31: There must be a ':'"},
    {"provider p { event e info { a: u9", "x.schema:1:32: A field's type is bool, char, i8"},
    {"provider p { event e info { a: u8 a: u8", "x.schema:1:35: There is a field called a"},
    {"provider p { event e info { a: u8[1]", "x.schema:1:35: An array has 2 to 65520 elements"},
    {"provider p { event e info { a: u8[65521]", "x.schema:1:35: An array has 2 to 65520"},
    {"provider p { event e info { a: text[2]", "x.schema:1:36: There are no arrays of text"},
    {"provider p { event e info { a: mac[2]", "x.schema:1:35: There are no arrays of text"},
    {"provider p { event e info { a: u8 as b", "x.schema:1:38: There is no enumeration b above"},
    {"provider p { enum b : u16 { x = 256 } event e info { a: u8 as b",
     "x.schema:1:63: The value x of the enumeration b does not fit u8"},
    {"provider p { enum b : u8 {} event e info { a: text as b", "x.schema:1:47: Only an integer"},
    {"provider p { enum b : u8 {} event e info { a: ip4 as b", "x.schema:1:47: Only an integer"},
    {"provider p { event e info { a: u8 format ip", "x.schema:1:42: A format is plain, decimal"},
    {"provider p { event e info { a: u8 format duration",
     "x.schema:1:42: The format duration does"},
    {"provider p { event e info { a: ip4 format decimal", "x.schema:1:43: The format decimal does"},
    {"provider p { event e info { a: u8 unit 7", "x.schema:1:40: There must be a unit in double"},
    {R"(provider p { event e info { a: text unit "B" } })",
     "x.schema:1:37: Only numbers have a unit, and a is none"},
    {R"(provider p { event e info { a: bytes? unit "B" } })", "x.schema:1:39: Only numbers have"},
    {R"(provider p { event e info { a: bool unit "B" } })", "x.schema:1:37: Only numbers have a"},
    {R"(provider p { event e info { a: char[2] unit "B" } })", "x.schema:1:40: Only numbers have"},
    {R"(provider p { event e info { a: u8 "d" unit "B")", "x.schema:1:39: Behind a field's type"},
    {"provider p { event e info { a: u8 optional", "x.schema:1:35: Behind a field's type"},
    {"provider p { event e info { , a: u8 } }", "x.schema:1:29: "},
    {"provider p { event e info { a: u8,, b: u8 } }", "x.schema:1:35: "},
    {"provider p { event e info { a: u64[8000] b: u64[8000] } }",
     "x.schema:1:20: The fields of this event take 128000 bytes"},
};
INSTANTIATE_TEST_SUITE_P(all, schema_text_error, testing::ValuesIn(schema_errors));

TEST(schema_text, is_rejected_at_first_item_above_each_limit) {
    const std::string name(64, 'n');
    EXPECT_EQ(rejection("provider " + name).substr(0, 15), "x.schema:1:10: ");
    const std::string text(256, 't');
    EXPECT_EQ(rejection("provider p \"" + text).substr(0, 15), "x.schema:1:12: ");
    EXPECT_EQ(rejection("provider p \"" + text + '"'),
              "x.schema:1:12: The text has 256 bytes; up to 255 are allowed.");

    std::string fields;
    for (int i = 0; i < 101; ++i) {
        fields += fmt::format("\nf{}: u8", i);
    }
    EXPECT_EQ(rejection(provider("event e info {" + fields + "}")),
              "x.schema:103:1: An event has up to 100 fields. Split it in two.");

    std::string events;
    for (int i = 0; i < 1025; ++i) {
        events += fmt::format("event e{} info {{}}\n", i);
    }
    EXPECT_EQ(rejection(provider(events)),
              "x.schema:1026:7: A provider has up to 1024 events. Split it in two.");

    std::string enumerations;
    for (int i = 0; i < 1025; ++i) {
        enumerations += fmt::format("enum e{} : u8 {{}}\n", i);
    }
    EXPECT_EQ(rejection(provider(enumerations)),
              "x.schema:1026:6: A provider has up to 1024 enumerations. Split it in two.");

    std::string values;
    for (int i = 0; i < 65'536; ++i) {
        values += fmt::format("v{0} = {0},\n", i);
    }
    EXPECT_EQ(rejection(provider("enum e : u32 {\n" + values + "}")),
              "x.schema:65538:10: An enumeration has up to 65535 values.");

    std::string large;
    for (int i = 0; i < 1000; ++i) {
        large +=
            fmt::format("event e{} info {{ a: u8 \"{}\" b: u8 \"{}\" c: u8 \"{}\" d: u8 \"{}\" "
                        "e: u8 \"{}\" }}\n",
                        i, std::string(250, 'd'), std::string(250, 'd'), std::string(250, 'd'),
                        std::string(250, 'd'), std::string(250, 'd'));
    }
    EXPECT_EQ(rejection(provider(large)).substr(0, 32), "x.schema:1:1: The schema takes 1");
}

TEST(schema_text, truncated_anywhere_is_rejected_or_complete) {
    for (std::size_t size = 0; size + 2 < painter_text.size(); ++size) {
        EXPECT_NE(rejection(painter_text.substr(0, size)), "") << size;
    }
}

}  // namespace
