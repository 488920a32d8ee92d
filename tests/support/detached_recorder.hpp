// SPDX-License-Identifier: MIT
//
// A flight recorder as elog flight start leaves it, and the first word of each record in it.
#pragma once

#include <linux/eventlog.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "memory/detached_subscription.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "record/record_sink.hpp"
#include "record/ring_records.hpp"
#include "shm/exact_io.hpp"

namespace eventlog::test {

/// What a recorder holds.
struct recorder_contents {
    std::vector<std::uint64_t> numbers;  // first words of payloads, sorted
    std::vector<elog::recording_mark> marks;
    std::uint64_t damaged_sequences = 0;  // runs whose sequence number does not follow the last run
    elog::recording_summary summary{};
};

/// Keeps the first word of each payload.
class number_sink : public elog::record_sink {
  public:
    void start(const elog::region_view& source) override {
        next.resize(source.geometry.ring_count);
    }
    void take_clock(const eventlog_clock_sample& /*pair*/) override {}
    void take_provider(const elog::provider_instance& /*provider*/) override {}
    void take_run(const elog::record_run& run) override {
        damaged_sequences += run.sequence != next[run.ring] + run.lost_before ? 1 : 0;
        next[run.ring] = run.sequence + run.count;
        elog::record_view record;
        for (elog::run_reader records(run); records.next(record);) {
            std::uint64_t number = UINT64_MAX;
            if (record.payload.size() >= sizeof number) {
                std::memcpy(&number, record.payload.data(), sizeof number);
            }
            numbers.push_back(number);
        }
    }
    void take_loss(const elog::loss_report& /*loss*/) override {}
    void take_mark(const elog::recording_mark& mark) override { marks.push_back(mark); }
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

    std::vector<std::uint64_t> numbers;
    std::vector<std::uint64_t> next;  // by ring
    std::vector<elog::recording_mark> marks;
    std::uint64_t damaged_sequences = 0;
};

/// Of a recording into that sink.
inline recorder_contents contents_of(number_sink& sink, const elog::recording_summary& summary) {
    recorder_contents found;
    found.summary = summary;
    found.numbers = std::move(sink.numbers);
    std::sort(found.numbers.begin(), found.numbers.end());
    found.marks = std::move(sink.marks);
    found.damaged_sequences = sink.damaged_sequences;
    return found;
}

class detached_recorder {
  public:
    struct options {
        std::uint64_t buffer_size = 128U << 10U;
        std::uint32_t buffers_per_cpu = 4;
        bool overwrite = true;
    };

    explicit detached_recorder(std::string_view pattern) : detached_recorder(pattern, options{}) {}
    detached_recorder(std::string_view pattern, options with) {
        elog::subscription_options wanted;
        wanted.patterns.add(std::string(pattern));
        wanted.name = "flight";
        wanted.overwrite = with.overwrite;
        wanted.buffer_size = with.buffer_size;
        wanted.buffers_per_cpu = with.buffers_per_cpu;
        elog::subscription made(wanted);
        made.detach();
        found_.emplace(wanted.name);
    }
    ~detached_recorder() {
        if (found_->still_exists()) {
            found_->end();
            EXPECT_TRUE(found_->remove());
        }
    }
    detached_recorder(const detached_recorder&) = delete;
    detached_recorder& operator=(const detached_recorder&) = delete;

    [[nodiscard]] elog::detached_subscription& subscription() { return *found_; }
    [[nodiscard]] const core::unique_fd& file() const { return found_->region().file; }
    [[nodiscard]] std::uint64_t serial() const { return found_->region().header.serial; }

    [[nodiscard]] std::uint32_t state() const {
        std::uint32_t state = 0;
        EXPECT_TRUE(
            core::read_exactly(file(), &state, sizeof state, offsetof(eventlog_region, state)));
        return state;
    }

    [[nodiscard]] recorder_contents read() const {
        number_sink sink;
        elog::recording process(found_->region(), sink);
        const elog::recording_summary summary = process.snapshot();
        return contents_of(sink, summary);
    }

  private:
    std::optional<elog::detached_subscription> found_;
};

}  // namespace eventlog::test
