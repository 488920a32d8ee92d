// SPDX-License-Identifier: MIT
//
// Runs a script over records in the order of time: finds the clauses of each event, applies their
// predicates and executes their actions.
//
// A tick has the time of the records, so a script gives the same results for a recording as live.
// If more than ticks_max ticks lie between two records, the first ones are skipped and counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "base/user_error.hpp"
#include "predicate/record_filter.hpp"
#include "record/time_merger.hpp"
#include "schema/patterns.hpp"
#include "script/latency_pairs.hpp"
#include "script/script.hpp"

namespace elog {

/// Where a script's actions go. Calls are in the order of the actions.
class script_output {
  public:
    script_output() = default;
    script_output(const script_output&) = delete;
    script_output& operator=(const script_output&) = delete;
    virtual ~script_output() = default;

    virtual void print(const merged_record& record, const provider_map& providers,
                       const clock_converter& clock) = 0;
    /// Whole lines.
    virtual void write(std::string_view lines) = 0;
    /// `unmatched` is null for results other than latencies.
    virtual void show(const script_result& result, const aggregator& computed,
                      const latency_counts* unmatched) = 0;
    virtual void request_snapshot(const std::string& reason) = 0;
};

struct script_run_options {
    std::int64_t reference_time = 0;  // for predicates: see record_filter
    std::size_t keys_max = aggregator::keys_default;
};

class script_runner {
  public:
    static constexpr std::uint64_t ticks_max = 10'000;

    /// Both have to outlive the runner. Throws user_error as predicates and patterns do.
    script_runner(const script& wanted, const script_run_options& options, script_output& output);
    ~script_runner();
    script_runner(const script_runner&) = delete;
    script_runner& operator=(const script_runner&) = delete;

    /// Must precede the provider's first record. Throws user_error for the first event that does
    /// not fit the script: that event is then ignored where it does not fit.
    void add(const provider_instance& provider);
    /// Throws user_error if an event fits in no version, and, for `all_are_known`, if no event has
    /// a name of the script.
    void check(bool all_are_known) const;
    /// Throws user_error if there are events, but none that a pattern matches.
    void check_patterns() const;

    /// Runs BEGIN, once, before the first record.
    void begin();
    void take(const merged_record& record, const clock_converter& clock);
    /// No record before that time, on CLOCK_MONOTONIC, follows: runs the ticks up to it.
    void advance(std::int64_t time);
    void note_missing(const missing_count& missing);
    /// Runs END and shows the results.
    void finish();

    /// exit() has been executed: no record is taken any more.
    [[nodiscard]] bool is_done() const noexcept { return done_; }
    [[nodiscard]] std::uint64_t skipped_ticks() const noexcept { return skipped_ticks_; }
    /// Records of unknown providers or newer versions.
    [[nodiscard]] std::uint64_t unknown() const noexcept { return unknown_; }
    /// Sentences about records that were left out because their version of an event does not fit.
    [[nodiscard]] std::vector<std::string> mismatches() const;
    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }

  private:
    struct clause_plan;
    struct tick_state;
    struct clause_state;
    struct result_state;
    struct context;

    void run_all(probe_kind kind);
    void run_clause(const clause_state& clause, const context* event);
    void run_action(std::size_t index, const clause_state& clause, const context* event);
    void print_stack(const context& event);
    void show(std::size_t result);
    void clear(std::size_t result);
    void add_to_clause(clause_state& clause, const provider_instance& provider,
                       std::optional<user_error>& mistake);

    const script& script_;
    script_output& output_;
    std::vector<std::unique_ptr<clause_state>> clauses_;
    std::vector<std::unique_ptr<result_state>> results_;
    provider_map providers_;
    fmt::memory_buffer line_;
    bool has_events_ = false;
    bool done_ = false;
    std::uint64_t skipped_ticks_ = 0;
    std::uint64_t unknown_ = 0;
};

}  // namespace elog
