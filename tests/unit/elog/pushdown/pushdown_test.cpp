// SPDX-License-Identifier: MIT
//
// Which aggregations the kernel computes as histograms, and the reason for the rest. The kernel's
// counts give the same results as the records. vm.pushed_aggregations tests that the kernel counts
// like this.
#include "pushdown/pushdown.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "aggregate/aggregate_report.hpp"
#include "base/user_error.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;
using eventlog::tracefs::hist_table;

constexpr std::string_view schema = R"(
provider p {
    enum color : u8 { red = 0, green = 1, blue = 5 }
    event e info {
        tiny: u8  small: i8  port: u16  debt: i16  amount: u32  owed: i32  large: u64  far: i64
        lit: bool  share: f64  word: text  shade: color  row: u16[3]  maybe: u32?  letter: char
        hitcount: u32  peer: u8[4] format ip_address  took: u64 format duration
    }
}
)";

class subject {
  public:
    explicit subject(std::string_view described = schema, std::uint16_t provider = 0)
        : maker_(described, "process", 4242, provider) {
        event_.name = {"eventlog", "p", "e"};
        event_.kernel_name = {"eventlog", "p_e"};
        event_.is_published = true;
        event_.schema = std::make_shared<const elog::provider_schema>(maker_.provider().schema);
        for (const elog::field_schema& field : event_.schema->events[0].fields) {
            eventlog::tracefs::format_field known;
            known.name = field.name;
            known.type = field.type;
            known.count = field.count;
            known.offset =
                static_cast<std::uint32_t>(eventlog::tracefs::common_size) + field.offset;
            event_.format.fields.push_back(std::move(known));
        }
    }

    [[nodiscard]] const record_builder& maker() const noexcept { return maker_; }
    [[nodiscard]] elog::kernel_trace_event& event() noexcept { return event_; }

    elog::pushdown_decision decide(std::string_view text, const std::string& condition = "",
                                   std::size_t keys_max = 65536) {
        elog::kernel_condition whole;
        whole.text = condition;
        whole.is_whole = true;
        return decide_pushdown(elog::aggregation::parse("test", text), keys_max, event_, whole);
    }

  private:
    record_builder maker_;
    elog::kernel_trace_event event_;
};

struct expectation {
    const char* aggregation;
    const char* trigger;
};

void expect_pushed(const std::vector<expectation>& all) {
    subject of;
    for (const auto& [aggregation, trigger] : all) {
        const elog::pushdown_decision found = of.decide(aggregation);
        ASSERT_TRUE(found.pushed) << aggregation << ": " << found.reason;
        EXPECT_EQ(hist_trigger(found.pushed->asked), trigger) << aggregation;
    }
}

struct rejection {
    const char* aggregation;
    const char* reason;  // a part of the reason
};

void expect_rejected(const std::vector<rejection>& all) {
    subject of;
    for (const auto& [aggregation, reason] : all) {
        const elog::pushdown_decision found = of.decide(aggregation);
        EXPECT_FALSE(found.pushed) << aggregation;
        EXPECT_NE(found.reason.find(reason), std::string::npos)
            << aggregation << ": " << found.reason;
    }
}

TEST(pushdown_event, counts_by_integer_keys) {
    expect_pushed({{"count()", "hist:keys=common_type:size=128"},
                   {"count() by tiny", "hist:keys=tiny:size=256"},
                   {"count() by small, lit", "hist:keys=small,lit:size=65536"},
                   {"count() by shade", "hist:keys=shade:size=256"},
                   {"count() by amount", "hist:keys=amount:size=65536"},
                   {"top(3, far)", "hist:keys=far:size=65536"},
                   {"count() by tid", "hist:keys=common_pid:size=65536"},
                   {"count() by cpu", "hist:keys=common_cpu:size=16384"},
                   {"count(share), count(row)", "hist:keys=common_type:size=128"},
                   {"count() by tiny, .tiny", "hist:keys=tiny:size=256"},
                   {"count() by event, level, provider, tiny", "hist:keys=tiny:size=256"}});
}

TEST(pushdown_event, sums_integers) {
    expect_pushed(
        {{"sum(amount) by tiny", "hist:keys=tiny:vals=amount:size=256"},
         {"sum(amount), avg(amount), count(amount)", "hist:keys=common_type:vals=amount:size=128"},
         {"sum(amount), avg(owed)", "hist:keys=common_type:vals=amount,owed:size=128"},
         {"sum(tiny) by tiny", "hist:keys=tiny:vals=tiny:size=256"}});
}

TEST(pushdown_event, leaves_overflowing_sums_to_elog) {
    subject of;
    const elog::pushdown_decision found = of.decide("sum(large), avg(far)", "tiny == 1");
    ASSERT_TRUE(found.pushed) << found.reason;
    EXPECT_EQ(found.pushed->asked.condition,
              "tiny == 1 && (large <= 4294967295 && far <= 2147483647 && far >= -2147483648)");
    EXPECT_EQ(found.pushed->rest,
              "tiny == 1 && (large > 4294967295 || far > 2147483647 || far < -2147483648)");
    EXPECT_EQ(of.decide("sum(amount)", "tiny == 1").pushed->rest, "");
    EXPECT_EQ(of.decide("sum(amount)", "tiny == 1").pushed->asked.condition, "tiny == 1");
}

TEST(pushdown_event, keys_distribution_by_value) {
    expect_pushed({{"quantize(tiny)", "hist:keys=tiny:size=256"},
                   {"quantize(debt)", "hist:keys=debt:size=65536"},
                   {"hist(port)", "hist:keys=port:size=65536"},
                   {"hist(tiny, 10) by small", "hist:keys=small,tiny:size=65536"},
                   {"hist(port, 100)", "hist:keys=port:size=65536"},
                   {"quantize(tiny) by tiny", "hist:keys=tiny:size=256"}});
}

TEST(pushdown_event, uses_kernel_buckets_if_all_fit) {
    expect_pushed({{"hist(amount, 10000000)", "hist:keys=amount.buckets=10000000:size=512"},
                   {"hist(large, 1000000000000000000)",
                    "hist:keys=large.buckets=1000000000000000000:size=128"},
                   {"hist(took, 300000h)", "hist:keys=took.buckets=1080000000000000000:size=128"}});
}

TEST(pushdown_event, rejects_inexact_pushdown) {
    expect_rejected({{"min(amount)", "only count and add up"},
                     {"count(), max(amount)", "only count and add up"},
                     {"stddev(amount)", "only count and add up"},
                     {"sum(share)", "integers"},
                     {"count() by share", "integers"},
                     {"count() by word", "integers"},
                     {"count() by letter", "integers"},
                     {"count() by peer", "integers"},
                     {"count() by row[1]", "integers"},
                     {"sum(row[0])", "integers"},
                     {"sum(cpu)", "integers"},
                     {"quantize(share)", "integers"},
                     {"count(word)", "whether there is a value"},
                     {"count(maybe)", "whether there is a value"},
                     {"count() by maybe", "optional"},
                     {"sum(maybe)", "optional"},
                     {"count() by pid", "they know tid"},
                     {"count() by comm, tiny", "they know tid"},
                     {"count() by time", "no time"},
                     {"count() by hitcount", "integers"},
                     {"count() by row", "integers"},
                     {"count() by nothing", "it has no nothing"}});
}

TEST(pushdown_event, rejects_aggregation_beyond_kernel_limits) {
    expect_rejected({{"count() by tiny, small, port, debt", "up to 3 keys"},
                     {"hist(tiny) by small, port, debt", "up to 3 keys"},
                     {"sum(amount), sum(owed), sum(tiny)", "2 fields at a time"},
                     {"quantize(tiny) by amount", "there may be more"},
                     {"quantize(amount)", "each single value of 32 bits"},
                     {"hist(far, 1000000000000000000)", "each single value of 64 bits"},
                     {"hist(large)", "each single value of 64 bits"},
                     {"hist(port, 1)", "more than 1000 buckets"},
                     {"hist(took, 10ms)", "more than 1000 buckets"}});
    subject of;
    EXPECT_FALSE(of.decide("count() by amount", "", 131073).pushed);
    EXPECT_EQ(of.decide("count() by amount", "", 131072).pushed->asked.size, 131072U);
    EXPECT_EQ(of.decide("count() by amount", "", 65537).pushed->asked.size, 131072U);
    EXPECT_EQ(of.decide("count() by amount", "", 1).pushed->asked.size, 128U);
    EXPECT_EQ(of.decide("count() by amount", "", 129).pushed->asked.size, 256U);
    EXPECT_EQ(of.decide("count() by amount", "", 1000).pushed->asked.size, 1024U);
    EXPECT_EQ(of.decide("count() by tiny", "", 131073).pushed->asked.size, 256U);
}

TEST(pushdown_event, distribution_is_limited_by_largest_table) {
    subject of;
    const elog::pushdown_decision found = of.decide("hist(amount, 8405024) by tiny");  // 512 * 256
    ASSERT_TRUE(found.pushed) << found.reason;
    EXPECT_EQ(found.pushed->asked.size, eventlog::tracefs::hist_size_max);
    EXPECT_EQ(of.decide("hist(amount, 8388608) by tiny").reason,  // 513 * 256
              "there may be more values with their keys than 131072, all that the kernel can keep");
}

TEST(pushdown_event, splits_table_budget) {
    subject of;
    const auto largest = of.decide("count() by amount", "", 131072).pushed;
    const auto half = of.decide("count() by amount").pushed;
    const auto smallest = of.decide("count()").pushed;
    ASSERT_TRUE(largest && half && smallest);
    std::vector<elog::counted_event> before(3, {&of.event(), largest});
    EXPECT_EQ(capacity_reason({}, *largest), "");
    EXPECT_EQ(capacity_reason(before, *largest), "");
    before.push_back({&of.event(), half});
    EXPECT_EQ(capacity_reason(before, *half), "");
    EXPECT_EQ(capacity_reason(before, *largest),
              "the histograms of events before it take all the memory that they may, for 524288 "
              "keys");
    before.push_back({&of.event(), half});
    EXPECT_NE(capacity_reason(before, *smallest), "");
}

TEST(pushdown_event, rejects_predicate_that_elog_must_evaluate) {
    subject of;
    elog::kernel_condition part;
    part.text = "tiny == 1";
    part.reason = "it knows no floats";
    part.column = 7;
    const elog::aggregation asked = elog::aggregation::parse("test", "count()");
    EXPECT_EQ(decide_pushdown(asked, 100, of.event(), part).reason,
              "the kernel cannot decide --where, column 7: it knows no floats");
    part.never_matches = true;
    EXPECT_EQ(decide_pushdown(asked, 100, of.event(), part).reason,
              "--where is false for all of them");
}

TEST(pushdown_event, rejects_events_without_published_schema) {
    subject of;
    of.event().is_published = false;
    EXPECT_EQ(of.decide("count()").reason,
              "the names of its numbers are unknown until its program runs");
    of.event().name.system = "sched";
    EXPECT_TRUE(of.decide("count()").pushed);
}

/// The aggregation computed from records, and from counts of the same events.
class computed {
  public:
    computed(subject& of, std::string_view text, std::size_t keys_max = 100)
        : asked_(elog::aggregation::parse("test", text)),
          by_records_(asked_, nullptr, keys_max),
          by_counts_(asked_, nullptr, keys_max),
          of_(&of) {
        add(of);
    }

    /// Adds another provider with the event.
    void add(subject& of) {
        of_ = &of;
        for (elog::aggregator* each : {&by_records_, &by_counts_}) {
            try {
                each->add(of.maker().provider());
            } catch (const elog::user_error&) {  // a mismatched type is counted
            }
        }
    }

    void take(const test_record& record) {
        by_records_.take(record.view(), record_builder::clock());
    }

    [[nodiscard]] elog::pushdown_counts counts(const hist_table& table) const {
        const elog::pushdown_decision decided =
            decide_pushdown(asked_, by_counts_.keys_max(), of_->event(), {"", true, false, {}, 0});
        EXPECT_TRUE(decided.pushed) << decided.reason;
        return {of_->maker().provider().id, {&of_->event(), decided.pushed}, table};
    }
    void take(const std::vector<elog::pushdown_counts>& all) { add_counts(by_counts_, all); }
    void take(const hist_table& table) { take(std::vector{counts(table)}); }

    [[nodiscard]] std::string by_records() const { return json(by_records_); }
    [[nodiscard]] std::string by_counts() const { return json(by_counts_); }

  private:
    static std::string json(const elog::aggregator& from) {
        fmt::memory_buffer out;
        elog::append_json(out, from, {});
        return {out.data(), out.size()};
    }

    elog::aggregation asked_;
    elog::aggregator by_records_;
    elog::aggregator by_counts_;
    subject* of_;
};

TEST(pushdown_event, matches_aggregation_of_records) {
    subject of;
    computed both(of, "count(), sum(amount), avg(owed), hist(small, 10) by small, lit, event");
    for (int i = 0; i < 3; ++i) {
        test_record record = of.maker().record("e");
        record.set("small", std::uint64_t{0xfb});
        record.set("lit", std::uint64_t{1});
        record.set("amount", std::uint64_t{4'000'000'000});
        record.set("owed", static_cast<std::uint64_t>(-i));
        both.take(record);
    }
    both.take({{{{static_cast<std::uint64_t>(-5), 200},
                 3,
                 {12'000'000'000, static_cast<std::uint64_t>(-3)}}},
               3,
               0});
    EXPECT_EQ(both.by_counts(), both.by_records());
    EXPECT_NE(both.by_counts().find(R"_("sum(amount)":12000000000)_"), std::string::npos);
}

TEST(pushdown_event, reports_dropped_events) {
    subject of;
    computed both(of, "count() by tiny");
    both.take({{{{7}, 3, {}}}, 3, 9});
    EXPECT_NE(both.by_counts().find(R"("events":3,"lost":0,"overwritten":0,"overflowed":9)"),
              std::string::npos)
        << both.by_counts();
}

TEST(pushdown_event, keeps_requested_keys_and_reports_excess) {
    subject of;
    hist_table counted{{{{1}, 4, {}}, {{2}, 5, {}}}, 9, 6};
    computed fitting(of, "count() by tiny", 2);
    fitting.take(counted);
    EXPECT_NE(fitting.by_counts().find(R"("events":9,"lost":0,"overwritten":0,"overflowed":6)"),
              std::string::npos)
        << fitting.by_counts();
    counted.entries.push_back({{3}, 3, {}});
    computed full(of, "count() by tiny", 2);
    full.take(counted);
    // Overflowed in the kernel, and in elog.
    EXPECT_NE(full.by_counts().find(R"("events":9,"lost":0,"overwritten":0,"overflowed":9)"),
              std::string::npos)
        << full.by_counts();
}

TEST(pushdown_event, keeps_most_frequent_keys_when_table_is_full) {
    // In the kernel's order.
    const hist_table rarest_first{{{{1}, 1, {}}, {{2}, 1, {}}, {{3}, 7, {}}, {{4}, 9, {}}}, 18, 0};
    subject of;
    computed both(of, "count() by tiny", 2);
    both.take(rarest_first);
    const std::string found = both.by_counts();
    EXPECT_NE(found.find(R"("events":16,"lost":0,"overwritten":0,"overflowed":2)"),
              std::string::npos)
        << found;
    EXPECT_NE(found.find(R"({"tiny":4})"), std::string::npos) << found;
    EXPECT_NE(found.find(R"({"tiny":3})"), std::string::npos) << found;
}

TEST(pushdown_event, keeps_most_frequent_keys_of_several_events) {
    subject first;
    subject second(schema, 1);
    computed both(first, "count() by tiny", 1);
    std::vector<elog::pushdown_counts> all{both.counts({{{{1}, 2, {}}, {{2}, 3, {}}}, 5, 0})};
    both.add(second);
    all.push_back(both.counts({{{{3}, 1, {}}, {{4}, 4, {}}}, 5, 0}));
    both.take(all);
    EXPECT_NE(both.by_counts().find(R"({"tiny":4})"), std::string::npos) << both.by_counts();
    EXPECT_NE(both.by_counts().find(R"("events":4,"lost":0,"overwritten":0,"overflowed":6)"),
              std::string::npos);
}

TEST(pushdown_event, keeps_key_with_all_its_distribution_values) {
    subject of;
    computed both(of, "quantize(small) by tiny", 1);
    both.take({{{{1, 5}, 4, {}}, {{2, 1}, 2, {}}, {{2, 5}, 3, {}}}, 9, 0});
    EXPECT_NE(both.by_counts().find(R"({"tiny":2})"), std::string::npos) << both.by_counts();
    EXPECT_NE(both.by_counts().find(R"("events":5,"lost":0,"overwritten":0,"overflowed":4)"),
              std::string::npos);
}

TEST(pushdown_event, with_conflicting_units_is_skipped_like_its_records) {
    subject sizes(schema, 1);
    subject times(R"(provider p { event e info { large: u64 format duration } })");
    computed both(times, "sum(large)");
    test_record time = times.maker().record("e");
    time.set("large", std::uint64_t{5});
    both.take(time);
    std::vector<elog::pushdown_counts> all{both.counts({{{{1}, 1, {5}}}, 1, 0})};
    both.add(sizes);
    test_record size = sizes.maker().record("e");
    size.set("large", std::uint64_t{7});
    both.take(size);
    all.push_back(both.counts({{{{1}, 1, {7}}}, 1, 0}));
    both.take(all);
    EXPECT_EQ(both.by_counts(), both.by_records());
    EXPECT_NE(both.by_counts().find(R"("events":1,)"), std::string::npos) << both.by_counts();
    EXPECT_NE(both.by_counts().find(R"("type_mismatches":1)"), std::string::npos)
        << both.by_counts();
}

TEST(pushdown_event, with_possible_sum_overflow_is_rejected) {
    constexpr std::uint64_t summed_max = std::uint64_t{1} << 31U;
    subject of;
    computed fitting(of, "sum(amount)");
    fitting.take({{{{1}, summed_max, {5}}}, summed_max, 0});
    EXPECT_NE(fitting.by_counts().find(R"("events":2147483648,)"), std::string::npos);

    subject other(schema, 1);
    computed both(of, "sum(amount)");
    std::vector<elog::pushdown_counts> all{
        both.counts({{{{1}, summed_max + 1, {5}}}, summed_max + 1, 0})};
    both.add(other);
    all.push_back(both.counts({{{{1}, 3, {7}}}, 3, 0}));
    EXPECT_THROW(both.take(all), elog::user_error);
    EXPECT_NE(both.by_counts().find(R"("events":3,)"), std::string::npos) << both.by_counts();

    // A plain count has no limit.
    computed counting(of, "count()");
    counting.take({{{{1}, summed_max + 1, {}}}, summed_max + 1, 0});
    EXPECT_NE(counting.by_counts().find(R"("events":2147483649,)"), std::string::npos);
}

}  // namespace
