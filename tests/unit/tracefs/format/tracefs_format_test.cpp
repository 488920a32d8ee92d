// SPDX-License-Identifier: MIT
//
// The kernel's event formats, and payloads converted from its records.
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "format/event_format.hpp"
#include "format/format_text.hpp"
#include "format/payload_plan.hpp"
#include "kernel/error.hpp"
#include "kernel/instance_name.hpp"
#include "kernel/kernel_text.hpp"

namespace {

using namespace eventlog::tracefs;
using eventlog::field_type;

constexpr std::string_view head =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/// As Linux 6.12 writes it, with a print format that calls functions.
std::string text_of(std::string_view name, std::string_view fields) {
    return "name: " + std::string(name) + "\nID: 413\nformat:\n" + std::string(head) +
           std::string(fields) +
           "\nprint fmt: \"x=%s\", __print_by_unknown_function(REC->x, ({ 1 })\n";
}

format_field only_field(std::string_view line) {
    const event_format format = parse_format(text_of("one", line), "user_events");
    EXPECT_EQ(format.fields.size(), 1U);
    return format.fields.at(0);
}

std::vector<std::uint8_t> record_of(std::initializer_list<std::uint32_t> words,
                                    std::string_view rest) {
    std::vector<std::uint8_t> record(common_size);
    for (const std::uint32_t word : words) {
        const std::size_t at = record.size();
        record.resize(at + sizeof word);
        std::memcpy(record.data() + at, &word, sizeof word);
    }
    record.insert(record.end(), rest.begin(), rest.end());
    return record;
}

TEST(tracefs_format, accepts_only_kernel_format) {
    constexpr std::string_view start = "ID: 1\nformat:\n";
    const auto is_taken = [&](std::string_view line) {
        return is_format_text(std::string(start) + std::string(line) + "\n\n");
    };
    EXPECT_TRUE(is_taken("\tfield:__data_loc const char *[] x;\toffset:8;\tsize:4;\tsigned:0;"));
    EXPECT_TRUE(is_taken("\tfield:u8 x[(16 + 1)];\toffset:8;\tsize:17;"));
    EXPECT_FALSE(is_taken("\tfield:u8 x[16;\toffset:8;\tsize:16;\tsigned:0;"));
    EXPECT_FALSE(is_taken("\tfield:u8;\toffset:8;\tsize:1;\tsigned:0;"));
    EXPECT_FALSE(is_taken("\tfield:u8 \"x\";\toffset:8;\tsize:1;\tsigned:0;"));
    EXPECT_FALSE(is_taken("\tfield:u8 x;\toffset:;\tsize:1;\tsigned:0;"));
    EXPECT_FALSE(is_taken("\tfield:u8 x;\toffset:8;\tsize:1;\tsigned:0"));
    EXPECT_FALSE(is_taken("\tfield:u8 x"));
    EXPECT_FALSE(is_format_text("ID: x\nformat:\n"));
    EXPECT_FALSE(is_format_text("ID: 1\n"));
}

TEST(tracefs_format, recognizes_event_of_sdk) {
    const event_format format = parse_format(
        text_of("eventlog_load_item", "\tfield:u64 number;\toffset:8;\tsize:8;\tsigned:0;\n"
                                      "\tfield:u32 amount;\toffset:16;\tsize:4;\tsigned:0;\n"
                                      "\tfield:__rel_loc char word[];\toffset:20;\tsize:4;"
                                      "\tsigned:1;\n"),
        "user_events");
    EXPECT_EQ(format.name, "eventlog_load_item");
    EXPECT_EQ(format.id, 413);
    ASSERT_EQ(format.fields.size(), 3U);
    EXPECT_EQ(format.fields[0].type, field_type::unsigned_64);
    EXPECT_EQ(format.fields[1].offset, 16U);
    EXPECT_EQ(format.fields[2].type, field_type::text);
    EXPECT_EQ(format.fields[2].where, location::rel_loc);
    EXPECT_EQ(format.fixed_size(), 24U);
}

TEST(tracefs_format, distinguishes_signed_and_unsigned) {
    EXPECT_EQ(only_field("\tfield:long x;\toffset:8;\tsize:8;\tsigned:1;\n").type,
              field_type::signed_64);
    EXPECT_EQ(only_field("\tfield:unsigned int x;\toffset:8;\tsize:4;\tsigned:0;\n").type,
              field_type::unsigned_32);
    EXPECT_EQ(only_field("\tfield:s8 x;\toffset:8;\tsize:1;\tsigned:1;\n").type,
              field_type::signed_8);
}

TEST(tracefs_format, distinguishes_texts_bytes_and_arrays) {
    const format_field name = only_field("\tfield:char x[16];\toffset:8;\tsize:16;\tsigned:0;\n");
    EXPECT_EQ(name.type, field_type::character);
    EXPECT_EQ(name.count, 16);
    const format_field numbers = only_field("\tfield:u16 x[4];\toffset:8;\tsize:8;\tsigned:0;\n");
    EXPECT_EQ(numbers.type, field_type::unsigned_16);
    EXPECT_EQ(numbers.count, 4);
    const format_field text =
        only_field("\tfield:__data_loc char[] x;\toffset:8;\tsize:4;\tsigned:1;\n");
    EXPECT_EQ(text.type, field_type::text);
    EXPECT_EQ(text.where, location::data_loc);
    EXPECT_EQ(only_field("\tfield:__rel_loc u8 x[];\toffset:8;\tsize:4;\tsigned:0;\n").type,
              field_type::bytes);
}

format_field dynamic_field(std::string_view type) {
    return only_field("\tfield:" + std::string(type) + " x;\toffset:8;\tsize:4;\tsigned:1;\n");
}

TEST(tracefs_format, recognizes_sequences_of_sdk) {
    const std::pair<std::string_view, field_type> types[] = {
        {"s8", field_type::signed_8},     {"s16", field_type::signed_16},
        {"s32", field_type::signed_32},   {"s64", field_type::signed_64},
        {"u16", field_type::unsigned_16}, {"u32", field_type::unsigned_32},
        {"u64", field_type::unsigned_64}, {"f32", field_type::float_32},
        {"f64", field_type::float_64},
    };
    for (const auto& [name, type] : types) {
        for (const auto& [prefix, where] : {std::pair("__rel_loc ", location::rel_loc),
                                            std::pair("__data_loc ", location::data_loc)}) {
            const format_field field = dynamic_field(prefix + std::string(name) + "[]");
            EXPECT_EQ(field.type, type) << name;
            EXPECT_EQ(field.count, 0) << name;
            EXPECT_EQ(field.where, where) << name;
            EXPECT_EQ(field.size, 4U) << name;
        }
    }
    // As Linux 6.12 writes it for user_events.
    const format_field behind =
        only_field("\tfield:__rel_loc u32 x[];\toffset:8;\tsize:4;\tsigned:1;\n");
    EXPECT_EQ(behind.type, field_type::unsigned_32);
    EXPECT_EQ(behind.count, 0);
}

TEST(tracefs_format, recognizes_dynamic_arrays_of_kernel) {
    const std::pair<std::string_view, field_type> types[] = {
        {"int", field_type::signed_32},
        {"unsigned int", field_type::unsigned_32},
        {"unsigned", field_type::unsigned_32},
        {"short", field_type::signed_16},
        {"unsigned short int", field_type::unsigned_16},
        {"long", field_type::signed_64},
        {"unsigned long", field_type::unsigned_64},
        {"unsigned long long", field_type::unsigned_64},
        {"signed char", field_type::signed_8},
        {"bool", field_type::boolean},
        {"__u32", field_type::unsigned_32},
        {"const u64", field_type::unsigned_64},
    };
    for (const auto& [name, type] : types) {
        const format_field field = dynamic_field("__data_loc " + std::string(name) + "[]");
        EXPECT_EQ(field.type, type) << name;
        EXPECT_EQ(field.count, 0) << name;
    }
}

TEST(tracefs_format, other_dynamic_arrays_are_bytes) {
    for (const std::string_view name :
         {"u8", "__u8", "unsigned char", "struct x", "struct x *", "void *", "u32 *", "enum y",
          "cpumask_t", "pid_t", "f16", "unsigned __u32", "struct u32x4", "u32x4", "const"}) {
        const format_field field = dynamic_field("__data_loc " + std::string(name) + "[]");
        EXPECT_EQ(field.type, field_type::bytes) << name;
        EXPECT_EQ(field.count, 1) << name;
    }
    // The rest of a record may include its padding.
    const format_field rest = only_field("\tfield:u32 x[];\toffset:8;\tsize:0;\tsigned:0;\n");
    EXPECT_EQ(rest.type, field_type::bytes);
    EXPECT_EQ(rest.count, 1);
}

TEST(tracefs_format, recognizes_structs_of_sdk) {
    EXPECT_EQ(only_field("\tfield:struct f64 x;\toffset:8;\tsize:8;\tsigned:0;\n").type,
              field_type::float_64);
    const format_field array =
        only_field("\tfield:struct u16x8 x;\toffset:8;\tsize:16;\tsigned:0;\n");
    EXPECT_EQ(array.type, field_type::unsigned_16);
    EXPECT_EQ(array.count, 8);
    // Other structs become bytes.
    const format_field other =
        only_field("\tfield:struct u16x9 x;\toffset:8;\tsize:16;\tsigned:0;\n");
    EXPECT_EQ(other.type, field_type::unsigned_8);
    EXPECT_EQ(other.count, 16);
}

TEST(tracefs_format, rejects_invalid_format) {
    EXPECT_THROW(static_cast<void>(parse_format("", "x")), error);
    EXPECT_THROW(static_cast<void>(parse_format("name: x\nID: 1\n", "x")), error);
    EXPECT_THROW(static_cast<void>(only_field("\tfield:u32 x;\toffset:0;\tsize:4;\tsigned:0;\n")),
                 error);
    EXPECT_THROW(
        static_cast<void>(only_field("\tfield:u8 x[70000];\toffset:8;\tsize:70000;\tsigned:0;\n")),
        error);
}

TEST(tracefs_payload, includes_field_up_to_end_of_record) {
    const event_format format =
        parse_format(text_of("print", "\tfield:u32 ip;\toffset:8;\tsize:4;\tsigned:0;\n"
                                      "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n"),
                     "ftrace");
    ASSERT_EQ(format.fields.size(), 2U);
    EXPECT_EQ(format.fields[1].type, field_type::text);
    const std::vector<std::uint16_t> offsets{0, 4};
    const payload_plan plan(format, offsets, 8);
    std::vector<std::uint8_t> payload;
    ASSERT_TRUE(plan.append(record_of({7}, std::string_view("hello\n\0\0", 8)), 100, payload));
    EXPECT_EQ(std::string(payload.begin() + 8, payload.end()), std::string("hello\n\0", 7));
    payload.clear();
    EXPECT_TRUE(plan.append(record_of({7}, ""), 100, payload));
    EXPECT_FALSE(plan.append(record_of({}, ""), 100, payload));
}

/// As in the kernel module's records: the text's word comes first; in the payload it comes last.
payload_plan plan_of_text_and_number() {
    const event_format format =
        parse_format(text_of("one", "\tfield:__data_loc char[] x;\toffset:8;\tsize:4;\tsigned:1;\n"
                                    "\tfield:u32 y;\toffset:12;\tsize:4;\tsigned:0;\n"),
                     "eventlog");
    const std::uint16_t offsets[] = {4, 0};
    return {format, offsets, 8};
}

TEST(tracefs_payload, places_texts_after_fixed_part) {
    const payload_plan plan = plan_of_text_and_number();
    std::vector<std::uint8_t> payload;
    // The padding after the text is not copied.
    ASSERT_TRUE(plan.append(record_of({4U << 16U | 16U, 7}, std::string_view("abc\0\0\0\0", 7)),
                            1000, payload));
    const std::vector<std::uint8_t> expected{7, 0, 0, 0, 0, 0, 4, 0, 'a', 'b', 'c', 0};
    EXPECT_EQ(payload, expected);
}

/// In the kernel module's records an empty location means no text. Locations of other records may
/// point to fixed fields.
TEST(tracefs_payload, has_no_text_for_empty_location) {
    const payload_plan plan = plan_of_text_and_number();
    const auto payload_of = [&](std::uint32_t word, std::string_view rest) {
        std::vector<std::uint8_t> payload;
        EXPECT_TRUE(plan.append(record_of({word, 7}, rest), 1000, payload));
        return payload;
    };
    using bytes = std::vector<std::uint8_t>;
    EXPECT_EQ(payload_of(1U << 16U | 11U, "abc"), (bytes{7, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(payload_of(2U << 16U | 12U, "abc"), (bytes{7, 0, 0, 0, 0, 0, 2, 0, 7, 0}));
    EXPECT_EQ(payload_of(1U << 16U | 16U, std::string_view("\0", 1)),
              (bytes{7, 0, 0, 0, 0, 0, 1, 0, 0}));
}

TEST(tracefs_payload, terminates_unterminated_text) {
    const event_format format =
        parse_format(text_of("one", "\tfield:__rel_loc char[] x;\toffset:8;\tsize:4;\tsigned:1;\n"),
                     "user_events");
    const std::uint16_t offsets[] = {0};
    const payload_plan plan(format, offsets, 4);
    std::vector<std::uint8_t> payload;
    ASSERT_TRUE(plan.append(record_of({2U << 16U}, "ab"), 1000, payload));
    const std::vector<std::uint8_t> expected{0, 0, 3, 0, 'a', 'b', 0};
    EXPECT_EQ(payload, expected);
    payload.clear();
    ASSERT_TRUE(plan.append(record_of({0}, ""), 1000, payload));  // null pointer
    EXPECT_EQ(payload, std::vector<std::uint8_t>(4));
}

/// The word of a sequence in the payload is followed by its elements, wherever they are in the
/// record.
TEST(tracefs_payload, places_sequences_after_fixed_part) {
    const event_format format =
        parse_format(text_of("one", "\tfield:__data_loc u16[] x;\toffset:8;\tsize:4;\tsigned:0;\n"
                                    "\tfield:__rel_loc f32[] y;\toffset:12;\tsize:4;\tsigned:1;\n"
                                    "\tfield:u32 z;\toffset:16;\tsize:4;\tsigned:0;\n"),
                     "eventlog");
    const std::uint16_t offsets[] = {0, 4, 8};
    const payload_plan plan(format, offsets, 12);
    const auto payload_of = [&](std::uint32_t x, std::uint32_t y, std::string_view rest) {
        std::vector<std::uint8_t> payload;
        EXPECT_TRUE(plan.append(record_of({x, y, 7}, rest), 1000, payload));
        return payload;
    };
    using bytes = std::vector<std::uint8_t>;
    EXPECT_EQ(payload_of(4U << 16U | 20U, 4U << 16U | 8U, "abcdwxyz"),
              (bytes{8, 0, 4, 0, 8, 0, 4, 0, 7, 0, 0, 0, 'a', 'b', 'c', 'd', 'w', 'x', 'y', 'z'}));
    // Empty, as the kernel module writes it: the location of no bytes in the word itself.
    EXPECT_EQ(payload_of(11U, 0, ""), (bytes{0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0}));
    // A part of an element stays; readers call the value damaged.
    EXPECT_EQ(payload_of(3U << 16U | 20U, 0, "abc"),
              (bytes{8, 0, 3, 0, 0, 0, 0, 0, 7, 0, 0, 0, 'a', 'b', 'c'}));
    // Unlike texts, whole elements of NUL stay.
    EXPECT_EQ(payload_of(2U << 16U | 20U, 0, std::string_view("\0\0", 2)),
              (bytes{8, 0, 2, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0}));
}

TEST(tracefs_payload, rejects_out_of_bounds_sequence) {
    const event_format format =
        parse_format(text_of("one", "\tfield:__rel_loc u32[] x;\toffset:8;\tsize:4;\tsigned:1;\n"),
                     "user_events");
    const std::uint16_t offsets[] = {0};
    const payload_plan plan(format, offsets, 4);
    std::vector<std::uint8_t> payload{1, 2, 3};
    EXPECT_FALSE(plan.append(record_of({8U << 16U}, "abcd"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({4U << 16U | 1U}, "abcd"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({4U << 16U | 0xffffU}, "abcd"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({0xfffcU << 16U}, "abcd"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({4U << 16U}, "abcd"), 7, payload));
    EXPECT_EQ(payload.size(), 3U);
    EXPECT_TRUE(plan.append(record_of({4U << 16U}, "abcd"), 8, payload));
}

TEST(tracefs_payload, rejects_out_of_bounds_location) {
    const event_format format =
        parse_format(text_of("one", "\tfield:__rel_loc char[] x;\toffset:8;\tsize:4;\tsigned:1;\n"),
                     "user_events");
    const std::uint16_t offsets[] = {0};
    const payload_plan plan(format, offsets, 4);
    std::vector<std::uint8_t> payload{1, 2, 3};
    EXPECT_FALSE(plan.append(record_of({3U << 16U}, "ab"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({1U << 16U | 0xffffU}, "ab"), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({}, ""), 1000, payload));
    EXPECT_FALSE(plan.append(record_of({2U << 16U}, "ab"), 5, payload));
    EXPECT_EQ(payload.size(), 3U);
}

TEST(tracefs_payload, size_is_bounded_by_record) {
    std::string fields;
    for (const char* line : {"a;\toffset:8", "b;\toffset:12", "c;\toffset:16", "d;\toffset:20"}) {
        fields += "\tfield:__data_loc char[] " + std::string(line) + ";\tsize:4;\tsigned:1;\n";
    }
    const event_format format = parse_format(text_of("many", fields), "sched");
    const std::vector<std::uint16_t> offsets{0, 4, 8, 12};
    const payload_plan plan(format, offsets, 16);
    const std::string text(30, 'x');
    std::vector<std::uint8_t> payload;
    constexpr std::uint32_t whole = 30U << 16U | 24U;
    EXPECT_FALSE(plan.append(record_of({whole, whole, whole, whole}, text), 1000, payload));
    EXPECT_EQ(payload.size(), 0U);
    constexpr std::uint32_t part = 7U << 16U;
    EXPECT_TRUE(plan.append(record_of({part | 24U, part | 31U, part | 38U, part | 45U}, text), 1000,
                            payload));
    EXPECT_EQ(payload.size(), 16U + 4 * 8);
}

TEST(tracefs_instance, is_named_after_owner) {
    eventlog::core::process_identity owner;
    owner.pid = 42;
    owner.start_time = 4711;
    owner.pid_namespace = 4026531836;
    const std::string name = instance_name(owner);
    const auto found = instance_owner(name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->pid, owner.pid);
    EXPECT_EQ(found->start_time, owner.start_time);
    EXPECT_EQ(found->pid_namespace, owner.pid_namespace);
}

TEST(tracefs_instance, of_other_owner_is_not_removed) {
    for (const char* name :
         {"", "eventlog", "eventlog-", "eventlog-1", "eventlog-1-2", "eventlog-1-2-3-4",
          "eventlog-1-2-", "eventlog-01-2-3", "eventlog--1-2-3",
          "eventlog-99999999999999999999-2-3", "mine-1-2-3"}) {
        EXPECT_FALSE(instance_owner(name).has_value()) << name;
    }
}

TEST(tracefs_text, finds_number_by_name) {
    constexpr std::string_view stats =
        "entries: 5\noverrun: 17\ncommit overrun: 3\nbytes: 52\noldest event ts:  1.2\n"
        "dropped events: 9\nread events: 1\n";
    EXPECT_EQ(find_number(stats, "overrun"), 17U);
    EXPECT_EQ(find_number(stats, "commit overrun"), 3U);
    EXPECT_EQ(find_number(stats, "dropped events"), 9U);
    EXPECT_EQ(find_number(stats, "missing"), 0U);
}

}  // namespace
