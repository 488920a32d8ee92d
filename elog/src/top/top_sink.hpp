// SPDX-License-Identifier: MIT
//
// From a subscription to the traffic that it carries. Order does not matter for counting, so
// records are taken as they come.
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
    /// Both must outlive it. `filter` may be missing: everything counts.
    top_sink(record_filter* filter, top_statistics& counted) : filter_(filter), counted_(counted) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    /// Losses are asked for while there is somebody to show them to: see recording::losses_of.
    void take_loss(const loss_block& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

    /// Sentences about providers whose types do not allow what the filter asks, each once.
    [[nodiscard]] const std::set<std::string>& complaints() const noexcept { return diagnostics_; }

  private:
    record_filter* filter_;
    top_statistics& counted_;
    clock_converter clock_;
    std::set<std::string> diagnostics_;
};

}  // namespace elog
