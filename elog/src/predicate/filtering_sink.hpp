// SPDX-License-Identifier: MIT
//
// A record_sink in front of another one that passes only the records matching a predicate, of these
// the ones that a sampler keeps, up to a maximum number. Losses always pass, because lost records
// cannot be tested.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/limited_reports.hpp"
#include "predicate/record_filter.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sampler.hpp"
#include "record/record_sink.hpp"

namespace elog {

class filtering_sink : public record_sink {
  public:
    /// Both must outlive the sink. Without `filter` all records match. The first `limit` matching
    /// records pass, in order of arrival. `report` receives the reason if a provider does not fit.
    filtering_sink(record_filter* filter, record_sink& next, std::uint64_t limit = UINT64_MAX,
                   report_callback report = {})
        : filter_(filter), downstream_(next), limit_(limit), mismatches_(std::move(report)) {}

    /// Of the matching records, only those that `sampler` keeps may pass; nullptr: all. It must
    /// outlive the sink. To be called before start, for a region that is being written.
    void sample_with(record_sampler* sampler) noexcept { sampler_ = sampler; }

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override;
    /// A provider whose types do not fit the predicate is reported once; its events do not match.
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override;
    void note_loss(const loss_report& loss) override { downstream_.note_loss(loss); }
    void take_mark(const recording_mark& mark) override { downstream_.take_mark(mark); }
    void advance(std::uint64_t time, std::uint64_t present) override {
        downstream_.advance(time, present);
    }
    void check() override { downstream_.check(); }
    void finish() override;

    /// Records that matched, including those that were not kept and those after the limit.
    [[nodiscard]] std::uint64_t wanted() const noexcept { return wanted_; }
    /// Records that passed.
    [[nodiscard]] std::uint64_t passed() const noexcept { return passed_; }
    /// The limit is reached.
    [[nodiscard]] bool is_full() const noexcept { return passed_ == limit_; }

  private:
    struct ring_state {
        std::uint64_t unreported = 0;  // lost before a record that did not pass
        std::uint64_t next = 0;        // number of the next record: passed and lost before it
        bool overwritten = false;      // applies to `unreported`
    };

    void calibrate_clock();
    void filter_run(record_run& run);
    [[nodiscard]] bool is_kept(const record_view& record, std::uint32_t ring);

    record_filter* filter_;
    record_sink& downstream_;
    record_sampler* sampler_ = nullptr;
    std::uint64_t limit_;
    clock_converter clock_;
    std::vector<ring_state> rings_;
    std::vector<std::uint8_t> kept_;
    limited_reports mismatches_;
    std::uint64_t wanted_ = 0;
    std::uint64_t passed_ = 0;
};

}  // namespace elog
