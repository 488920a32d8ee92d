// SPDX-License-Identifier: MIT
//
// Which part of an aggregation the kernel computes for an event, by a histogram of its own
// (hist_table.hpp), and what of that becomes part of our result. Only what comes out the same, to
// the last digit, as if each record had come here: all else is computed here.
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

/// Where a record of ours has what the kernel told events apart by.
struct pushdown_key {
    field_source source = field_source::payload;  // or thread, cpu, or fixed: nowhere
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

struct pushdown_event {
    eventlog::tracefs::hist_request asked{};
    std::vector<pushdown_key> keys{};  // one for each of the histogram's
    std::size_t group_keys = 0;  // so many of them tell groups apart, the others values of one
    /// For each call: which of the histogram's sums is its, and whether that has a sign.
    struct summand {
        std::optional<std::size_t> sum{};
        bool is_signed = false;
    };
    std::vector<summand> summands{};
    /// The kernel's sums have 64 bits: events with values that may be too large are kept by the
    /// kernel, if this is true for them, and computed with here; empty: there are none.
    std::string rest{};
};

struct pushdown_decision {
    std::shared_ptr<const pushdown_event> pushed{};  // nothing: it is not
    std::string reason{};                            // why not, as a sentence without its end
    bpf_plan_result by_bpf{};  // in place of the histogram, where that cannot be or counts a part
};

/// `condition` is what the kernel makes of the predicate; whole if there is none.
[[nodiscard]] pushdown_decision decide_pushdown(const aggregation& asked, std::size_t keys_max,
                                                const kernel_trace_event& event,
                                                const kernel_condition& condition);

/// That it is not pushed, and why not.
[[nodiscard]] pushdown_decision refused(std::string reason);

/// An event that the kernel counts.
struct counted_event {
    const kernel_trace_event* event = nullptr;
    std::shared_ptr<const pushdown_event> pushed{};
};

/// Keys of all histograms together, for which the kernel takes the memory when they begin: 130 MB.
inline constexpr std::uint64_t histogram_keys_max = std::uint64_t{1} << 19U;

/// Why the kernel has no room to count one more beside those, as a sentence without its end; empty:
/// it has.
[[nodiscard]] std::string capacity_reason(const std::vector<counted_event>& before,
                                          const pushdown_event& wanted);

/// What it has counted of it. The aggregator knows the event as one of that provider.
struct pushdown_counts {
    std::uint16_t provider = 0;
    counted_event of{};
    eventlog::tracefs::hist_table table{};
};

/// Adds what the kernel has counted. Where there are more keys than the aggregator keeps, those are
/// left out that have the fewest records of their event. Throws failure, when all else has been
/// added, if the kernel has counted more of an event than its sums can hold.
void add_counts(aggregator& computed, const std::vector<pushdown_counts>& all);

}  // namespace elog
