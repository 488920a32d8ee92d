// SPDX-License-Identifier: MIT
//
// From a subscription to the traffic that it carries. Order does not matter for counting, so
// records are taken as they come.
#pragma once

#include <set>
#include <string>

#include "predicate/record_filter.hpp"
#include "record/clock_table.hpp"
#include "record/record_sink.hpp"
#include "top/traffic.hpp"

namespace elog {

class traffic_sink : public record_sink {
  public:
    /// Both must outlive it. `filter` may be missing: everything counts.
    traffic_sink(record_filter* filter, traffic& counted) : filter_(filter), counted_(counted) {}

    void start(const open_region& source) override;
    void take_clock(const eventlog_clock_pair& pair) override { clock_.add(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    /// Losses are asked for while there is somebody to show them to: see recording::losses_of.
    void take_loss(const loss_block& /*loss*/) override {}
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void finish() override {}

    /// Sentences about providers whose types do not allow what the filter asks, each once.
    [[nodiscard]] const std::set<std::string>& complaints() const noexcept { return complaints_; }

  private:
    record_filter* filter_;
    traffic& counted_;
    clock_table clock_;
    std::set<std::string> complaints_;
};

}  // namespace elog
