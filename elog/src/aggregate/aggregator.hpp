// SPDX-License-Identifier: MIT
//
// Computes an aggregation over records in any order.
//
// - For a record, only the fields in use are read, and memory is allocated only for a new key.
// - Memory is bounded by the number of keys and the size of their texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregate/accumulator.hpp"
#include "aggregate/aggregate_planner.hpp"
#include "aggregate/aggregation.hpp"
#include "aggregate/call_values.hpp"
#include "aggregate/key_format.hpp"
#include "aggregate/key_table.hpp"
#include "predicate/record_filter.hpp"
#include "record/clock_converter.hpp"
#include "record/loss.hpp"

namespace elog {

class aggregator {
  public:
    static constexpr std::size_t keys_default = 65536;

    /// `filter` may be null: every record matches. It must outlive the aggregator, and each
    /// provider must be added to it first. Records with keys beyond `keys_max` are counted and left
    /// out. Events that `chosen` rejects cause no messages.
    aggregator(aggregation query, record_filter* filter, std::size_t keys_max,
               event_choice chosen = {});

    /// Must precede the provider's first record. Throws user_error if a call cannot use a field of
    /// an event: that event is then ignored; the other events are not affected.
    void add(const provider_instance& provider);

    /// Throws user_error if there is an event with no version that suits the calls. With one
    /// suitable version, records of the others are left out and counted.
    void check_types() const { mismatches().check(); }
    /// Events that do not suit the calls.
    [[nodiscard]] const type_mismatches& mismatches() const noexcept {
        return planner_.mismatches();
    }

    /// Throws user_error if there are events, but none has one of the requested fields.
    void check_names() const { planner_.check_names(); }

    void take(const record_view& record, const clock_converter& clock);
    /// Adds records that agree with `like` in their keys and in the fields of distributions. The
    /// caller has applied the filter.
    void merge_partial(const record_view& like, const clock_converter& clock,
                       const partial_sums& counted);
    /// Adds `records` records that agree with `like` in their keys, with the partial result of each
    /// call.
    void merge_partial(const record_view& like, const clock_converter& clock, std::uint64_t records,
                       const std::vector<partial_aggregate>& values);
    /// Counts records that found no room for their key where they were aggregated.
    void note_overflowed(std::uint64_t records) noexcept { overflowed_ += records; }
    void note_missing(const missing_count& missing) noexcept { missing_.add(missing); }

    /// Removes all values and keeps the plans of providers.
    void reset_values();

    struct row {
        std::size_t group = 0;
        const std::vector<key_text>* keys = nullptr;
        const accumulator* values = nullptr;  // one for each call
    };
    /// Groups sorted by the first call with a numeric result, largest first, then by key; at most
    /// `top` of them if that is set.
    [[nodiscard]] std::vector<row> rows() const;

    [[nodiscard]] const aggregation& query() const noexcept { return planner_.query(); }
    [[nodiscard]] const display_format& display_format_of(std::size_t call) const {
        return planner_.display_format_of(call);
    }
    [[nodiscard]] double bucket_width_of(std::size_t call) const {
        return planner_.bucket_width_of(call);
    }
    [[nodiscard]] std::size_t groups() const noexcept { return table_.size(); }
    [[nodiscard]] std::size_t keys_max() const noexcept { return keys_max_; }
    /// Numbers of records: included in the values, lost or overwritten before they were read, left
    /// out because of the key limit, and with a field outside of their payload.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return missing_.lost; }
    [[nodiscard]] std::uint64_t overwritten() const noexcept { return missing_.overwritten; }
    [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_; }
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }
    /// Records that match, or could not be tested, and are left out because the types of their
    /// version suit neither the calls nor the filter.
    [[nodiscard]] std::uint64_t mismatched_records() const noexcept {
        return all_mismatches() - mismatches_before_;
    }
    [[nodiscard]] bool has_results() const noexcept {
        return (taken_ | lost() | overwritten() | overflowed_ | damaged_ | unknown_ |
                mismatched_records()) != 0;
    }

  private:
    template <class Merge>
    void merge_group(const record_view& like, const clock_converter& clock, std::uint64_t records,
                     const Merge& merge);
    void count_unsuited(const record_view& record, const clock_converter& clock);
    [[nodiscard]] std::uint64_t all_mismatches() const noexcept;
    [[nodiscard]] bool build_group_key(const event_plan& plan, const record_view& record,
                                       const clock_converter& clock);
    [[nodiscard]] std::size_t find_or_add_group(event_plan& plan, const record_view& record,
                                                const clock_converter& clock,
                                                std::uint64_t records);
    void add_group(const event_plan& plan, const record_view& record, const clock_converter& clock);

    aggregate_planner planner_;
    record_filter* filter_;
    std::size_t keys_max_;
    std::vector<std::vector<event_plan>> plans_;  // by provider and event

    key_table table_;
    std::vector<accumulator> values_;           // by group and call
    std::vector<std::vector<key_text>> texts_;  // by group
    std::size_t text_size_ = 0;
    std::string key_;  // under construction

    std::uint64_t taken_ = 0;
    missing_count missing_;
    std::uint64_t overflowed_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t unknown_ = 0;
    std::uint64_t mismatches_before_ = 0;  // of those, before reset_values
};

}  // namespace elog
