// SPDX-License-Identifier: MIT
//
// Decides which aggregation of an event a BPF program computes in the kernel (bpf_counter.hpp), and
// lays out its table.
//
// - As with histograms (pushdown.hpp), only results that are exactly those of aggregating each
//   record in elog are computed in the kernel.
// - A key consists of the grouping values. A value is one word for the number of records, then the
//   words of each call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aggregate/aggregation.hpp"
#include "predicate/compiled_predicate.hpp"
#include "text/wide_integer.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

struct bpf_key {
    stored_location location{};
    bool has_state = false;  // a word in front states whether there is a value
    std::uint32_t begin = 0;
    std::uint32_t size = 0;  // including that word, a multiple of 8
};

struct bpf_call {
    aggregate_function what{};
    bool taken = false;          // the event has the call's field
    bool has_own_count = false;  // optional field: the first word counts the records that have it
    stored_location location{};
    std::uint32_t begin = 0;  // index of its first word in the value
    /// Of a distribution: number of words; `first` is the index of the first bucket.
    std::uint32_t buckets = 0;
    std::int64_t first = 0;
    std::uint64_t step = 1;

    /// Index of the first word behind the count.
    [[nodiscard]] std::uint32_t numbers() const noexcept { return begin + (has_own_count ? 1 : 0); }
};

struct bpf_plan {
    std::optional<folded_predicate> wanted{};  // nothing: all records
    std::vector<bpf_key> keys{};               // without those that are equal for all records
    std::vector<bpf_call> calls{};
    eventlog::tracefs::location text_base = eventlog::tracefs::location::rel_loc;
    std::uint32_t key_size = 8;
    std::uint32_t words = 1;  // of a value
    std::uint32_t keys_max = 1;
    std::uint64_t bytes = 0;  // estimate of the kernel's memory
    std::string by{};         // for messages
};

struct bpf_plan_result {
    std::shared_ptr<const bpf_plan> plan{};  // nothing: not by BPF
    std::string reason{};  // reason, as a sentence without its end; empty: events of this kind are
                           // never counted by BPF
};

/// Kernel memory that all tables together may use.
inline constexpr std::uint64_t bpf_bytes_max = std::uint64_t{128} << 20U;

/// The width of the buckets of a hist() with a step, in the unit of the field. Throws user_error if
/// it is not an integer.
[[nodiscard]] std::uint64_t bucket_width_of(const std::string& source, const aggregate_call& call,
                                            const value_location& location);

/// `where` may be nullptr. The kernel keeps a value for each of `cpus` CPUs.
[[nodiscard]] bpf_plan_result plan_bpf(const aggregation& asked, std::size_t keys_max,
                                       const kernel_trace_event& event, const predicate* where,
                                       std::int64_t reference_time, std::uint32_t cpus);

}  // namespace elog
