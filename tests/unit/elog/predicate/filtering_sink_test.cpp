// SPDX-License-Identifier: MIT
//
// A recording with --where keeps the matching records, and every loss.
#include "predicate/filtering_sink.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "decoded_records.hpp"
#include "memory/subscription.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view schema = "provider p { event e info { number: u64 } }";

struct passed_run {
    std::uint32_t ring;
    std::uint64_t lost_before;
    std::uint64_t sequence;
    std::vector<std::uint64_t> numbers;

    friend bool operator==(const passed_run&, const passed_run&) = default;
};

/// Keeps everything that it receives.
class recording_sink : public elog::record_sink {
  public:
    void start(const elog::region_view& /*source*/) override {}
    void take_clock(const eventlog_clock_sample& /*pair*/) override {}
    void take_provider(const elog::provider_instance& /*provider*/) override { ++providers; }
    void take_run(const elog::record_run& run) override {
        passed_run passed{run.ring, run.lost_before, run.sequence, {}};
        for (const elog::record_view& record : eventlog::test::decode_records(run)) {
            std::memcpy(&passed.numbers.emplace_back(), record.payload.data(), 8);
        }
        EXPECT_EQ(passed.numbers.size(), run.count);
        runs.push_back(passed);
    }
    void take_loss(const elog::loss_report& loss) override { losses.push_back(loss); }
    void take_mark(const elog::recording_mark& mark) override { marks.push_back(mark); }
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void check() override { ++checks; }
    void finish() override { ended = true; }

    std::size_t providers = 0;
    std::vector<passed_run> runs;
    std::vector<elog::loss_report> losses;
    std::vector<elog::recording_mark> marks;
    std::size_t checks = 0;
    bool ended = false;
};

class filtering : public ::testing::Test {
  protected:
    filtering() { start(sink); }

    void take(std::uint32_t ring, std::uint64_t lost_before, std::uint64_t sequence,
              const std::vector<std::uint64_t>& numbers) {
        take_in(sink, ring, lost_before, sequence, numbers);
    }

    void take_in(elog::filtering_sink& into, std::uint32_t ring, std::uint64_t lost_before,
                 std::uint64_t sequence, const std::vector<std::uint64_t>& numbers) {
        std::vector<std::uint8_t> bytes;
        for (const std::uint64_t number : numbers) {
            test_record record = maker.record("e");
            record.set("number", number);
            const std::vector<std::uint8_t> one = record.bytes();
            bytes.insert(bytes.end(), one.begin(), one.end());
        }
        into.take_run({ring, lost_before, sequence, numbers.size(), bytes});
    }

    /// Starts another filter in front of the same sink.
    void start(elog::filtering_sink& other) {
        elog::subscription_options options;
        options.patterns.add("absent:nothing");
        options.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
        options.buffers_per_cpu = 2;
        const elog::subscription source(options);
        other.start(source.region());
        other.take_provider(maker.provider());
    }

    static elog::record_sampler sampler_of_every(std::uint64_t number) {
        elog::event_patterns patterns;
        patterns.add("p");
        elog::sampling_options wanted;
        wanted.every = {number};
        return {patterns, wanted};
    }

    record_builder maker{schema, "tester", 1};
    elog::record_filter filter{elog::predicate("--where", "number >= 10"), 0};
    recording_sink kept;
    elog::filtering_sink sink{&filter, kept};
};

TEST_F(filtering, passes_checks_on) {
    sink.check();
    EXPECT_EQ(kept.checks, 1U);
}

TEST_F(filtering, passes_matches_with_continuous_numbering) {
    take(0, 0, 0, {1, 10, 2, 11});
    take(1, 0, 0, {12});
    take(0, 0, 4, {3, 13});
    const std::vector<passed_run> expected{{0, 0, 0, {10, 11}}, {1, 0, 0, {12}}, {0, 0, 2, {13}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_EQ(kept.providers, 1U);
    sink.finish();
    EXPECT_TRUE(kept.ended);
    EXPECT_EQ(sink.passed(), 4U);
    EXPECT_TRUE(kept.losses.empty());
}

TEST_F(filtering, reports_losses_with_next_matching_record) {
    take(0, 5, 5, {1, 2});
    take(0, 3, 10, {4, 20});
    const std::vector<passed_run> expected{{0, 8, 8, {20}}};
    EXPECT_EQ(kept.runs, expected);
}

TEST_F(filtering, passes_pauses) {
    const elog::recording_mark mark{1, 2, elog::mark_kind::pause};
    sink.take_mark(mark);
    EXPECT_EQ(kept.marks, std::vector{mark});
}

TEST_F(filtering, reports_trailing_losses_at_end) {
    take(0, 5, 5, {1});
    take(1, 2, 2, {1});
    sink.take_loss(elog::trailing_loss(0, 4, 0, 1));
    sink.finish();
    ASSERT_EQ(kept.losses.size(), 2U);
    EXPECT_EQ(kept.losses[0].index, 0U);
    EXPECT_EQ(kept.losses[0].full, 9U);
    EXPECT_EQ(kept.losses[0].damaged, 1U);
    EXPECT_EQ(kept.losses[1].index, 1U);
    EXPECT_EQ(kept.losses[1].full, 2U);
    EXPECT_TRUE(kept.ended);
    EXPECT_EQ(sink.passed(), 0U);
}

TEST_F(filtering, reports_overwritten_separately_at_end) {
    sink.take_run({0, 5, 5, 0, {}, true});
    sink.take_run({1, 3, 3, 0, {}, true});
    sink.take_loss(elog::trailing_loss(1, 4, 0, 0));
    sink.finish();
    ASSERT_EQ(kept.losses.size(), 2U);
    EXPECT_EQ(kept.losses[0].index, 1U);
    EXPECT_EQ(kept.losses[0].full, 7U);
    EXPECT_EQ(elog::overwritten_count(kept.losses[0]), 3U);
    EXPECT_EQ(kept.losses[1].index, 0U);
    EXPECT_EQ(kept.losses[1].full, 5U);
    EXPECT_EQ(elog::overwritten_count(kept.losses[1]), 5U);
}

TEST_F(filtering, continues_after_type_mismatch_of_late_provider) {
    const record_builder late("provider q { event f info { number: text } }", "late", 2, 1);
    sink.take_provider(late.provider());
    take(0, 0, 0, {10});
    test_record other = late.record("f");
    other.set_text("number", "10");
    const std::vector<std::uint8_t> bytes = other.bytes();
    sink.take_run({0, 0, 1, 1, bytes});
    EXPECT_EQ(sink.passed(), 1U);
    EXPECT_EQ(kept.providers, 2U);
}

TEST_F(filtering, applies_limit_within_and_after_runs) {
    elog::filtering_sink limited(nullptr, kept, 4);
    start(limited);
    take_in(limited, 0, 0, 0, {1, 2, 3});
    EXPECT_FALSE(limited.is_full());
    take_in(limited, 1, 0, 0, {4, 5, 6});
    EXPECT_TRUE(limited.is_full());
    take_in(limited, 0, 0, 3, {7});
    const std::vector<passed_run> expected{{0, 0, 0, {1, 2, 3}}, {1, 0, 0, {4}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_EQ(limited.wanted(), 7U);
    EXPECT_EQ(limited.passed(), 4U);
}

TEST_F(filtering, is_full_after_run_that_reaches_limit) {
    elog::filtering_sink limited(nullptr, kept, 2);
    start(limited);
    take_in(limited, 0, 3, 3, {1, 2});
    EXPECT_TRUE(limited.is_full());
    const std::vector<passed_run> expected{{0, 3, 3, {1, 2}}};
    EXPECT_EQ(kept.runs, expected);
}

TEST_F(filtering, counts_only_matches_towards_limit) {
    elog::filtering_sink limited(&filter, kept, 2);
    start(limited);
    take_in(limited, 0, 0, 0, {1, 10, 2, 11, 12});
    const std::vector<passed_run> expected{{0, 0, 0, {10, 11}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_EQ(limited.wanted(), 3U);
}

TEST_F(filtering, samples_matches_before_limit) {
    elog::record_sampler sampler = sampler_of_every(2);
    elog::filtering_sink sampled(&filter, kept, 3);
    sampled.sample_with(&sampler);
    start(sampled);
    take_in(sampled, 0, 0, 0, {1, 10, 2, 11, 12, 13, 14, 15, 16, 17});
    const std::vector<passed_run> expected{{0, 0, 0, {10, 12, 14}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_TRUE(sampled.is_full());
    EXPECT_EQ(sampled.wanted(), 8U);
    EXPECT_EQ(sampler.kept(), 4U);
    EXPECT_EQ(sampler.report().omitted(), 4U);
}

TEST_F(filtering, reports_no_omitted_record_as_lost) {
    elog::record_sampler sampler = sampler_of_every(2);
    elog::filtering_sink sampled(nullptr, kept);
    sampled.sample_with(&sampler);
    start(sampled);
    take_in(sampled, 0, 0, 0, {1, 2});
    take_in(sampled, 0, 0, 2, {3});
    take_in(sampled, 0, 5, 8, {4});
    take_in(sampled, 0, 0, 9, {5});
    sampled.finish();
    const std::vector<passed_run> expected{{0, 0, 0, {1}}, {0, 0, 1, {3}}, {0, 5, 7, {5}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_TRUE(kept.losses.empty());
    EXPECT_EQ(sampler.report().omitted(), 2U);
}

TEST_F(filtering, reports_losses_past_limit_at_end) {
    elog::filtering_sink limited(nullptr, kept, 1);
    start(limited);
    take_in(limited, 0, 2, 2, {1});
    take_in(limited, 0, 5, 8, {2});
    limited.finish();
    const std::vector<passed_run> expected{{0, 2, 2, {1}}};
    EXPECT_EQ(kept.runs, expected);
    ASSERT_EQ(kept.losses.size(), 1U);
    EXPECT_EQ(kept.losses[0].full, 5U);
    EXPECT_TRUE(kept.ended);
}

TEST_F(filtering, reports_unsuitable_types_of_provider_once) {
    std::vector<std::string> reasons;
    elog::filtering_sink reporting(&filter, kept, UINT64_MAX, [&](const std::string& sentence) {
        reasons.push_back(sentence);
    });
    start(reporting);
    EXPECT_TRUE(reasons.empty());
    const record_builder texts("provider p { event e info { number: text } }", "tester", 1);
    reporting.take_provider(texts.provider());
    reporting.take_provider(texts.provider());
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_NE(reasons[0].find("number"), std::string::npos) << reasons[0];
    EXPECT_EQ(kept.providers, 4U);
}

}  // namespace
