// SPDX-License-Identifier: MIT
//
// Converting the data of the kernel module's read(2) to runs.
#include "kmod/device_stream.hpp"

#include <cstring>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "decoded_records.hpp"
#include "kernel_record_list.hpp"

namespace {

/// Bytes as read(2) returns them.
struct stream_bytes {
    std::vector<std::uint8_t> all{};

    template <class Payload>
    stream_bytes& add(std::uint16_t cpu, std::uint16_t provider, std::uint16_t event,
                      const Payload& payload) {
        elog::record_view record;
        record.cpu = cpu;
        record.provider = provider;
        record.event = event;
        record.payload = {reinterpret_cast<const std::uint8_t*>(&payload), sizeof payload};
        eventlog::test::append_kernel_record(all, record);
        return *this;
    }
    stream_bytes& record(std::uint16_t cpu, std::uint64_t value, std::uint16_t event = 0) {
        return add(cpu, 0, event, value);
    }
    stream_bytes& gap(std::uint16_t cpu, std::uint64_t lost, std::uint64_t overwritten = 0) {
        return add(cpu, EVENTLOG_LOST_PROVIDER, 0, eventlog_lost_payload{lost, overwritten});
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
            }
            EXPECT_EQ(seen.values.size(), run.count);
            runs.push_back(seen);
        });
    }

    elog::device_stream stream{3};  // of two CPUs
    std::vector<seen_run> runs;
};

bool is_of_event_0(const elog::record_view& record) {
    return record.event == 0;
}

TEST_F(device_stream, delivers_runs_per_ring) {
    take(stream_bytes{}.record(0, 1).record(0, 2).record(1, 3).record(0, 4));
    EXPECT_EQ(runs, (std::vector<seen_run>{
                        {0, 0, 0, false, {1, 2}}, {1, 0, 0, false, {3}}, {0, 0, 2, false, {4}}}));
    EXPECT_EQ(stream.rings()[0].read, 3U);
    EXPECT_EQ(stream.rings()[1].read, 1U);
}

TEST_F(device_stream, reports_gap_before_next_record_of_ring) {
    take(stream_bytes{}.record(0, 1).gap(0, 5).record(1, 2).record(0, 3));
    EXPECT_EQ(runs, (std::vector<seen_run>{
                        {0, 0, 0, false, {1}}, {1, 0, 0, false, {2}}, {0, 5, 6, false, {3}}}));
    EXPECT_EQ(stream.rings()[0].lost, 5U);
    EXPECT_EQ(stream.trailing_losses_of(0).lost, 0U);
}

TEST_F(device_stream, accumulates_gaps_until_next_record) {
    take(stream_bytes{}.gap(1, 2));
    take(stream_bytes{}.gap(1, 3));
    EXPECT_TRUE(runs.empty());
    EXPECT_EQ(stream.trailing_losses_of(1).lost, 5U);
    take(stream_bytes{}.record(1, 9));
    EXPECT_EQ(runs, (std::vector<seen_run>{{1, 5, 5, false, {9}}}));
    EXPECT_EQ(stream.trailing_losses_of(1).lost, 0U);
}

TEST_F(device_stream, reports_overwritten_records) {
    take(stream_bytes{}.gap(0, 0, 7).record(0, 1));
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 7, 7, true, {1}}}));
    EXPECT_EQ(stream.rings()[0].overwritten, 7U);
    EXPECT_EQ(stream.rings()[0].lost, 0U);
}

TEST_F(device_stream, skips_filtered_records) {
    take(stream_bytes{}.record(0, 1).record(0, 2, 1).record(0, 3).record(0, 4, 1), is_of_event_0);
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 0, 0, false, {1}}, {0, 0, 1, false, {3}}}));
    EXPECT_EQ(stream.rings()[0].read, 2U);
    EXPECT_EQ(stream.rings()[0].lost, 0U);
}

TEST_F(device_stream, carries_gap_over_filtered_record) {
    take(stream_bytes{}.gap(0, 4).record(0, 1, 1).record(0, 2), is_of_event_0);
    EXPECT_EQ(runs, (std::vector<seen_run>{{0, 4, 4, false, {2}}}));
}

TEST_F(device_stream, advances_to_end_of_input) {
    eventlog_statistics counts{};
    counts.recorded = 3;
    counts.lost = 4;
    take(stream_bytes{}.record(0, 1).gap(0, 0, 1), is_of_event_0);
    EXPECT_FALSE(stream.has_read_up_to(0, counts));
    take(stream_bytes{}.record(0, 1, 1), is_of_event_0);
    EXPECT_FALSE(stream.has_read_up_to(0, counts));
    take(stream_bytes{}.gap(0, 4), is_of_event_0);
    EXPECT_TRUE(stream.has_read_up_to(0, counts));
}

TEST_F(device_stream, reports_module_version_mismatch) {
    stream_bytes of_no_cpu;
    EXPECT_THROW(take(of_no_cpu.record(2, 1)), elog::user_error);
    stream_bytes too_short;
    too_short.all.resize(16);
    EXPECT_THROW(take(too_short), elog::user_error);
    stream_bytes without_end = stream_bytes{}.record(0, 1);
    without_end.all.pop_back();
    EXPECT_THROW(take(without_end), elog::user_error);
    stream_bytes of_no_size = stream_bytes{}.record(0, 1);
    of_no_size.all[0] = 8;
    EXPECT_THROW(take(of_no_size), elog::user_error);
    stream_bytes empty_gap;
    empty_gap.add(0, EVENTLOG_LOST_PROVIDER, 0, std::uint8_t{0});
    EXPECT_THROW(take(empty_gap), elog::user_error);
}

}  // namespace
