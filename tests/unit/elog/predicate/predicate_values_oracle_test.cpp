// SPDX-License-Identifier: MIT
//
// Random comparisons of field pairs, units, masks, addresses and times against rules of their own:
// numbers of 128 bits in a base unit, bits as C has them, addresses of 16 bytes, and the instants
// at which a clock on the wall shows a time.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "predicate/record_filter.hpp"
#include "random_source.hpp"
#include "record_builder.hpp"
#include "text/wide_integer.hpp"

namespace {

using elog::wide_integer;
using eventlog::test::random_source;
using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr int trials = 4000;

constexpr std::string_view schema = R"(
provider p {
    event e info {
        ms: u32 unit "ms"  us: i64 unit "us"  took: i64 format duration  up: u64 format monotonic
        kib: u32 unit "KiB"  size: u64 format byte_size  plain: i32
        flags: i64  bits: u64  narrow: i32
        peer: ip4  near: ip4  far: ip6
        at: i64 format realtime
    }
}
)";

struct operation {
    const char* text;
    bool less, equal, greater;
    [[nodiscard]] bool is_equality() const noexcept { return less == greater; }
    [[nodiscard]] bool is_end() const noexcept { return less && !greater; }
    template <class Value>
    [[nodiscard]] bool holds(const Value& one, const Value& other) const {
        return one < other ? less : other < one ? greater : equal;
    }
};
const std::vector<operation> operations{{"==", false, true, false}, {"!=", true, false, true},
                                        {"<", true, false, false},  {"<=", true, true, false},
                                        {">", false, false, true},  {">=", false, true, true}};

class predicate_values : public ::testing::Test {
  protected:
    /// Requires the predicate, and its negation, to have this result for the record.
    void check(const std::string& text, const test_record& record, bool expected) {
        ASSERT_EQ(matches(text, record), expected) << text;
        ASSERT_EQ(matches("!(" + text + ")", record), !expected) << text;
        matched_ += expected ? 1 : 0;
    }
    /// The comparisons must neither always hold nor never.
    void TearDown() override {
        EXPECT_GT(matched_, trials / 20);
        EXPECT_LT(matched_, trials * 19 / 20);
    }

    random_source random{20261129};
    record_builder maker{schema, "tester", 1};

  private:
    [[nodiscard]] bool matches(const std::string& text, const test_record& record) const {
        elog::record_filter filter(elog::predicate("--where", text), 0);
        filter.add(maker.provider());
        return filter.matches(record.view(), record_builder::clock());
    }

    int matched_ = 0;
};

/// A field of a number: what it measures, and the base unit in its own one.
struct measured_field {
    const char* name;
    char measures;  // t: time, s: size, n: nothing
    std::int64_t factor;
    bool is_signed;
};
const std::vector<measured_field> measured_fields{
    {"ms", 't', 1'000'000, false}, {"us", 't', 1000, true},   {"took", 't', 1, true},
    {"up", 't', 1, false},         {"kib", 's', 1024, false}, {"size", 's', 1, false},
    {"plain", 'n', 1, true}};

/// Sets the field to about `amount` base units, as far as it can have them.
wide_integer set_amount(test_record& record, const measured_field& field, std::int64_t amount) {
    const std::int64_t value = amount / field.factor;
    if (!field.is_signed && value < 0) {
        record.set(field.name, std::uint64_t{0});
        return 0;
    }
    record.set(field.name, value);
    return value;
}

TEST_F(predicate_values, of_two_fields_are_compared_in_a_common_unit) {
    const std::vector<std::int64_t> amounts{0,         1,          -1,        999,
                                            1000,      1024,       1'000'000, 1'000'001,
                                            2'048'000, -1'000'000, 5'000'000, 4'000'000};
    for (int i = 0; i < trials; ++i) {
        const measured_field& one = random.pick(measured_fields);
        const measured_field& other = random.pick(measured_fields);
        const bool is_plain = one.measures == 'n' || other.measures == 'n';
        if (one.name == other.name || (!is_plain && one.measures != other.measures)) {
            continue;
        }
        test_record record = maker.record("e");
        const wide_integer left = set_amount(record, one, random.pick(amounts));
        const wide_integer right = set_amount(record, other, random.pick(amounts));
        const operation& how = random.pick(operations);
        check(fmt::format("{} {} {}", one.name, how.text, other.name), record,
              how.holds(left * (is_plain ? 1 : one.factor), right * (is_plain ? 1 : other.factor)));
    }
}

TEST_F(predicate_values, are_compared_with_numbers_in_other_units) {
    struct unit {
        const char* name;
        char measures;
        std::int64_t factor;
    };
    const std::vector<unit> units{
        {"ns", 't', 1}, {"us", 't', 1000}, {"ms", 't', 1000000}, {"s", 't', 1000000000},
        {"B", 's', 1},  {"kB", 's', 1000}, {"KiB", 's', 1024},   {"MiB", 's', 1'048'576}};
    for (int i = 0; i < trials; ++i) {
        const measured_field& field = random.pick(measured_fields);
        const unit& in = random.pick(units);
        if (field.measures != in.measures) {
            continue;
        }
        const auto tenths = static_cast<std::int64_t>(random.below(40));
        const std::int64_t near = tenths * in.factor / 10;
        test_record record = maker.record("e");
        const wide_integer value =
            set_amount(record, field,
                       near + random.pick<std::int64_t>({0, 1, -1, field.factor, -field.factor}));
        const operation& how = random.pick(operations);
        check(fmt::format("{} {} {}.{}{}", field.name, how.text, tenths / 10, tenths % 10, in.name),
              record,
              how.holds<wide_integer>(value * field.factor * 10, wide_integer{tenths} * in.factor));
    }
}

TEST_F(predicate_values, with_masks_are_compared_as_in_c) {
    const std::vector<std::uint64_t> words{0,
                                           1,
                                           7,
                                           0x80,
                                           0xffff,
                                           0x80000000,
                                           0xffffffff,
                                           0x8000000000000000,
                                           0x8000000000000001,
                                           0xfffffffffffffff8,
                                           ~std::uint64_t{0}};
    for (int i = 0; i < trials; ++i) {
        const auto name = random.pick<std::string>({"flags", "bits", "narrow"});
        const bool is_signed = name != "bits";
        std::uint64_t value = random.pick(words);
        test_record record = maker.record("e");
        record.set(name, value);
        if (name == "narrow") {
            value = static_cast<std::uint64_t>(
                std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(value))});
        }
        const bool is_negative = is_signed && random.below(3) == 0;
        const auto below = static_cast<std::int64_t>(1 + random.below(20));
        const std::uint64_t mask =
            is_negative ? static_cast<std::uint64_t>(-below) : random.pick(words);
        const std::uint64_t selected = value & mask;
        // A number near the selected bits, in either form.
        const std::uint64_t other =
            random.below(2) == 0 ? selected : selected + 1 - 2 * random.below(2);
        const bool is_written_negative = is_signed && other >> 63U != 0 && random.below(2) == 0;
        const auto wide = [](std::uint64_t bits, bool with_sign) {
            return with_sign ? wide_integer{static_cast<std::int64_t>(bits)} : wide_integer{bits};
        };
        const wide_integer number = wide(other, is_written_negative);
        const operation& how = random.pick(operations);
        const bool expected = how.is_equality() && is_signed
                                  ? how.holds(selected == other ? 0 : 1, 0)
                                  : how.holds(wide(selected, is_negative), number);
        check(fmt::format("({} & {}) {} {}", name,
                          is_negative ? fmt::format("-{}", below) : fmt::format("0x{:x}", mask),
                          how.text,
                          is_written_negative ? fmt::format("{}", static_cast<std::int64_t>(other))
                                              : fmt::format("0x{:x}", other)),
              record, expected);
    }
}

using address = std::array<std::uint8_t, 16>;

address mapped(const std::vector<std::uint8_t>& bytes) {
    address made{};
    if (bytes.size() == 4) {
        made[10] = 0xff;
        made[11] = 0xff;
    }
    std::copy(bytes.begin(), bytes.end(), made.end() - static_cast<std::ptrdiff_t>(bytes.size()));
    return made;
}

bool have_same_bits(const address& one, const address& other, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        const unsigned bit = 7 - i % 8;
        if (((one[i / 8] ^ other[i / 8]) >> bit & 1U) != 0) {
            return false;
        }
    }
    return true;
}

TEST_F(predicate_values, that_are_addresses_are_compared_in_16_bytes) {
    const auto make = [this](std::size_t size) {
        std::vector<std::uint8_t> bytes(size, 0);
        if (size == 16 && random.below(2) == 0) {
            const address made = mapped({10, 0, 0, 0});
            bytes.assign(made.begin(), made.end());
        } else if (size == 4) {
            bytes[0] = 10;
        }
        bytes[size - 1] = static_cast<std::uint8_t>(random.below(3));
        bytes[size - 2] = static_cast<std::uint8_t>(random.below(2));
        return bytes;
    };
    for (int i = 0; i < trials; ++i) {
        const std::vector<std::uint8_t> peer = make(4);
        const std::vector<std::uint8_t> near = make(4);
        const std::vector<std::uint8_t> far = make(16);
        test_record record = maker.record("e");
        record.set_bytes("peer", peer);
        record.set_bytes("near", near);
        record.set_bytes("far", far);
        const bool is_far = random.below(2) == 0;
        const std::vector<std::uint8_t>& left = is_far ? far : peer;
        const char* name = is_far ? "far" : "peer";
        const bool is_negated = random.below(2) == 0;
        if (random.below(2) == 0) {
            check(fmt::format("{} {} near", name, is_negated ? "!=" : "=="), record,
                  (mapped(left) == mapped(near)) != is_negated);
            continue;
        }
        const std::size_t bits = random.pick<std::size_t>({0, 8, 20, 23, 24, 31, 32});
        check(fmt::format("{} {} {}.{}.{}.{}/{}", name, is_negated ? "!~" : "~", near[0], near[1],
                          near[2], near[3], bits),
              record, have_same_bits(mapped(left), mapped(near), 96 + bits) != is_negated);
    }
}

/// The local time that a clock shows.
std::string shown_at(std::time_t seconds) {
    std::tm parts{};
    std::array<char, 32> text{};
    ::localtime_r(&seconds, &parts);
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts)};
}

TEST_F(predicate_values, that_are_times_are_compared_with_what_a_clock_shows) {
    ::setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    ::tzset();
    constexpr std::time_t change = 1'792'890'000;  // 2026-10-25T01:00:00Z: one hour back
    constexpr std::int64_t second = 1'000'000'000;
    for (int i = 0; i < trials; ++i) {
        const auto minutes = [this] { return static_cast<std::time_t>(random.below(480)) - 240; };
        const std::time_t point = change + minutes() * 60;
        const std::time_t given = change + minutes() * 60;
        test_record record = maker.record("e");
        record.set("at", std::int64_t{point} * second);
        const operation& how = random.pick(operations);
        const std::string text = shown_at(given);
        std::time_t meant = given;
        for (const std::time_t same : {given - 3600, given + 3600}) {
            const bool is_wanted = how.is_end() ? same > meant : same < meant;
            meant = shown_at(same) == text && is_wanted ? same : meant;
        }
        check(fmt::format("at {} \"{}\"", how.text, text), record, how.holds(point, meant));
    }
    ::setenv("TZ", "UTC", 1);
    ::tzset();
}

}  // namespace
