// SPDX-License-Identifier: MIT
//
// Computes an aggregation over records in any order.
//
// - Names are resolved once for each event of a schema.
// - For a record, only the fields in use are read, and memory is allocated only for a new key.
// - Memory is bounded by the number of keys and the size of their texts.
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

/// Sums of records of one key that were counted elsewhere.
struct partial_sums {
    std::uint64_t records = 0;
    std::vector<wide_integer> sums{};  // for each call that adds values; unused for others
};

/// The partial result of one call.
struct partial_aggregate {
    std::uint64_t count = 0;    // records with a value
    wide_integer sum = 0;       // for sum and avg
    wide_integer extreme = 0;   // for min and max
    wide_unsigned squares = 0;  // for stddev, with `sum`: the lower 128 bits, and the bits above
    std::uint64_t squares_high = 0;
    /// For distributions: a number in each bucket, and the bucket's count.
    std::vector<std::pair<wide_integer, std::uint64_t>> numbers{};
};

/// The display format of a call's values, determined by the first field that supplied one.
struct display_format {
    eventlog::format format = eventlog::format::plain;
    std::string unit{};
    bool known = false;
    bool floating = false;  // at least one value is a float

    friend bool operator==(const display_format&, const display_format&) = default;
};

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
    void check_types() const { mismatches_.check(); }
    /// Events that do not suit the calls.
    [[nodiscard]] const type_mismatches& mismatches() const noexcept { return mismatches_; }

    /// Throws user_error if there are events, but none has one of the requested fields.
    void check_names() const;

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
    void note_lost(std::uint64_t events) noexcept { lost_ += events; }

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

    [[nodiscard]] const aggregation& query() const noexcept { return query_; }
    [[nodiscard]] const display_format& display_format_of(std::size_t call) const {
        return display_formats_[call];
    }
    [[nodiscard]] double bucket_width_of(std::size_t call) const { return bucket_widths_[call]; }
    [[nodiscard]] std::size_t groups() const noexcept { return table_.size(); }
    [[nodiscard]] std::size_t keys_max() const noexcept { return keys_max_; }
    /// Numbers of records: included in the values, lost before they were read, left out because of
    /// the key limit, and with a field outside of their payload.
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] std::uint64_t overflowed() const noexcept { return overflowed_; }
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }
    [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }
    /// Records that match, or could not be tested, and are left out because the types of their
    /// version suit neither the calls nor the filter.
    [[nodiscard]] std::uint64_t mismatched_records() const noexcept {
        return all_mismatches() - mismatches_before_;
    }
    [[nodiscard]] bool has_results() const noexcept {
        return (taken_ | lost_ | overflowed_ | damaged_ | unknown_ | mismatched_records()) != 0;
    }

  private:
    struct call_input {
        bool taken = false;  // the event has what the call needs
        bool has_field = false;
        stored_location place{};
        std::uint64_t fixed_bits = 0;  // of a location that is the same for all records
        double step = 0;
        std::uint64_t integer_bucket_width = 0;
        bool powers_of_two = false;
    };
    struct event_plan {
        bool wanted = false;
        bool needs_test = false;
        bool has_fixed_key = false;    // the same for all records of the event
        std::size_t group = SIZE_MAX;  // of the fixed key, once known
        std::vector<call_input> calls{};
        std::vector<value_location> keys{};
        std::vector<std::uint32_t> key_format_ids{};  // differs if equal values look different
        std::size_t size = 0;                         // required size of the payload
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
    std::string key_;  // under construction

    std::uint64_t taken_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t overflowed_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t unknown_ = 0;
    std::uint64_t mismatches_before_ = 0;  // of those, before reset_values
};

}  // namespace elog
