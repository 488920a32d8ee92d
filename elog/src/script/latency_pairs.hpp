// SPDX-License-Identifier: MIT
//
// Pairs of events, a begin and an end with equal fields, and the time between the two.
//
// - The end of a pair becomes a record of its event with one field more, latency_field, which an
//   aggregator takes like any other. So keys of the aggregation are fields of the end.
// - The begin of a pair is the last one with these values. One that another begin replaces, one
//   without an end, and an end without a begin are counted.
// - Memory is bounded: open_max begins are open, further ones are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "predicate/value_location.hpp"
#include "schema/patterns.hpp"
#include "script/script.hpp"

namespace elog {

struct latency_counts {
    std::uint64_t begins_without_end = 0;
    std::uint64_t ends_without_begin = 0;
    std::uint64_t overflowed = 0;  // begins beyond open_max
    std::uint64_t unusable = 0;    // records without the fields, or with an end before its begin

    [[nodiscard]] bool any() const noexcept {
        return (begins_without_end | ends_without_begin | overflowed | unusable) != 0;
    }
};

class latency_pairs {
  public:
    static constexpr std::size_t open_max = 262'144;
    static constexpr std::size_t key_size_max = 4096;

    /// Both have to outlive the object.
    latency_pairs(const latency_query& query, aggregator& durations);

    /// Must precede the provider's first record. Throws user_error if a field cannot be compared,
    /// or as aggregator::add.
    void add(const provider_instance& provider);
    /// Throws user_error if there are events, but none that both names fit, or none with the
    /// fields.
    void check_names() const;

    void take(const record_view& record, const clock_converter& clock);
    /// Keeps open begins: their ends may follow.
    void clear_counts() noexcept { counts_ = {}; }
    [[nodiscard]] latency_counts counts() const noexcept;

  private:
    struct event_role {
        bool begins = false;
        bool ends = false;
        std::vector<value_location> by{};
    };

    [[nodiscard]] event_role role_of(const provider_instance& provider, const event_schema& event);
    [[nodiscard]] bool build_key(const event_role& role, const record_view& record,
                                 const clock_converter& clock);
    void begin(const record_view& record, const clock_converter& clock);
    void end(const record_view& record, const clock_converter& clock);

    const latency_query& query_;
    aggregator& durations_;
    event_patterns begin_;
    event_patterns end_;
    provider_map kept_;                                                 // what locations refer to
    std::unordered_map<std::uint32_t, std::vector<event_role>> roles_;  // by provider and event
    // CLOCK_MONOTONIC of the begins. No hash table: programs choose the keys.
    std::map<std::string, std::int64_t, std::less<>> open_;
    latency_counts counts_;
    known_names names_;
    std::vector<bool> known_by_;
    bool has_events_ = false;
    bool has_begin_ = false;
    bool has_end_ = false;
    std::string key_;                    // under construction
    std::vector<std::uint8_t> payload_;  // under construction
};

}  // namespace elog
