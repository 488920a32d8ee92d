// SPDX-License-Identifier: MIT
//
// Converting the data of the kernel module's read(2) to runs.
#include "kmod/device_stream.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "decoded_records.hpp"
#include "ring_words.hpp"

namespace {

using eventlog::test::append_words;
using eventlog::test::context_word;
using eventlog::test::extended_word;
using eventlog::test::record_word;

constexpr std::uint64_t thread = 7;

/// Bytes as read(2) returns them. Events have the numbers from 1 on.
struct stream_bytes {
    std::vector<std::uint8_t> all{};

    stream_bytes& words(const std::vector<std::uint64_t>& added) {
        append_words(all, added);
        return *this;
    }
    stream_bytes& run(std::uint64_t cpu, std::uint64_t lost = 0, std::uint64_t overwritten = 0,
                      std::uint64_t context = 0) {
        return words({record_word(1, 3, 32), context, cpu, lost, overwritten, 0});
    }
    stream_bytes& first(std::uint64_t value, std::uint64_t event = 0) {
        return words({record_word(event + 1, 1, 8, 4), context_word(thread, 2), value});
    }
    stream_bytes& record(std::uint64_t value, std::uint64_t event = 0) {
        return words({record_word(event + 1, 0, 8, 5), value});
    }
    stream_bytes& extended(std::uint64_t value, std::uint64_t cpu) {
        return words({record_word(1, 2, 0, 6), context_word(8, 3), extended_word(8, cpu), value});
    }
};

/// A delivered run, with the values of its records.
struct seen_run {
    std::uint32_t ring;
    std::uint64_t lost_before;
    std::uint64_t sequence;
    bool overwritten;
    std::vector<std::uint64_t> values;

    bool operator==(const seen_run&) const = default;
};

class device_stream : public ::testing::Test {
  protected:
    void take(const stream_bytes& bytes, const elog::device_stream::is_wanted& wanted = {}) {
        stream.take(bytes.all, wanted, [this](const elog::record_run& run) {
            seen_run seen{run.ring, run.lost_before, run.sequence, run.overwritten, {}};
            for (const elog::record_view& record : eventlog::test::decode_records(run)) {
                std::memcpy(&seen.values.emplace_back(), record.payload.data(), 8);
                last_thread = record.thread;
            }
            EXPECT_EQ(seen.values.size(), run.count);
            runs.push_back(seen);
        });
    }

    static elog::event_numbers three_events() {
        elog::event_numbers numbers;
        elog::provider_instance provider;
        provider.id = 4;
        provider.event_base = 1;
        provider.schema.events.resize(3);
        EXPECT_TRUE(numbers.add(provider));
        return numbers;
    }

    elog::event_numbers events = three_events();
    elog::device_stream stream{3, events};  // of two CPUs
    std::vector<seen_run> runs;
    std::uint32_t last_thread = 0;
};

bool is_of_event_0(const elog::record_view& record) {
    return record.provider == 4 && record.event == 0;
}

TEST_F(device_stream, delivers_runs_per_ring) {
    take(stream_bytes{}
             .run(0)
             .first(1)
             .record(2)
             .run(1)
             .first(3)
             .run(0, 0, 0, context_word(9))
             .record(4));
    EXPECT_EQ(runs, (std::vector<seen_run>{
                        {0, 0, 0, false, {1, 2}}, {1, 0, 0, false, {3}}, {0, 0, 2, false, {4}}}));
    EXPECT_EQ(stream.rings()[0].read, 3U);
    EXPECT_EQ(stream.rings()[1].read, 1U);
}

TEST_F(device_stream, delivers_bytes_of_ring_with_their_context) {
    const std::uint64_t context = context_word(thread, 2);
    const stream_bytes bytes = stream_bytes{}.run(1, 0, 0, context).record(1).extended(2, 1);
    std::size_t delivered = 0;
    stream.take(bytes.all, {}, [&](const elog::record_run& run) {
        ++delivered;
        EXPECT_EQ(run.bytes.data(), bytes.all.data() + 48);
        EXPECT_EQ(run.bytes.size(), bytes.all.size() - 48);
        EXPECT_EQ(run.context, context);
        const std::vector<elog::record_view> records = eventlog::test::decode_records(run);
        ASSERT_EQ(records.size(), 2U);
        EXPECT_EQ(records[0].thread, thread);
        EXPECT_EQ(records[0].time, 0x200000005U);
        EXPECT_EQ(records[0].cpu, 1U);
        EXPECT_EQ(records[0].provider, 4U);
        EXPECT_EQ(records[1].thread, 8U);
        EXPECT_EQ(records[1].time, 0x300000006U);
    });
    EXPECT_EQ(delivered, 1U);
}

TEST_F(device_stream, reports_gap_before_next_record_of_ring) {
    take(stream_bytes{}.run(0).first(1).run(0, 5).run(1).first(2).run(0).first(3));
    EXPECT_EQ(runs, (std::vector<seen_run>{
                        {0, 0, 0, false, {1}}, {1, 0, 0, false, {2}}, {0, 5, 6, false, {3}}}));
    EXPECT_EQ(stream.rings()[0].lost, 5U);
    EXPECT_EQ(stream.trailing_losses_of(0).lost, 0U);
}

TEST_F(device_stream, accumulates_gaps_until_next_record) {
    take(stream_bytes{}.run(1, 2));
    take(stream_bytes{}.run(1, 3));
    EXPECT_TRUE(runs.empty());
    EXPECT_EQ(stream.trailing_losses_of(1).lost, 5U);
    take(stream_bytes{}.run(1).first(9));
    EXPECT_EQ(runs, (std::vector<seen_run>{{1, 5, 5, false, {9}}}));
    EXPECT_EQ(stream.trailing_losses_of(1).lost, 0U);
}

TEST_F(device_stream, reports_overwritten_records) {
    take(stream_bytes{}.run(0, 0, 7).first(1));
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 7, 7, true, {1}}}));
    EXPECT_EQ(stream.rings()[0].overwritten, 7U);
    EXPECT_EQ(stream.rings()[0].lost, 0U);
}

TEST_F(device_stream, skips_filtered_records) {
    // Those that follow a skipped record have its context.
    take(stream_bytes{}.run(0).first(1, 1).record(2).record(3, 1).record(4), is_of_event_0);
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 0, 0, false, {2, 4}}}));
    EXPECT_EQ(stream.rings()[0].read, 2U);
    EXPECT_EQ(stream.rings()[0].lost, 0U);
    EXPECT_EQ(last_thread, thread);
}

TEST_F(device_stream, carries_gap_over_filtered_record) {
    take(stream_bytes{}.run(0, 4).first(1, 1).record(2), is_of_event_0);
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 4, 4, false, {2}}}));
    take(stream_bytes{}.run(0, 3).first(1, 1), is_of_event_0);
    take(stream_bytes{}.run(0).first(5), is_of_event_0);
    EXPECT_EQ(runs.back(), (seen_run{0, 3, 8, false, {5}}));
}

TEST_F(device_stream, advances_to_end_of_input) {
    eventlog_statistics counts{};
    counts.recorded = 3;
    counts.lost = 4;
    take(stream_bytes{}.run(0).first(1).run(0, 0, 1), is_of_event_0);
    EXPECT_FALSE(stream.has_read_up_to(0, counts));
    take(stream_bytes{}.run(0).first(1, 1), is_of_event_0);
    EXPECT_FALSE(stream.has_read_up_to(0, counts));
    take(stream_bytes{}.run(0, 4), is_of_event_0);
    EXPECT_TRUE(stream.has_read_up_to(0, counts));
}

TEST_F(device_stream, skips_unknown_markers_below_the_required_types) {
    constexpr std::uint64_t required = 0x200000;
    const std::uint64_t context = context_word(9, 2);
    take(stream_bytes{}
             .run(1)
             .first(1)
             .words({record_word(2, 3, 1), context, 0})
             .record(2)
             .words({record_word(required - 1, 3, 0), context}));
    EXPECT_EQ(runs, (std::vector<seen_run>{{1, 0, 0, false, {1}}, {1, 0, 1, false, {2}}}));
    EXPECT_EQ(last_thread, 9U);
    EXPECT_THROW(take(stream_bytes{}.run(0).words({record_word(required, 3, 0), 0})),
                 elog::user_error);
}

TEST_F(device_stream, reports_module_version_mismatch) {
    const auto refuse = [this](const stream_bytes& bytes) {
        EXPECT_THROW(take(bytes), elog::user_error);
    };
    refuse(stream_bytes{}.run(2).first(1));           // no CPU
    refuse(stream_bytes{}.run(UINT32_MAX).first(1));  // nor this
    refuse(stream_bytes{}.first(1));                  // of which ring?
    refuse(stream_bytes{}.words({record_word(2, 3, 0), 0}).first(1));
    refuse(stream_bytes{}.run(0).record(1));                            // without a context
    refuse(stream_bytes{}.run(0).words({0, 0}));                        // no event
    refuse(stream_bytes{}.words({record_word(1, 3, 24), 0, 0, 0, 0}));  // a short marker
    for (const std::size_t cut : {1U, 8U, 16U, 24U, 40U, 71U}) {
        stream_bytes without_end = stream_bytes{}.run(0).first(1);
        without_end.all.resize(without_end.all.size() - cut);
        if (cut != 24) {  // a marker without records is a gap
            refuse(without_end);
        }
    }
}

}  // namespace
