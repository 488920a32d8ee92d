// SPDX-License-Identifier: MIT
//
// Aggregates records: one result at the end, or one for each interval of the records' own time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "aggregate/aggregator.hpp"
#include "base/limited_reports.hpp"
#include "record/display_clock.hpp"
#include "record/record_sink.hpp"
#include "record/time_merger.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// How records are divided, and when the aggregation is complete.
struct interval_options {
    std::int64_t length = 0;  // nanoseconds; 0: a single interval without begin time
    display_clock clock = display_clock::realtime;  // of the intervals
    std::uint64_t events_max = UINT64_MAX;          // number of events, the first ones
    std::uint64_t results_max = UINT64_MAX;
};

/// Divides time into intervals and delivers the result of each interval that contains an event or a
/// loss. Records must be passed in the order of time.
class interval_aggregator {
  public:
    using result_callback = std::function<void(std::optional<std::int64_t> begins)>;

    interval_aggregator(aggregator& computed, interval_options options, result_callback take)
        : computed_(computed), options_(options), take_(std::move(take)) {}

    /// A record after the aggregation is complete is ignored.
    void take(const merged_record& record, const clock_converter& clock);
    /// No later record is earlier than `time`, by the machine's clock. An interval of a custom
    /// clock, whose end may never be reached, ends after its length has passed by the machine's
    /// clock.
    void advance(std::int64_t time);
    /// A limit of the options is reached.
    [[nodiscard]] bool is_complete() const noexcept {
        return events_ == options_.events_max || results_ == options_.results_max;
    }
    /// Delivers the last or only interval, unless all results have been delivered.
    void finish();

  private:
    [[nodiscard]] std::int64_t interval_of(std::int64_t time) const noexcept;
    void begin_interval(const merged_record& record, const clock_converter& clock);
    void end_interval();
    void deliver(std::optional<std::int64_t> begins);

    aggregator& computed_;
    interval_options options_;
    result_callback take_;
    std::uint64_t events_ = 0;   // aggregated in all intervals
    std::uint64_t results_ = 0;  // delivered
    std::optional<std::int64_t> current_;
    std::optional<wide_integer> ends_;  // by the machine's clock, if known
};

class aggregating_sink : public record_sink {
  public:
    /// All must outlive the sink. `filter`, the aggregator's, may be null. `report` receives the
    /// reason if a provider does not fit; its events are left out.
    aggregating_sink(record_filter* filter, aggregator& computed, interval_aggregator& intervals,
                     report_callback report)
        : filter_(filter),
          computed_(computed),
          intervals_(intervals),
          mismatches_(std::move(report)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override { merger_.add(run); }
    void take_loss(const loss_report& loss) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override;

  private:
    void merge(std::uint64_t time, std::uint64_t present);

    record_filter* filter_;
    aggregator& computed_;
    interval_aggregator& intervals_;
    time_merger merger_{0};
    clock_converter clock_;
    limited_reports mismatches_;
};

}  // namespace elog
