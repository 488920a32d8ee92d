// SPDX-License-Identifier: MIT
//
// Counts the events of another process's subscription that match a predicate, as they are recorded
// (`--when`). Keeps no events and stores nothing in the region.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/limited_reports.hpp"
#include "memory/region_reader.hpp"
#include "predicate/record_filter.hpp"
#include "record/clock_converter.hpp"

namespace elog {

class trigger_watch {
  public:
    /// Events count from now on. `source` and `wanted` must outlive it. `report` receives the
    /// reason if a provider does not fit. Throws user_error.
    trigger_watch(const region_view& source, record_filter& wanted, report_callback report);

    /// Reads what has been recorded since the last call and returns the number of matching events.
    /// Throws user_error if the region has been truncated.
    std::uint64_t poll();

    /// Number of events read.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    /// Number of events that were not read, after the last poll: overwritten before they were read,
    /// or damaged.
    [[nodiscard]] std::uint64_t missed();

  private:
    void read_clock_if_due();
    void take_new_providers();
    [[nodiscard]] std::uint64_t all_missed() const noexcept;

    region_view source_;
    record_filter& wanted_;
    region_reader reader_;
    eventlog_clock_sample start_;
    clock_converter clock_;
    std::chrono::steady_clock::time_point clock_due_{};
    limited_reports mismatches_;
    std::uint64_t seen_ = 0;
    std::uint64_t missed_before_ = 0;
};

}  // namespace elog
