// SPDX-License-Identifier: MIT
//
// A recording with --split-by: each value gets its records, and every loss.
#include "output/splitting_sink.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "decoded_records.hpp"
#include "memory/subscription.hpp"
#include "output/value_file_name.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema =
    "provider p { event e info { number: u64 name: text ? } "
    "event narrow info { number: u32 } event none info { other: u64 } "
    "event list info { number: u16 [2] } }";

struct passed_run {
    std::uint64_t lost_before;
    std::uint64_t sequence;
    std::uint64_t count;
    bool overwritten;

    friend bool operator==(const passed_run&, const passed_run&) = default;
};

/// What the sink of one value has received.
struct received {
    std::vector<passed_run> runs;
    std::size_t providers = 0;
    std::vector<std::uint64_t> clocks;
    std::vector<elog::loss_report> losses;
    std::vector<elog::loss_report> noted;
    std::size_t marks = 0;
    std::size_t checks = 0;
    bool has_finished = false;
    bool is_broken = false;  // the sink rejects further runs
};

class receiving_sink : public elog::record_sink {
  public:
    explicit receiving_sink(received& into) : into_(into) {}

    void start(const elog::region_view& /*source*/) override {}
    void take_clock(const eventlog_clock_sample& pair) override {
        into_.clocks.push_back(pair.clock);
    }
    void take_provider(const elog::provider_instance& /*provider*/) override { ++into_.providers; }
    void take_run(const elog::record_run& run) override {
        if (into_.is_broken) {
            throw elog::user_error("Its file is damaged.");
        }
        EXPECT_EQ(eventlog::test::decode_records(run).size(), run.count);
        into_.runs.push_back({run.lost_before, run.sequence, run.count, run.overwritten});
    }
    void take_loss(const elog::loss_report& loss) override { into_.losses.push_back(loss); }
    void note_loss(const elog::loss_report& loss) override { into_.noted.push_back(loss); }
    void take_mark(const elog::recording_mark& /*mark*/) override { ++into_.marks; }
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void check() override { ++into_.checks; }
    void finish() override { into_.has_finished = true; }

  private:
    received& into_;
};

class splitting : public ::testing::Test {
  protected:
    void start(const std::string& name, std::size_t values_max = 10) {
        sink.emplace(
            name, values_max,
            [this](std::optional<std::string_view> value, std::size_t number,
                   const elog::region_view& source) -> std::unique_ptr<elog::record_sink> {
                const std::string key(value.value_or("(rest)"));
                if (key == fails_at) {
                    throw elog::user_error("It cannot be made.");
                }
                EXPECT_TRUE(numbers.insert({key, value ? number + 1 : 0}).second);
                auto made = std::make_unique<receiving_sink>(parts[key]);
                made->start(source);
                return made;
            },
            [this] { ++failures; });
        elog::subscription_options options;
        options.patterns.add("absent:nothing");
        options.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
        options.buffers_per_cpu = 2;
        const elog::subscription source(options);
        sink->start(source.region());
        sink->take_provider(maker.provider());
    }

    void take(const std::vector<test_record>& records, std::uint32_t ring = 0,
              std::uint64_t lost_before = 0, bool overwritten = false) {
        std::vector<std::uint8_t> bytes;
        for (const test_record& record : records) {
            const std::vector<std::uint8_t> one = record.bytes();
            bytes.insert(bytes.end(), one.begin(), one.end());
        }
        elog::record_run run{ring, lost_before, 0, records.size(), bytes};
        run.overwritten = overwritten;
        sink->take_run(run);
    }

    [[nodiscard]] test_record numbered(std::uint64_t number, const char* event = "e") const {
        test_record made = maker.record(event);
        made.set("number", number);
        return made;
    }
    [[nodiscard]] test_record named(const char* name) const {
        test_record made = maker.record("e");
        made.set_text("name", name);
        return made;
    }
    [[nodiscard]] std::uint64_t count_of(const std::string& value) const {
        const auto found = parts.find(value);
        std::uint64_t sum = 0;
        if (found != parts.end()) {
            for (const passed_run& run : found->second.runs) {
                sum += run.count;
            }
        }
        return sum;
    }
    [[nodiscard]] std::string mistake() const {
        try {
            sink->check_name();
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return "";
    }

    record_builder maker{schema, "tester", 1};
    std::map<std::string, received> parts;
    std::set<std::pair<std::string, std::size_t>> numbers;
    std::string fails_at = "(none)";
    int failures = 0;
    std::optional<elog::splitting_sink> sink;
};

TEST_F(splitting, gives_each_value_its_records) {
    start("number");
    take({numbered(7), numbered(8), numbered(7)});
    take({numbered(7)});
    EXPECT_EQ(parts["7"].runs, (std::vector<passed_run>{{0, 0, 2, false}, {0, 2, 1, false}}));
    EXPECT_EQ(parts["8"].runs, (std::vector<passed_run>{{0, 0, 1, false}}));
    EXPECT_TRUE(parts["(rest)"].runs.empty());
    EXPECT_EQ(parts["(rest)"].providers, 0U);
    EXPECT_EQ(parts["7"].providers, 1U);  // once, before its records
    EXPECT_EQ(sink->values(), 2U);
    sink->finish();
    EXPECT_TRUE(parts["7"].has_finished && parts["8"].has_finished && parts["(rest)"].has_finished);
    EXPECT_EQ(mistake(), "");
}

TEST_F(splitting, joins_equal_values_of_other_types) {
    start("number");
    take({numbered(7), numbered(7, "narrow")});
    EXPECT_EQ(count_of("7"), 2U);
    EXPECT_EQ(sink->values(), 1U);
}

TEST_F(splitting, keeps_records_without_the_value_in_the_rest) {
    start("number");
    take({maker.record("none"), numbered(7), maker.record("list")});
    EXPECT_EQ(count_of("(rest)"), 1U);
    EXPECT_EQ(count_of("[0,0]"), 1U);  // an array is a value as a whole
    EXPECT_EQ(sink->beyond_limit(), 0U);
}

TEST_F(splitting, distinguishes_texts_and_the_lack_of_one) {
    start("name");
    take({named("a"), named(""), named(nullptr), named("A"), named("(rest)x"), named("a")});
    EXPECT_EQ(count_of("a"), 2U);
    EXPECT_EQ(count_of("A"), 1U);
    EXPECT_EQ(count_of(""), 1U);
    EXPECT_EQ(count_of("(rest)"), 1U);
}

TEST_F(splitting, passes_each_loss_to_every_value) {
    start("number");
    take({numbered(7)}, 0, 5);
    take({numbered(8)}, 0, 3);
    take({numbered(7)}, 0);
    take({numbered(7)}, 1, 2);
    EXPECT_EQ(parts["7"].runs,
              (std::vector<passed_run>{{5, 5, 1, false}, {3, 9, 1, false}, {2, 2, 1, false}}));
    EXPECT_EQ(parts["8"].runs, (std::vector<passed_run>{{8, 8, 1, false}}));
    sink->take_loss(elog::trailing_loss(0, 4));
    sink->finish();
    ASSERT_EQ(parts["7"].losses.size(), 1U);
    EXPECT_EQ(parts["7"].losses[0].full, 4U);
    ASSERT_EQ(parts["8"].losses.size(), 2U);
    EXPECT_EQ(parts["8"].losses[0].full, 4U);
    EXPECT_EQ(parts["8"].losses[1].index, 1U);
    EXPECT_EQ(parts["8"].losses[1].full, 2U);
    ASSERT_EQ(parts["(rest)"].losses.size(), 2U);
    EXPECT_EQ(parts["(rest)"].losses[0].full, 12U);
}

TEST_F(splitting, keeps_the_reason_of_overwritten_records) {
    start("number");
    take({numbered(7)}, 0, 5, true);
    EXPECT_EQ(parts["7"].runs, (std::vector<passed_run>{{5, 5, 1, true}}));
    sink->finish();
    ASSERT_EQ(parts["(rest)"].losses.size(), 1U);
    EXPECT_EQ(parts["(rest)"].losses[0].overwritten, 5U);
}

TEST_F(splitting, gives_later_values_what_came_before) {
    start("number");
    sink->take_clock({100, 100, 100});
    sink->advance(150, 160);
    sink->take_clock({200, 200, 200});
    sink->take_clock({300, 300, 300});
    sink->take_mark({});
    elog::loss_report loss = elog::provider_loss(0, 1, 2, 3);
    sink->note_loss(loss);
    loss.too_large = 4;
    sink->note_loss(loss);
    take({numbered(7)});
    // No record to come is earlier than 150.
    EXPECT_EQ(parts["7"].clocks, (std::vector<std::uint64_t>{100, 200, 300}));
    EXPECT_EQ(parts["7"].marks, 1U);
    ASSERT_EQ(parts["7"].noted.size(), 1U);
    EXPECT_EQ(parts["7"].noted[0].too_large, 4U);
    EXPECT_EQ(parts["7"].noted[0].provider, "p");
    EXPECT_EQ(parts["7"].noted[0].process, "tester");
    sink->advance(250, 260);
    sink->take_clock({400, 400, 400});
    take({numbered(8)});
    EXPECT_EQ(parts["8"].clocks, (std::vector<std::uint64_t>{200, 300, 400}));
}

TEST_F(splitting, checks_all_sinks) {
    start("number");
    take({numbered(7)});
    sink->check();
    EXPECT_EQ(parts["7"].checks, 1U);
    EXPECT_EQ(parts["(rest)"].checks, 1U);
}

TEST_F(splitting, counts_records_of_values_beyond_the_limit) {
    start("number", 2);
    for (std::uint64_t number = 0; number < 5; ++number) {
        take({numbered(number), numbered(number)});
    }
    EXPECT_EQ(sink->values(), 2U);
    EXPECT_EQ(sink->beyond_limit(), 6U);
    EXPECT_EQ(count_of("(rest)"), 6U);
    EXPECT_EQ(count_of("1"), 2U);
    EXPECT_EQ(parts.count("2"), 0U);
}

TEST_F(splitting, keeps_records_whose_sink_cannot_be_made) {
    start("number");
    fails_at = "8";
    take({numbered(7), numbered(8), numbered(9), numbered(7)});
    take({numbered(8)});
    EXPECT_EQ(failures, 1);
    ASSERT_TRUE(sink->failure().has_value());
    EXPECT_STREQ(sink->failure()->what(), "It cannot be made.");
    EXPECT_EQ(count_of("7"), 2U);
    EXPECT_EQ(count_of("(rest)"), 3U);
    sink->finish();
    EXPECT_TRUE(parts["7"].has_finished);
}

TEST_F(splitting, completes_the_others_after_an_error_of_one) {
    start("number");
    take({numbered(7), numbered(8)});
    parts["7"].is_broken = true;
    EXPECT_THROW(take({numbered(7), numbered(8)}), elog::user_error);
    EXPECT_EQ(count_of("8"), 2U);
    EXPECT_TRUE(parts["8"].has_finished && parts["(rest)"].has_finished);
    EXPECT_FALSE(parts["7"].has_finished);
}

TEST_F(splitting, keeps_records_of_unknown_providers_in_the_rest) {
    start("number");
    test_record unknown = numbered(7);
    unknown.header().provider = 99;
    take({unknown, numbered(7)});
    EXPECT_EQ(count_of("(rest)"), 1U);
    EXPECT_EQ(count_of("7"), 1U);
}

TEST_F(splitting, accepts_names_of_every_event) {
    start("event");
    take({numbered(7), maker.record("none"), numbered(8)});
    EXPECT_EQ(count_of("e"), 2U);
    EXPECT_EQ(count_of("none"), 1U);
    EXPECT_EQ(mistake(), "");
}

TEST_F(splitting, reports_a_name_that_no_event_has) {
    start("nummber");
    take({numbered(7)});
    EXPECT_EQ(count_of("(rest)"), 1U);
    EXPECT_NE(mistake().find("Did you mean 'number'?"), std::string::npos) << mistake();
}

TEST(split_name_check, does_not_take_a_field_for_the_session) {
    const record_builder maker{"provider p { event e info { session: u64 } }", "tester", 1};
    elog::split_name_check check("session");
    check.add(maker.provider().schema.events.front());
    EXPECT_THROW(check.check(), elog::user_error);
}

TEST(value_file_name, keeps_plain_values) {
    EXPECT_EQ(elog::value_file_name("session", "7", 0), "session=7.elog");
    EXPECT_EQ(elog::value_file_name("took", "1.5ms", 0), "took=1.5ms.elog");
    EXPECT_EQ(elog::value_file_name("n", "-5_a+B", 0), "n=-5_a+B.elog");
    EXPECT_EQ(elog::value_file_name("n", "", 0), "n=.elog");
}

TEST(value_file_name, encodes_hostile_values) {
    EXPECT_EQ(elog::value_file_name("n", "../x", 0), "n=%2E%2E%2Fx.elog");
    EXPECT_EQ(elog::value_file_name("n", "..", 0), "n=%2E%2E.elog");
    EXPECT_EQ(elog::value_file_name("n", "a..b", 0), "n=a%2E%2Eb.elog");
    EXPECT_EQ(elog::value_file_name("n", "a.", 0), "n=a%2E.elog");
    EXPECT_EQ(elog::value_file_name("n", "a\n\x1b[2J \x7f", 0), "n=a%0A%1B%5B2J%20%7F.elog");
    EXPECT_EQ(elog::value_file_name("n", "%2F~1", 0), "n=%252F%7E1.elog");
    EXPECT_EQ(elog::value_file_name("n", std::string_view("\0\xff\xc3\xbc", 4), 0),
              "n=%00%FF%C3%BC.elog");
}

TEST(value_file_name, is_short_and_distinct) {
    std::set<std::string> names;
    std::size_t number = 0;
    for (const std::size_t size : {80U, 89U, 90U, 91U, 92U, 93U, 200U, 70000U}) {
        for (const char each : {'x', '/', '~', '1'}) {
            for (const char* const end : {"", "y", "~1"}) {
                const std::string value = std::string(size, each) + end;
                const std::string name =
                    elog::value_file_name(std::string(60, 'n'), value, number++);
                EXPECT_LE(name.size(), 160U);
                EXPECT_EQ(name.find('/'), std::string::npos);
                EXPECT_TRUE(names.insert(name).second) << name;
            }
        }
    }
}

}  // namespace
