// SPDX-License-Identifier: MIT
//
// Looking at all events of a subscription that others own, as they are recorded, for some that a
// predicate wants. Nothing is kept of them, and nothing is stored in the region.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "memory/region_reader.hpp"
#include "predicate/record_filter.hpp"
#include "record/clock_converter.hpp"

namespace elog {

class trigger_watch {
  public:
    /// Events count from now on. Both must outlive it. Throws failure.
    trigger_watch(const region_view& source, record_filter& wanted);

    /// Looks at what has been recorded since the last call; returns how many were wanted. Throws
    /// failure if the region has been cut short.
    std::uint64_t poll();

    /// How many have been looked at.
    [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }
    /// How many could not be, after the last look: newer ones had taken their place, or they made
    /// no sense.
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
    std::set<std::string> diagnostics_;
    std::uint64_t seen_ = 0;
    std::uint64_t missed_before_ = 0;
};

}  // namespace elog
