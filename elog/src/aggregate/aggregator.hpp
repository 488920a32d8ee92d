// SPDX-License-Identifier: MIT
//
// Computes an aggregation over records, one after the other in any order. What is looked up by name
// is looked up once for each event of a schema; for a record, only the fields that are asked for
// are taken out of the payload, and nothing is allocated, unless it is the first of its key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aggregate/accumulator.hpp"
#include "aggregate/aggregation.hpp"
#include "aggregate/key_format.hpp"
#include "aggregate/key_table.hpp"
#include "predicate/record_filter.hpp"
#include "predicate/value_location.hpp"
#include "record/clock_converter.hpp"
#include "text/wide_integer.hpp"

namespace elog {

/// Records that somebody else has counted and added up, all of one key.
struct partial_sums {
    std::uint64_t records = 0;
    std::vector<wide_integer> sums{};  // for each call that adds up; for others it means nothing
};

/// The same for one call, whichever it is.
struct partial_aggregate {
    std::uint64_t count = 0;    // records that have one
    wide_integer sum = 0;       // of sum and avg
    wide_integer extreme = 0;   // of min and max
    wide_unsigned squares = 0;  // of stddev, with the sum: the lower 128 bits, and what is above
    std::uint64_t squares_high = 0;
    /// Of distributions: numbers in buckets, and how often there is one of that bucket.
    std::vector<std::pair<wide_integer, std::uint64_t>> numbers{};
};

/// How values of a call are to be shown: as the first field was that they came from.
struct display_format {
    eventlog::format format = eventlog::format::plain;
    std::string unit{};
    bool known = false;
    bool floating = false;  // some of them are

    friend bool operator==(const display_format&, const display_format&) = default;
};

class aggregator {
  public:
    static constexpr std::size_t keys_default = 65536;

    /// `filter` may be missing: everything is wanted. It must outlive the aggregator, and know a
    /// provider before the aggregator does. Up to `keys_max` different keys are kept; what has
    /// others is counted and left out. Nothing is said about events that are not chosen.
    aggregator(aggregation query, record_filter* filter, std::size_t keys_max,
               event_choice chosen = {});

    /// Before the provider's first record. Throws failure if a call cannot take a field that an
    /// event has; that event then counts for nothing, and all others as they should.
    void add(const provider_instance& provider);

    /// Throws failure if there is an event of which no version has what the calls can take. That
    /// one of them has is enough: records of the others are left out, and counted.
    void check_types() const { mismatches_.check(); }
    /// Events that cannot be computed with.
    [[nodiscard]] const type_mismatches& mismatches() const noexcept { return mismatches_; }

    /// Throws failure if there are events, but none that has a field that is asked for.
    void check_names() const;

    void take(const record_view& record, const clock_converter& clock);
    /// Takes records that are all like this one in what they are counted by: their keys, and the
    /// fields of distributions. That they are wanted has been asked already.
    void merge_partial(const record_view& like, const clock_converter& clock,
                       const partial_sums& counted);
    /// Of so many records, which are like that in their keys; for each call what it takes of them.
    void merge_partial(const record_view& like, const clock_converter& clock, std::uint64_t records,
                       const std::vector<partial_aggregate>& values);
    /// Records that have been counted elsewhere and found no room for their key there.
    void note_overflowed(std::uint64_t records) noexcept { overflowed_ += records; }
    void note_lost(std::uint64_t events) noexcept { lost_ += events; }

    /// Forgets all values, and keeps what it knows of providers.
    void reset_values();

    struct row {
        std::size_t group = 0;
        const std::vector<key_text>* keys = nullptr;
        const accumulator* values = nullptr;  // one for each call
    };
    /// The largest first, by the first call that gives a number; then by key. No more than the top,
    /// if one is asked for.
    [[nodiscard]] std::vector<row> rows() const;

    [[nodiscard]] const aggregation& query() const noexcept { return query_; }
    [[nodiscard]] const display_format& display_format_of(std::size_t call) const {
        return display_formats_[call];
    }
    [[nodiscard]] double bucket_width_of(std::size_t call) const { return bucket_widths_[call]; }
    [[nodiscard]] std::size_t groups() const noexcept { return table_.size(); }
    [[nodiscard]] std::size_t keys_max() const noexcept { return keys_max_; }
    /// Of records: that went into the values, were lost before they could be read, found no room
    /// for their key, and had a field that does not fit its payload.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_; }
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }
    /// Of those that were wanted, or could not be asked whether they are: left out because the
    /// types of their version suit neither the calls nor the filter.
    [[nodiscard]] std::uint64_t mismatched_records() const noexcept {
        return all_mismatches() - mismatches_before_;
    }
    [[nodiscard]] bool has_results() const noexcept {
        return (taken_ | lost_ | overflowed_ | damaged_ | unknown_ | mismatched_records()) != 0;
    }

  private:
    struct call_input {
        bool taken = false;  // the event has what the call asks for
        bool has_field = false;
        stored_location place{};
        std::uint64_t fixed_bits = 0;  // of a place that is the same for all records
        double step = 0;
        std::uint64_t integer_bucket_width = 0;
        bool powers_of_two = false;
    };
    struct event_plan {
        bool wanted = false;
        bool needs_test = false;
        bool has_fixed_key = false;    // the same for all records of the event
        std::size_t group = SIZE_MAX;  // of the fixed key, once it is known
        std::vector<call_input> calls{};
        std::vector<value_location> keys{};
        std::vector<std::uint32_t> key_format_ids{};  // tells apart what looks different
        std::size_t size = 0;                         // that the payload must have
        std::shared_ptr<const provider_instance> provider{};
    };

    event_plan plan_event(const std::shared_ptr<const provider_instance>& provider,
                          const event_schema& event);
    call_input plan_call(std::size_t call, const provider_instance& provider,
                         const event_schema& event);
    void plan_bucket_width(std::size_t call, const value_location& place, call_input& input,
                           const std::string& called);
    void unify_display_format(std::size_t call, const value_location& place,
                              const std::string& called);
    [[nodiscard]] std::uint32_t key_format_id(const value_location& place);
    void note_names(const provider_instance& provider, const event_schema& event);
    void count_unsuited(const record_view& record, const clock_converter& clock);
    [[nodiscard]] std::uint64_t all_mismatches() const noexcept;
    [[nodiscard]] bool build_group_key(const event_plan& plan, const record_view& record,
                                       const clock_converter& clock);
    [[nodiscard]] std::size_t find_or_add_group(event_plan& plan, const record_view& record,
                                                const clock_converter& clock,
                                                std::uint64_t records);
    void add_group(const event_plan& plan, const record_view& record, const clock_converter& clock);
    void add_values(const event_plan& plan, accumulator* into, const record_view& record,
                    const clock_converter& clock);
    [[nodiscard]] static wide_integer load_integer(const call_input& input,
                                                   const record_view& record,
                                                   const clock_converter& clock) noexcept;
    void merge_partial_call(aggregate_function what, const call_input& input, accumulator& into,
                            const record_view& like, const clock_converter& clock,
                            std::uint64_t records, wide_integer sum);
    static void merge_partial_call(aggregate_function what, const call_input& input,
                                   accumulator& into, const partial_aggregate& values);
    static void add_to_buckets(aggregate_function what, const call_input& input, accumulator& into,
                               wide_integer number, std::uint64_t times);
    void add_number(aggregate_function what, const call_input& input, accumulator& into,
                    const record_view& record, const clock_converter& clock);

    aggregation query_;
    record_filter* filter_;
    std::size_t keys_max_;
    event_choice chosen_;
    std::vector<std::vector<event_plan>> plans_;   // by provider and event
    std::vector<display_format> display_formats_;  // by call
    std::vector<double> bucket_widths_;            // by call, in the field's unit; 0: none
    std::unordered_map<std::string, std::uint32_t> key_format_ids_;
    std::vector<bool> known_calls_;
    std::vector<bool> known_keys_;
    known_names names_;
    bool has_events_ = false;
    type_mismatches mismatches_;

    key_table table_;
    std::vector<accumulator> values_;           // by group and call
    std::vector<std::vector<key_text>> texts_;  // by group
    std::size_t text_size_ = 0;
    std::string key_;  // the one being built

    std::uint64_t taken_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t overflowed_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t unknown_ = 0;
    std::uint64_t mismatches_before_ = 0;  // of those, before reset_values
};

}  // namespace elog
