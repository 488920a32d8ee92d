// SPDX-License-Identifier: MIT
//
// The part of a predicate that becomes a trace event filter of the kernel, and its text.
// vm.pushed_predicates tests that a kernel gives it the same meaning.
#include "tracing/kernel_condition.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;

constexpr std::string_view schema = R"(
provider p {
    enum color : u8 { red = 0, green = 1, blue = 5 }
    event e info {
        tiny: u8  small: i8  amount: u32  debt: i32  large: u64  far: i64  lit: bool  share: f64
        word: text  letters: char[8] format characters  shade: color  row: u16[3]  maybe: u32?  letter: char
    }
}
)";

elog::kernel_condition condition(std::string_view text) {
    const record_builder maker(schema, "process", 4242);
    const elog::predicate wanted("test", text);
    std::vector<bool> known(wanted.nodes().size());
    const elog::event_schema& event = maker.provider().schema.events[0];
    std::vector<elog::kernel_field> fields;
    for (const elog::field_schema& field : event.fields) {
        fields.push_back({field.name, field.type, field.count, field.offset});
    }
    return elog::make_kernel_condition(
        elog::fold({wanted, 0, known, true}, maker.provider(), event), fields);
}

struct expectation {
    const char* predicate;
    const char* condition;
    bool is_whole;
};

void expect(const std::vector<expectation>& all) {
    for (const expectation& each : all) {
        const elog::kernel_condition found = condition(each.predicate);
        EXPECT_EQ(found.text, each.condition) << each.predicate;
        EXPECT_EQ(found.is_whole, each.is_whole) << each.predicate;
    }
}

TEST(kernel_condition, compares_integers) {
    expect({{"amount == 5", "amount == 5", true},
            {"amount != 5", "amount != 5", true},
            {"amount > 5", "amount >= 6", true},
            {"amount <= 5", "amount <= 5", true},
            {"!(amount <= 5)", "amount >= 6", true},
            {"5 < amount", "amount >= 6", true},
            {"debt < -3", "debt <= -4", true},
            {"debt != -3", "debt != -3", true},
            {"large == 18446744073709551615", "large == 18446744073709551615", true},
            {"far == -9223372036854775808", "far == -9223372036854775808", true},
            {"shade == blue", "shade == 5", true},
            {"amount > 1.5", "amount >= 2", true}});
}

TEST(kernel_condition, omits_tests_decided_by_type) {
    expect({{"tiny < 256", "", true},
            {"small > -129 || amount == 1", "", true},
            {"amount >= 0 && tiny == 3", "tiny == 3", true},
            {"tiny > 255 || amount == 1", "amount == 1", true},
            {"amount != 5000000000 && tiny == 3", "tiny == 3", true},
            {"small != 127", "small <= 126", true},
            {"tiny != 0", "tiny >= 1", true}});
}

TEST(kernel_condition, cannot_express_never) {
    expect({{"tiny > 255", "", false}, {"tiny > 255 && amount == 1", "", false}});
}

TEST(kernel_condition, compares_bools_with_zero) {
    expect({{"lit", "lit != 0", true},
            {"!lit", "lit == 0", true},
            {"lit == false", "lit == 0", true},
            {"lit != false", "lit != 0", true}});
}

TEST(kernel_condition, tests_bits) {
    expect({{"amount & 6", "amount & 6", true},
            {"!(amount & 6)", "!(amount & 6)", true},
            {"(amount & 6) == 6", "", false},
            {"far & 0x8000000000000000", "", false},
            {"small & 0x100", "", false}});
}

TEST(kernel_condition, compares_texts_for_equality) {
    expect({{R"(word == "it's")", "", false},
            {R"(word == "plain text")", R"(word == "plain text")", false},
            {R"(word != "plain")", "", false},
            {R"(!(word != "plain"))", R"(word == "plain")", false},
            {R"(word < "plain")", "", false},
            {R"(word ~ "pl*")", "", false},
            {R"(word == "a\\b")", "", false},
            {R"(word == "a\nb")", "", false},
            {R"(letters == "seven")", R"(letters == "seven")", true},
            {R"(letters == "fullsize")", R"(letters == "fullsize")", true},
            {R"(letters == "above size")", R"(letters == "above size")", false}});
}

TEST(kernel_condition, combines_conditions) {
    expect(
        {{"amount == 1 && tiny == 2 && debt == 3", "(amount == 1 && tiny == 2 && debt == 3)", true},
         {"amount == 1 || tiny == 2", "(amount == 1 || tiny == 2)", true},
         {"!(amount == 1 || tiny == 2)", "(amount != 1 && tiny != 2)", true},
         {"(amount == 1 || tiny == 2) && debt == 3", "((amount == 1 || tiny == 2) && debt == 3)",
          true},
         {"amount > 1 && amount < 9", "(amount >= 2 && amount <= 8)", true}});
}

TEST(kernel_condition, pushes_down_supported_part) {
    expect({{"share > 0.5 && amount == 1", "amount == 1", false},
            {"share > 0.5 || amount == 1", "", false},
            {"(share > 0.5 && tiny == 2) || amount == 1", "(tiny == 2 || amount == 1)", false},
            {"!(share > 0.5 || amount == 1)", "amount != 1", false},
            {"row[0] == 1 && amount == 1", "amount == 1", false},
            {"amount == debt && amount == 1", "amount == 1", false},
            {"letter == 'x' && amount == 1", "amount == 1", false}});
}

TEST(kernel_condition, treats_optional_fields_as_present) {
    expect(
        {{"maybe == 3", "maybe == 3", false}, {"has(maybe) && amount == 1", "amount == 1", false}});
}

TEST(kernel_condition, leaves_process_tests_to_consumer) {
    expect({{"pid == 1 && amount == 1", "amount == 1", false},
            {"!(pid == 4242) && amount == 1", "amount == 1", false},
            {R"(comm ~ "x*" || amount == 1)", "", false},
            {"uid == amount && amount == 1", "amount == 1", false},
            {"cpu == 0 && amount == 1", "amount == 1", false}});
}

TEST(kernel_condition, supports_thread_id_and_constants) {
    expect({{"tid == 77", "common_pid == 77", true},
            {"tid > 5 && level <= info", "common_pid >= 6", true},
            {R"(event == "e" && amount == 1)", "amount == 1", true},
            {"level < info || amount == 1", "amount == 1", true}});
}

TEST(kernel_condition, reports_unsupported_part_and_reason) {
    struct part {
        const char* predicate;
        std::size_t column;
        const char* reason;  // a part of the reason
    };
    for (const auto& [predicate, column, reason] :
         std::vector<part>{{"amount == 1 && share > 0.5", 16, "integers, bools and texts"},
                           {"amount == 1 && !(tiny == 2 || comm == \"x\")", 31, "it knows tid"},
                           {"(amount & 6) == 6", 2, "any of them is there"},
                           {"word == \"x\"", 1, "null pointer"},
                           {"word ~ \"x*\"", 1, "only for equality"},
                           {"maybe == 3 && share > 0.5", 1, "optional field"},
                           {"row[0] == 1", 1, "integers, bools and texts"},
                           {"tiny == 1 || amount == debt", 14, "integers, bools and texts"}}) {
        const elog::kernel_condition found = condition(predicate);
        EXPECT_FALSE(found.is_whole) << predicate;
        EXPECT_FALSE(found.never_matches) << predicate;
        EXPECT_EQ(found.column, column) << predicate;
        EXPECT_NE(found.reason.find(reason), std::string::npos) << predicate << found.reason;
    }
    const elog::kernel_condition whole = condition("amount == 1 || (tiny > 255 && share > 0.5)");
    EXPECT_TRUE(whole.is_whole);
    EXPECT_EQ(whole.reason, "");
    EXPECT_TRUE(condition("tiny > 255").never_matches);
    EXPECT_TRUE(condition("tiny > 255 && share > 0.5").never_matches);
    EXPECT_FALSE(condition("tiny < 256").never_matches);
}

TEST(kernel_condition, is_empty_if_too_long) {
    std::string text = "amount == 0";
    for (int i = 2; i < 200; i += 2) {
        text += " || amount == " + std::to_string(1'000'000'000 + i);
    }
    expect({{text.c_str(), "", false}});
}

TEST(kernel_condition, is_none_for_mismatched_types) {
    EXPECT_THROW(static_cast<void>(condition("word == 5")), elog::user_error);
}

}  // namespace
