// SPDX-License-Identifier: MIT
//
// Decides which records a recording keeps: every Nth one of an event, and at most so many in a
// second. Counts all others exactly.
//
// - An event that several patterns match has the densest of their rates. A pattern that ends in #
//   applies to records of the subscription's sessions.
// - 1/N keeps the 1st, the N+1st, ... record in the order of arrival, counted for an event of all
//   processes together. The limit of the rate applies to the records that sampling keeps.
// - The time of a record with a custom clock is that of the record before it on its ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "record/clock_converter.hpp"
#include "record/rate_limiter.hpp"
#include "record/records.hpp"
#include "record/sampling_report.hpp"
#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"
#include "schema/sampling.hpp"

namespace elog {

class record_sampler {
  public:
    /// The rates in `wanted` belong to `patterns` by their index. `present` is the clock of the
    /// limit of the rate.
    record_sampler(event_patterns patterns, sampling_options wanted,
                   rate_limiter::clock present = rate_limiter::machine_time);

    /// Begins a region with that many rings. `begin` is its first time, on its clock.
    void start(std::size_t ring_count, std::uint64_t begin);

    /// Must precede the provider's first record; a second provider with the same number replaces
    /// the first. Events keep their counts.
    void add(const provider_instance& provider);

    /// Whether the next record of the ring is kept. A record of an unknown event is not sampled.
    [[nodiscard]] bool keeps(const record_view& record, std::uint32_t ring,
                             const clock_converter& clock);

    [[nodiscard]] std::uint64_t kept() const noexcept { return total_.kept; }
    /// The report without events.
    [[nodiscard]] const sampling_report& totals() const noexcept { return total_; }
    [[nodiscard]] sampling_report report() const;

  private:
    struct counter {
        sampled_event counts;
        std::uint64_t left = 0;  // records to omit before the next one that is kept
    };
    /// The counters of an event, as indexes; they are equal if sessions make no difference.
    struct event_counters {
        std::size_t in_session = 0;
        std::size_t other = 0;
        std::optional<std::size_t> session_offset;  // of the session's number, if they differ
    };

    [[nodiscard]] event_counters counters_of(const provider_schema& provider,
                                             const event_schema& event);
    [[nodiscard]] std::size_t counter_of(const std::string& provider, const std::string& event,
                                         std::uint64_t every);
    [[nodiscard]] counter* find(const record_view& record) noexcept;
    [[nodiscard]] bool is_in_session(const record_view& record, std::size_t offset) const noexcept;
    [[nodiscard]] std::uint64_t time_of(const record_view& record, std::uint32_t ring) noexcept;

    event_patterns patterns_;
    sampling_options wanted_;
    std::optional<rate_limiter> limiter_;
    std::vector<counter> counters_;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, std::size_t> places_;
    std::vector<std::vector<event_counters>> events_;  // by provider and event
    std::vector<std::uint64_t> last_;  // by ring: time of the last record without a custom clock
    sampling_report total_;            // without events
};

}  // namespace elog
