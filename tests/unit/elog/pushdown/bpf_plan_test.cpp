// SPDX-License-Identifier: MIT
//
// Which aggregations become BPF programs, and the reason for the rest. In an interpreter
// (bpf_interpreter.hpp) a program computes the same results as elog does from the records.
// vm.pushed_aggregations tests that the kernel accepts the programs and computes the same.
#include "pushdown/bpf_plan.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "aggregate/aggregate_report.hpp"
#include "bpf_interpreter.hpp"
#include "predicate/record_filter.hpp"
#include "pushdown/bpf_code_generator.hpp"
#include "pushdown/bpf_results.hpp"
#include "random_source.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::bpf_interpreter;
using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema = R"(
provider p {
    enum color : u8 { red = 0, green = 1, blue = 5 }
    event e info {
        tiny: u8  small: i8  port: u16  debt: i16  amount: u32  owed: i32  large: u64  far: i64
        lit: bool  share: f64  word: text  shade: color  row: u16[3]  maybe: u32?  letter: char
        peer: u8[4] format ip_address  name: char[5] format characters  rarely: i64?  took: u64
        slow: u32 unit "ms"  fast: u32 unit "us"
    }
}
)";
constexpr std::uint32_t cpus = 3;

elog::kernel_trace_event event_of(const record_builder& maker) {
    elog::kernel_trace_event event;
    event.name = {"eventlog", "p", "e"};
    event.kernel_name = {"eventlog", "p_e"};
    event.is_published = true;
    event.schema = std::make_shared<const elog::provider_schema>(maker.provider().schema);
    return event;
}

class subject {
  public:
    [[nodiscard]] const record_builder& maker() const noexcept { return maker_; }
    [[nodiscard]] elog::kernel_trace_event& event() noexcept { return event_; }
    [[nodiscard]] std::size_t offset_of_word() const {
        return event_.schema->events[0].fields[10].offset;
    }

    /// Text locations count from the record's start, as in the kernel module's trace events; in
    /// user_events they are relative to the word.
    void point_from_begin() {
        eventlog::tracefs::format_field field;
        field.where = eventlog::tracefs::location::data_loc;
        event_.format.fields = {field};
    }
    [[nodiscard]] bool points_from_begin() const { return !event_.format.fields.empty(); }

    elog::bpf_plan_result decide(std::string_view text, std::string_view where = "",
                                 std::size_t keys_max = 65536) {
        const auto wanted = where.empty() ? std::nullopt
                                          : std::optional<elog::predicate>(std::in_place, "where",
                                                                           std::string(where));
        return plan_bpf(elog::aggregation::parse("test", text), keys_max, event_,
                        wanted ? &*wanted : nullptr, 0, cpus);
    }

  private:
    record_builder maker_{schema, "process", 4242};
    elog::kernel_trace_event event_ = event_of(maker_);
};

void expect_rejected(const elog::bpf_plan_result& found, std::string_view reason) {
    EXPECT_FALSE(found.plan) << reason;
    EXPECT_NE(found.reason.find(reason), std::string::npos) << found.reason;
}

TEST(bpf_plan, allocates_maximum_number_of_keys) {
    subject of;
    const auto keys_of = [&](std::string_view text) { return of.decide(text).plan->keys_max; };
    EXPECT_EQ(keys_of("max(amount)"), 1U);
    EXPECT_EQ(keys_of("max(amount) by tiny, lit"), 512U);
    EXPECT_EQ(keys_of("max(amount) by event, level"), 1U);
    EXPECT_EQ(keys_of("max(amount) by far"), 65536U);
    EXPECT_EQ(keys_of("max(amount) by tiny, small, port, debt, lit, shade"), 65536U);
    EXPECT_EQ(of.decide("max(amount) by tid", "", 10).plan->keys_max, 10U);
}

TEST(bpf_plan, reserves_words_per_call) {
    subject of;
    const auto words_of = [&](std::string_view text) { return of.decide(text).plan->words; };
    EXPECT_EQ(words_of("count()"), 1U);
    EXPECT_EQ(words_of("count(), count(tiny)"), 1U);
    EXPECT_EQ(words_of("count(maybe), count(word)"), 3U);
    EXPECT_EQ(words_of("sum(large), avg(far), min(tiny)"), 6U);
    EXPECT_EQ(words_of("max(maybe)"), 3U);
    EXPECT_EQ(words_of("stddev(far)"), 6U);
    EXPECT_EQ(words_of("quantize(large)"), 66U);
    EXPECT_EQ(words_of("quantize(small)"), 18U);
    EXPECT_EQ(words_of("hist(tiny)"), 257U);
    EXPECT_EQ(words_of("hist(amount, 1000000000)"), 6U);
}

TEST(bpf_plan, rejects_inexact_pushdown) {
    subject of;
    expect_rejected(of.decide("sum(share)"), "integers");
    expect_rejected(of.decide("max(lit)"), "integers");
    expect_rejected(of.decide("sum(level)"), "integers");
    expect_rejected(of.decide("count() by share"), "something else");
    expect_rejected(of.decide("count() by row"), "something else");
    expect_rejected(of.decide("count() by row[7]"), "3 elements");
    expect_rejected(of.decide("count() by nothing"), "it has no nothing");
    expect_rejected(of.decide("max(nothing)"), "nothing that the calls ask for");
    expect_rejected(of.decide("count() by pid"), "whose process");
    expect_rejected(of.decide("max(time)"), "by time");
    expect_rejected(of.decide("hist(port)"), "more than 1000 buckets");
    expect_rejected(of.decide("hist(large, 1000000)"), "more than 1000 buckets");
    expect_rejected(of.decide("hist(far, 9223372036854775807)"), "buckets");
    expect_rejected(of.decide("max(tiny)", "comm == \"x\""), "column 1: whose process");
    expect_rejected(of.decide("max(tiny)", "tiny > 1 && share > 0.5"), "column 13: BPF programs");
    expect_rejected(of.decide("max(tiny)", "word ~ \"a*\""), "nothing else");
    expect_rejected(of.decide("max(tiny)", "event == \"x\""), "false for all");
    expect_rejected(of.decide("max(tiny)", "share > \"x\""), "where");
    expect_rejected(of.decide("max(tiny)", "slow > fast"), "BPF programs do not convert units");
}

TEST(bpf_plan, rejects_memory_excess_and_suggests_limit) {
    subject of;
    expect_rejected(of.decide("quantize(large) by amount", "", 100'000),
                    "of 100000 keys would take 160 MiB, and may take 128: --keys 79512 would do");
    EXPECT_TRUE(of.decide("quantize(large) by amount", "", 79512).plan);
    std::string calls = "hist(port, 128)";
    for (int i = 129; i < 144; ++i) {
        calls += ", hist(port, " + std::to_string(i) + ")";
    }
    expect_rejected(of.decide(calls), "4096 numbers");
}

TEST(bpf_plan, counts_only_events_that_support_bpf) {
    subject of;
    of.event().kernel_name.system = "user_events";
    EXPECT_FALSE(of.decide("count()").plan);
    EXPECT_EQ(of.decide("count()").reason, "");
    of.event().kernel_name.system = "eventlog";
    of.event().is_published = false;
    EXPECT_FALSE(of.decide("count()").plan);
}

TEST(bpf_plan, rejects_schema_with_fields_outside_record) {
    subject of;
    auto changed = std::make_shared<elog::provider_schema>(*of.event().schema);
    changed->events[0].fields[0].offset = 60000;   // tiny
    changed->events[0].fields[13].presence = 600;  // maybe
    of.event().schema = changed;
    expect_rejected(of.decide("count() by tiny"), "not where records have their fields");
    expect_rejected(of.decide("max(maybe)"), "not where records have their fields");
    expect_rejected(of.decide("max(owed)", "tiny > 1"), "not where records have their fields");
    EXPECT_TRUE(of.decide("max(owed)").plan);
}

bpf_interpreter machine_of(const elog::bpf_plan& plan) {
    return {generate_bpf_code(plan, bpf_interpreter::maps), plan.key_size, plan.words,
            plan.keys_max, cpus};
}

/// An aggregation computed from records, and by a program on the same records.
class computed {
  public:
    computed(subject& of, std::string_view text, std::string_view where = "",
             std::size_t keys_max = 100)
        : plan_(of.decide(text, where, keys_max).plan),
          filter_(where.empty() ? nullptr
                                : std::make_unique<elog::record_filter>(
                                      elog::predicate("where", std::string(where)), 0)),
          by_records_(elog::aggregation::parse("test", text), filter_.get(), keys_max),
          by_program_(elog::aggregation::parse("test", text), nullptr, keys_max),
          of_(of) {
        if (filter_) {
            filter_->add(of.maker().provider());
        }
        by_records_.add(of.maker().provider());
        by_program_.add(of.maker().provider());
        if (plan_) {
            machine_.emplace(machine_of(*plan_));
        }
    }

    [[nodiscard]] bool is_counted() const noexcept { return plan_ != nullptr; }

    void take(const test_record& record) {
        by_records_.take(record.view(), record_builder::clock());
        std::vector<std::uint8_t> traced(8 + record.view().payload.size());
        std::copy(record.view().payload.begin(), record.view().payload.end(), traced.begin() + 8);
        if (of_.points_from_begin()) {
            make_absolute(traced, 8 + of_.offset_of_word());
        }
        const elog::record_view header = record.view();
        EXPECT_EQ(machine_->run({traced, header.thread, header.cpu}), 1U);
    }

    [[nodiscard]] std::string by_records() const { return json(by_records_); }
    [[nodiscard]] std::string by_program() {
        merge_bpf_results(by_program_,
                          {{of_.maker().provider().id, &of_.event(), plan_, machine_->table()}});
        return json(by_program_);
    }

  private:
    static void make_absolute(std::vector<std::uint8_t>& traced, std::size_t at) {
        std::uint32_t word = 0;
        std::memcpy(&word, traced.data() + at, sizeof word);
        word = word == 0 ? eventlog::tracefs::null_string_word(at)
                         : word + static_cast<std::uint32_t>(at + sizeof word);
        std::memcpy(traced.data() + at, &word, sizeof word);
    }
    static std::string json(const elog::aggregator& from) {
        fmt::memory_buffer out;
        elog::append_json(out, from, {});
        return {out.data(), out.size()};
    }

    std::shared_ptr<const elog::bpf_plan> plan_;
    std::unique_ptr<elog::record_filter> filter_;
    elog::aggregator by_records_;
    elog::aggregator by_program_;
    std::optional<bpf_interpreter> machine_;
    subject& of_;
};

class generator : public eventlog::test::random_source {
  public:
    using random_source::random_source;

    test_record record(const record_builder& maker) {
        test_record made = maker.record("e");
        for (const char* const name : {"tiny", "small", "port", "debt", "amount", "owed", "large",
                                       "far", "lit", "shade", "letter", "took"}) {
            made.set(name, number());
        }
        for (const char* const name : {"maybe", "rarely"}) {
            if (below(2) == 0) {
                made.set(name, number());
            }
        }
        made.set_bytes("peer", {10, 0, 0, static_cast<std::uint8_t>(below(3))});
        const std::array<std::string_view, 5> names{"", "a", "ab", "abcde", "abcd"};
        const std::string_view name = names.at(below(names.size()));
        made.set_bytes("name", {name.begin(), name.end()});
        made.set_text("word", below(2) == 0 ? nullptr : "w");
        made.header().thread = static_cast<std::uint32_t>(7 + below(3));
        made.header().cpu = static_cast<std::uint16_t>(below(cpus));
        return made;
    }

    std::string aggregation() {
        std::vector<std::string> calls;
        std::vector<std::string> keys;
        for (std::size_t i = 1 + below(4); i > 0; --i) {
            add_once(calls, call());
        }
        for (std::size_t i = below(5); i > 0; --i) {
            add_once(keys, pick(keys_));
        }
        return joined(calls) + (keys.empty() ? "" : " by ") + joined(keys);
    }

    static void add_once(std::vector<std::string>& parts, const std::string& part) {
        if (std::find(parts.begin(), parts.end(), part) == parts.end()) {
            parts.push_back(part);
        }
    }

    static std::string joined(const std::vector<std::string>& parts) {
        std::string text;
        for (const std::string& part : parts) {
            text += (text.empty() ? "" : ", ") + part;
        }
        return text;
    }

    std::string predicate() {
        const std::string one = pick(integers_);
        const std::string other = pick(integers_);
        switch (below(8)) {
            case 0:
                return one + " < " + other;
            case 1:
                return one + " >= " + other + " || has(maybe)";
            case 2:
                return "!(" + one + " == " + other + ") && lit";
            case 3:
                return one + " & 5 || tid == 8";
            case 4:
                return "!has(word) || " + one + " > 100";
            case 5:
                return one + " != 2 && !(" + other + " & 1)";
            default:
                return "";
        }
    }

  private:
    std::uint64_t number() {
        constexpr std::array<std::uint64_t, 9> sizes{0,          1,          2,         128,  256,
                                                     2147483648, 4294967296, INT64_MAX, 65536};
        return sizes.at(below(sizes.size())) + below(3) - 1;
    }

    std::string call() {
        switch (below(7)) {
            case 0:
                return "count()";
            case 1:
                return "count(" + std::string(below(2) == 0 ? "word" : "maybe") + ")";
            case 2:
                return "sum(" + std::string(pick(integers_)) + ")";
            case 3:
                return "avg(" + std::string(pick(integers_)) + ")";
            case 4:
                return std::string(below(3) == 0   ? "stddev("
                                   : below(2) == 0 ? "min("
                                                   : "max(") +
                       pick(integers_) + ")";
            case 5:
                return "quantize(" + std::string(pick(integers_)) + ")";
            default:
                return below(3) == 0   ? "hist(owed, 9000000)"
                       : below(2) == 0 ? "hist(small)"
                                       : "hist(tiny, 7)";
        }
    }

    std::vector<const char*> integers_{"tiny",  "small", "port",  "debt",   "amount", "owed",
                                       "large", "far",   "maybe", "rarely", "row[1]"};
    std::vector<const char*> keys_{"tiny", "small", "lit",   "peer", "name",   "maybe", "event",
                                   "tid",  "cpu",   "shade", "far",  "letter", "row[2]"};
};

TEST(bpf_plan, matches_aggregation_of_records) {
    constexpr int rounds = 400;
    constexpr int records = 60;
    generator random(1);
    subject of;
    int counted = 0;
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
        if (i == rounds / 2) {
            of.point_from_begin();
        }
        const std::string text = random.aggregation();
        const std::string where = random.predicate();
        computed both(of, text, where);
        if (!both.is_counted()) {
            continue;
        }
        ++counted;
        for (int j = 0; j < records && !HasFailure(); ++j) {
            both.take(random.record(of.maker()));
        }
        EXPECT_EQ(both.by_program(), both.by_records()) << text << " where " << where;
    }
    EXPECT_GT(counted, rounds / 2);
}

/// A relative location may have the value of an absolute location of an absent text.
TEST(bpf_plan, recognizes_absent_texts_by_offset_word) {
    for (const bool from_begin : {false, true}) {
        subject of;
        if (from_begin) {
            of.point_from_begin();
        }
        const auto plan = of.decide("count(word), count()", "has(tiny)").plan;
        ASSERT_TRUE(plan);
        bpf_interpreter machine = machine_of(*plan);
        std::vector<std::uint8_t> record(8 + of.event().schema->events[0].fixed_size + 200);
        const std::size_t at = 8 + of.offset_of_word();
        const std::uint32_t word = eventlog::tracefs::null_string_word(at);
        std::memcpy(record.data() + at, &word, sizeof word);
        machine.run({record, 7, 0});
        ASSERT_EQ(machine.table().entries.size(), 1U);
        EXPECT_EQ(machine.table().entries[0].words.at(1), from_begin ? 0U : 1U);
    }
}

TEST(bpf_plan, reads_unaligned_numbers) {
    subject of;
    auto changed = std::make_shared<elog::provider_schema>(*of.event().schema);
    changed->events[0].fields[4].offset = 1;  // amount
    of.event().schema = changed;
    const auto plan = of.decide("max(amount)").plan;
    bpf_interpreter machine = machine_of(*plan);
    std::vector<std::uint8_t> record(8 + changed->events[0].fixed_size);
    const std::array<std::uint8_t, 4> bytes{0x78, 0x56, 0x34, 0x12};
    std::copy(bytes.begin(), bytes.end(), record.begin() + 9);
    machine.run({record, 7, 0});
    ASSERT_EQ(machine.table().entries.size(), 1U);
    EXPECT_EQ(machine.table().entries[0].words.at(1), 0x12345678U);
}

TEST(bpf_plan, distinguishes_map_errors_from_full_map) {
    subject of;
    const auto plan = of.decide("count() by amount", "", 1).plan;
    bpf_interpreter machine = machine_of(*plan);
    std::vector<std::uint8_t> record(8 + of.event().schema->events[0].fixed_size);
    machine.fail_key_inserts(-ENOMEM);
    machine.run({record, 7, 0});
    EXPECT_EQ(machine.table().losses.refused, 1U);
    EXPECT_EQ(machine.table().losses.table_full, 0U);
}

TEST(bpf_plan, counts_events_dropped_by_full_map) {
    subject of;
    computed both(of, "count() by amount", "", 4);
    for (std::uint64_t i = 0; i < 10; ++i) {
        test_record record = of.maker().record("e");
        record.set("amount", i);
        both.take(record);
    }
    EXPECT_EQ(both.by_program(), both.by_records());
    EXPECT_NE(both.by_records().find(R"("overflowed":6)"), std::string::npos);
}

TEST(bpf_plan, keeps_most_frequent_keys_when_map_is_full) {
    subject of;
    const auto plan = of.decide("count() by tiny").plan;
    eventlog::tracefs::bpf_table table;
    for (std::uint8_t i = 1; i < 5; ++i) {
        table.entries.push_back({{i, 0, 0, 0, 0, 0, 0, 0}, {i, 0, std::uint64_t{i} * 2}});
    }
    table.losses.refused = 2;
    table.missed = 3;
    elog::aggregator made(elog::aggregation::parse("test", "count() by tiny"), nullptr, 2);
    made.add(of.maker().provider());
    merge_bpf_results(made, {{0, &of.event(), plan, table}});
    EXPECT_EQ(made.groups(), 2U);
    EXPECT_EQ(made.taken(), 12U + 9U);
    EXPECT_EQ(made.overflowed(), 3U + 6U);
    EXPECT_EQ(made.lost(), 5U);
}

}  // namespace
