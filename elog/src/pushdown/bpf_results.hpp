// SPDX-License-Identifier: MIT
//
// What BPF programs have counted of events (bpf_plan.hpp), as part of our result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "bpf/bpf_counter.hpp"
#include "pushdown/bpf_plan.hpp"

namespace elog {

/// The aggregator knows the event as one of that provider.
struct bpf_results {
    std::uint16_t provider = 0;
    const kernel_trace_event* event = nullptr;
    std::shared_ptr<const bpf_plan> plan{};
    eventlog::tracefs::bpf_table table{};
};

/// Adds what has been counted. Where there are more keys than the aggregator keeps, those are left
/// out that have the fewest records of their event.
void merge_bpf_results(aggregator& computed, const std::vector<bpf_results>& all);

}  // namespace elog
