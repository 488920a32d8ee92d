// SPDX-License-Identifier: MIT
#include "pushdown/bpf_aggregation.hpp"

#include <utility>

#include <fmt/core.h>

#include "kernel/error.hpp"
#include "kernel/instance.hpp"
#include "pushdown/bpf_code_generator.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {

namespace tracefs = eventlog::tracefs;

std::string bpf_aggregation::begin(const kernel_trace_event& event,
                                   const std::shared_ptr<const bpf_plan>& plan) {
    if (bytes_ + plan->bytes > bpf_bytes_max) {
        return fmt::format("the tables of BPF programs before it take all the memory that they "
                           "may, {} MiB",
                           bpf_bytes_max >> 20U);
    }
    tracefs::bpf_request asked;
    asked.key_size = plan->key_size;
    asked.words = plan->words;
    asked.keys_max = plan->keys_max;
    asked.program = [&](const tracefs::bpf_maps& maps) { return generate_bpf_code(*plan, maps); };
    try {
        all_.push_back({&event, plan, tracefs::bpf_counter(event.format.id, asked)});
    } catch (const tracefs::error& mistake) {
        return mistake.what();
    }
    bytes_ += plan->bytes;
    return {};
}

void bpf_aggregation::stop() noexcept {
    for (counted& each : all_) {
        each.counter.stop();
    }
    if (!all_.empty()) {
        tracefs::wait_for_writers();
    }
}

std::vector<bpf_results> bpf_aggregation::take(const find_provider& provider_of,
                                               std::optional<user_error>& mistake) const {
    std::vector<bpf_results> found;
    for (const counted& each : all_) {
        try {
            tracefs::bpf_table table = convert_tracefs_errors([&] { return each.counter.read(); });
            // An event without records stays unknown to the sink, as without pushdown.
            const bool has_come =
                !table.entries.empty() || table.missed != 0 || table.losses.refused != 0;
            if (has_come) {
                found.push_back(
                    {provider_of(*each.event), each.event, each.plan, std::move(table)});
            }
        } catch (const user_error& error) {
            mistake = mistake ? mistake : std::optional(error);
        }
    }
    return found;
}

}  // namespace elog
