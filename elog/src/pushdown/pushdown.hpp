// SPDX-License-Identifier: MIT
//
// Decides which part of an aggregation the kernel computes for an event with a histogram
// (hist_table.hpp), and merges the counts into the result.
//
// Only results that are exactly those of aggregating each record in elog are computed in the
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregation.hpp"
#include "aggregate/aggregator.hpp"
#include "kernel/hist_table.hpp"
#include "pushdown/bpf_plan.hpp"
#include "tracing/kernel_condition.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

/// Location, in a record of elog, of a key of the kernel's histogram.
struct pushdown_key {
    field_source source = field_source::payload;  // or thread, cpu; fixed: in no location
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

struct pushdown_event {
    eventlog::tracefs::hist_request asked{};
    std::vector<pushdown_key> keys{};  // one for each key of the histogram
    std::size_t group_keys =
        0;  // number of keys that identify the group; the rest are buckets of distributions
    /// For each call: the index of its sum in the histogram, and the signedness.
    struct summand {
        std::optional<std::size_t> sum{};
        bool is_signed = false;
    };
    std::vector<summand> summands{};
    /// The kernel's sums have 64 bits. The kernel records the events for which this condition is
    /// true, because their values may be too large, and elog aggregates them; empty: none.
    std::string rest{};
};

struct pushdown_decision {
    std::shared_ptr<const pushdown_event> pushed{};  // nothing: not pushed down
    std::string reason{};                            // reason, as a sentence without its end
    bpf_plan_result by_bpf{};  // instead of the histogram, if there is none or it counts a part
};

/// `condition` is the translated predicate; whole if there is none.
[[nodiscard]] pushdown_decision decide_pushdown(const aggregation& asked, std::size_t keys_max,
                                                const kernel_trace_event& event,
                                                const kernel_condition& condition);

/// A decision against pushdown with its reason.
[[nodiscard]] pushdown_decision refused(std::string reason);

/// An event that the kernel counts.
struct counted_event {
    const kernel_trace_event* event = nullptr;
    std::shared_ptr<const pushdown_event> pushed{};
};

/// Keys of all histograms together, for which the kernel allocates memory in advance: 130 MB.
inline constexpr std::uint64_t histogram_keys_max = std::uint64_t{1} << 19U;

/// The reason why a further histogram would exceed that limit, as a sentence without its end;
/// empty: it fits.
[[nodiscard]] std::string capacity_reason(const std::vector<counted_event>& before,
                                          const pushdown_event& wanted);

/// Counts of an event. The aggregator knows the event by that provider number.
struct pushdown_counts {
    std::uint32_t provider = 0;
    counted_event of{};
    eventlog::tracefs::hist_table table{};
};

/// Adds the counts. If there are more keys than the aggregator keeps, those with the fewest records
/// of their event are left out. If a key has more events than the sums can hold, throws user_error
/// after everything else has been added.
void add_counts(aggregator& computed, const std::vector<pushdown_counts>& all);

}  // namespace elog
