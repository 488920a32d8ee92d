// SPDX-License-Identifier: MIT
//
// A record_sink that counts the events of a subscription. The order of records does not matter, so
// they are counted as they arrive.
#pragma once

#include <set>
#include <string>

#include "predicate/record_filter.hpp"
#include "record/clock_converter.hpp"
#include "record/record_sink.hpp"
#include "top/top_statistics.hpp"

namespace elog {

class top_sink : public record_sink {
  public:
    /// Both must outlive the sink. Without `filter` all records count.
    top_sink(record_filter* filter, top_statistics& counted) : filter_(filter), counted_(counted) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    /// Losses are polled from the recording: see recording::losses_of.
    void take_loss(const loss_report& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

    /// Messages about providers whose types do not fit the filter, each once.
    [[nodiscard]] const std::set<std::string>& complaints() const noexcept { return diagnostics_; }

  private:
    record_filter* filter_;
    top_statistics& counted_;
    clock_converter clock_;
    std::set<std::string> diagnostics_;
};

}  // namespace elog
