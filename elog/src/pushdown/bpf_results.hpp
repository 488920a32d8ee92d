// SPDX-License-Identifier: MIT
//
// Merges what BPF programs have counted (bpf_plan.hpp) into the result of an aggregation.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "aggregate/aggregator.hpp"
#include "bpf/bpf_counter.hpp"
#include "pushdown/bpf_plan.hpp"

namespace elog {

/// The aggregator knows the event by that provider number.
struct bpf_results {
    std::uint32_t provider = 0;
    const kernel_trace_event* event = nullptr;
    std::shared_ptr<const bpf_plan> plan{};
    eventlog::tracefs::bpf_table table{};
};

/// Adds the counts. If there are more keys than the aggregator keeps, those with the fewest records
/// of their event are left out.
void merge_bpf_results(aggregator& computed, const std::vector<bpf_results>& all);

}  // namespace elog
