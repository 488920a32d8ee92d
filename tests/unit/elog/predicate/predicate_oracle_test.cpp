// SPDX-License-Identifier: MIT
//
// Random predicates on random records against a slow and simple evaluator: it walks a tree of its
// own, decodes each field as printing does, and has three truth values.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "independent_pattern.hpp"
#include "predicate/record_filter.hpp"
#include "random_source.hpp"
#include "record_builder.hpp"
#include "schema/decode.hpp"
#include "text/wide_integer.hpp"

namespace {

using eventlog::test::random_source;
using eventlog::test::record_builder;
using eventlog::test::test_record;
using truth = std::optional<bool>;  // no value: unknown

constexpr std::string_view schema = R"(
provider p {
    enum color : u8 { red = 0, green = 1, blue = 5 }
    event first info {
        small: u8  large: u64  debt: i32  far: i64  share: f64  lit: bool  name: text
        shade: color  row: i16[2]  maybe: u32?  title: text?  peer: ip4
    }
    event second warn { large: u64  name: text  debt: i32? }
}
)";

struct operation {
    const char* text;
    bool less, equal, greater;
};
const std::vector<operation> operations{{"==", false, true, false}, {"!=", true, false, true},
                                        {"<", true, false, false},  {"<=", true, true, false},
                                        {">", false, false, true},  {">=", false, true, true}};

/// A condition: its text, and its truth for a record.
struct condition {
    virtual ~condition() = default;
    [[nodiscard]] virtual std::string text() const = 0;
    [[nodiscard]] virtual truth of(const elog::event_schema& event,
                                   const elog::record_view& record) const = 0;
};
using condition_pointer = std::unique_ptr<condition>;

elog::field_value value_of(std::string_view name, std::size_t index,
                           const elog::event_schema& event, const elog::record_view& record) {
    for (const elog::field_schema& field : event.fields) {
        if (field.name == name) {
            const elog::field_value whole = elog::decode_field(field, record.payload);
            return std::holds_alternative<elog::array_value>(whole)
                       ? elog::decode_element(field, index, record.payload)
                       : whole;
        }
    }
    return elog::absent_value{};
}

/// Exact for numbers with at most one decimal digit: in tenths.
std::optional<elog::wide_integer> tenths_of(const elog::field_value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        return static_cast<elog::wide_integer>(*number) * 10;
    }
    if (const auto* number = std::get_if<std::uint64_t>(&value)) {
        return static_cast<elog::wide_integer>(*number) * 10;
    }
    return std::nullopt;
}

struct number_condition : condition {
    std::string field;
    std::size_t index = 0;
    bool is_element = false;
    operation how{};
    std::int64_t tenths = 0;

    [[nodiscard]] std::string text() const override {
        const std::int64_t size = tenths < 0 ? -tenths : tenths;
        std::string number = fmt::format("{}{}", tenths < 0 ? "-" : "", size / 10);
        if (size % 10 != 0) {
            number += fmt::format(".{}", size % 10);
        }
        const std::string name = is_element ? fmt::format("{}[{}]", field, index) : field;
        return fmt::format("{} {} {}", name, how.text, number);
    }
    [[nodiscard]] truth of(const elog::event_schema& event,
                           const elog::record_view& record) const override {
        const elog::field_value value = value_of(field, index, event, record);
        if (const auto* number = std::get_if<double>(&value)) {
            const double other = static_cast<double>(tenths) / 10;
            return (*number < other && how.less) || (*number == other && how.equal) ||
                   (*number > other && how.greater);
        }
        const auto number = tenths_of(value);
        if (!number) {
            return std::nullopt;
        }
        return *number < tenths ? how.less : *number > tenths ? how.greater : how.equal;
    }
};

struct text_condition : condition {
    std::string field;
    std::string_view pattern;
    bool is_pattern = false;
    bool negated = false;

    [[nodiscard]] std::string text() const override {
        return fmt::format("{} {} \"{}\"", field,
                           is_pattern ? (negated ? "!~" : "~") : (negated ? "!=" : "=="), pattern);
    }
    [[nodiscard]] truth of(const elog::event_schema& event,
                           const elog::record_view& record) const override {
        const elog::field_value value = value_of(field, 0, event, record);
        const auto* found = std::get_if<std::string_view>(&value);
        if (found == nullptr) {
            return std::nullopt;
        }
        const bool result =
            is_pattern ? eventlog::test::matches_independently(pattern, *found) : *found == pattern;
        return result != negated;
    }
};

/// Bools, enumerators, presence and event names, each with its own rule.
struct other_condition : condition {
    enum class form { lit, shade, has, event } is = form::lit;
    std::string name;
    std::uint64_t number = 0;
    operation how{};

    [[nodiscard]] std::string text() const override {
        switch (is) {
            case form::lit:
                return "lit";
            case form::shade:
                return fmt::format("shade {} {}", how.text, name);
            case form::has:
                return fmt::format("has({})", name);
            case form::event:
                return fmt::format("event == \"{}\"", name);
        }
        return {};
    }
    [[nodiscard]] truth of(const elog::event_schema& event,
                           const elog::record_view& record) const override {
        if (is == form::event) {
            return event.name == name;
        }
        const std::string_view field = is == form::lit     ? "lit"
                                       : is == form::shade ? "shade"
                                                           : std::string_view(name);
        const elog::field_value value = value_of(field, 0, event, record);
        const bool absent = std::holds_alternative<elog::absent_value>(value) ||
                            std::holds_alternative<elog::null_text>(value);
        if (is == form::has) {
            return !absent;
        }
        if (absent) {
            return std::nullopt;
        }
        if (is == form::lit) {
            return std::get<bool>(value);
        }
        const std::uint64_t found = std::get<std::uint64_t>(value);
        return found < number ? how.less : found > number ? how.greater : how.equal;
    }
};

struct negation : condition {
    condition_pointer inner;
    [[nodiscard]] std::string text() const override { return "!(" + inner->text() + ")"; }
    [[nodiscard]] truth of(const elog::event_schema& event,
                           const elog::record_view& record) const override {
        const truth value = inner->of(event, record);
        return value ? truth(!*value) : value;
    }
};

struct connection : condition {
    bool all = false;
    std::vector<condition_pointer> parts;
    [[nodiscard]] std::string text() const override {
        std::string joined;
        for (const condition_pointer& part : parts) {
            const auto* inner = dynamic_cast<const connection*>(part.get());
            // && binds more tightly: only a || inside of it needs parentheses.
            const bool needs = inner != nullptr && (all || inner->all == all);
            joined += joined.empty() ? "" : all ? " && " : " || ";
            joined += needs ? "(" + part->text() + ")" : part->text();
        }
        return joined;
    }
    [[nodiscard]] truth of(const elog::event_schema& event,
                           const elog::record_view& record) const override {
        bool any_unknown = false;
        for (const condition_pointer& part : parts) {
            const truth value = part->of(event, record);
            if (value && *value != all) {
                return !all;
            }
            any_unknown = any_unknown || !value;
        }
        return any_unknown ? std::nullopt : truth(all);
    }
};

condition_pointer make_leaf(random_source& random) {
    const std::vector<std::string> texts{"name", "title"};
    const std::size_t kind = random.below(10);
    if (kind < 5) {
        auto made = std::make_unique<number_condition>();
        made->field =
            random.pick<std::string>({"small", "large", "debt", "far", "share", "row", "maybe"});
        made->is_element = made->field == "row";
        made->index = random.below(2);
        made->how = random.pick(operations);
        made->tenths = random.pick<std::int64_t>(
            {0, 10, -10, 5, -5, 15, 20, 30, -35, 2550, 25500, 999999999990});
        return made;
    }
    if (kind < 7) {
        auto made = std::make_unique<text_condition>();
        made->field = random.pick(texts);
        made->pattern =
            random.pick<std::string_view>({"", "a", "ab", "a*", "*b", "?", "b", "?b", "\xc3\xa4*"});
        made->is_pattern = random.below(2) == 0;
        made->negated = random.below(2) == 0;
        return made;
    }
    auto made = std::make_unique<other_condition>();
    made->is = static_cast<other_condition::form>(random.below(4));
    made->how = random.pick(operations);
    if (made->is == other_condition::form::shade) {
        made->number = random.pick<std::uint64_t>({0, 1, 5});
        made->name = made->number == 0 ? "red" : made->number == 1 ? "green" : "blue";
    } else if (made->is == other_condition::form::has) {
        made->name = random.pick<std::string>({"small", "maybe", "title", "name", "debt", "row"});
    } else {
        made->name = random.pick<std::string>({"first", "second", "third"});
    }
    return made;
}

condition_pointer make_condition(random_source& random, std::size_t depth) {
    const std::size_t kind = depth == 0 ? 0 : random.below(4);
    if (kind == 0) {
        return make_leaf(random);
    }
    if (kind == 1) {
        auto made = std::make_unique<negation>();
        made->inner = make_condition(random, depth - 1);
        return made;
    }
    auto made = std::make_unique<connection>();
    made->all = kind == 2;
    const std::size_t count = 2 + random.below(3);
    while (made->parts.size() < count) {
        made->parts.push_back(make_condition(random, depth - 1));
    }
    return made;
}

test_record make_record(random_source& random, const record_builder& maker) {
    const auto set_text = [&](test_record& made, const char* field) {
        made.set_text(field, random.pick<const char*>(
                                 {nullptr, "", "a", "b", "ab", "abc", "\xc3\xa4", "\303\244b"}));
    };
    const std::vector<std::int64_t> numbers{-1, 0, 1, 2, 3, -4};
    if (random.below(4) == 0) {
        test_record made = maker.record("second");
        made.set("large", random.pick<std::uint64_t>({0, 1, 2, 255, ~std::uint64_t{0}}));
        set_text(made, "name");
        if (random.below(2) == 0) {
            made.set("debt", random.pick(numbers));
        }
        return made;
    }
    test_record made = maker.record("first");
    made.set("small", random.pick<std::uint64_t>({0, 1, 2, 255}));
    made.set("large", random.pick<std::uint64_t>({0, 1, 2550, 99999999999, ~std::uint64_t{0}}));
    made.set("debt", random.pick(numbers));
    made.set("far", random.pick<std::int64_t>({INT64_MIN, -1, 0, 1, INT64_MAX}));
    made.set("share", random.pick<double>({-3.5, 0.0, 0.5, 1.5, 255.0}));
    made.set("lit", std::uint64_t{random.below(2)});
    made.set("shade", random.pick<std::uint64_t>({0, 1, 3, 5}));
    const auto low = static_cast<std::uint8_t>(random.below(3));
    made.set_bytes("row", {low, 0, 0xff, 0xff});
    set_text(made, "name");
    if (random.below(2) == 0) {
        made.set("maybe", random.pick<std::uint64_t>({0, 1, 3}));
    }
    if (random.below(2) == 0) {
        set_text(made, "title");
    }
    return made;
}

TEST(predicate_oracle, agrees_on_random_predicates_and_records) {
    const record_builder maker(schema, "tester", 1);
    random_source random(20261121);
    std::size_t matched = 0;
    constexpr std::size_t predicates = 2000;
    constexpr std::size_t records = 50;
    for (std::size_t i = 0; i < predicates; ++i) {
        const condition_pointer wanted = make_condition(random, 1 + random.below(4));
        const std::string text = wanted->text();
        if (text.size() > elog::expression_size_max) {
            continue;
        }
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(maker.provider());
        for (std::size_t j = 0; j < records; ++j) {
            const test_record made = make_record(random, maker);
            const elog::record_view record = made.view();
            const elog::event_schema& event = maker.provider().schema.events[record.event];
            const bool expected = wanted->of(event, record).value_or(false);
            matched += expected ? 1U : 0U;
            ASSERT_EQ(filter.matches(record, record_builder::clock()), expected)
                << text << "\nrecord " << j << " of " << event.name;
        }
    }
    // The predicates neither always match nor never.
    EXPECT_GT(matched, predicates * records / 10);
    EXPECT_LT(matched, predicates * records * 9 / 10);
}

}  // namespace
