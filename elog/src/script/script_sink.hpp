// SPDX-License-Identifier: MIT
//
// Runs a script over a live recording: sorts the records by time.
#pragma once

#include <utility>

#include "base/limited_reports.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "record/time_merger.hpp"
#include "script/script_runner.hpp"

namespace elog {

class script_sink : public record_sink {
  public:
    /// The runner has to outlive the sink. `report` receives the reason if a provider does not fit.
    /// The caller runs script_runner::begin and, behind finish, script_runner::finish.
    script_sink(script_runner& runner, report_callback report)
        : runner_(runner), mismatches_(std::move(report)) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override { merger_.add(run); }
    void take_loss(const loss_report& loss) override;
    void advance(std::uint64_t time, std::uint64_t present) override;
    void finish() override { merge(UINT64_MAX, UINT64_MAX); }

  private:
    void merge(std::uint64_t time, std::uint64_t present);

    script_runner& runner_;
    time_merger merger_{0};
    clock_converter clock_;
    limited_reports mismatches_;
};

}  // namespace elog
