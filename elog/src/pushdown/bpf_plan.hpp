// SPDX-License-Identifier: MIT
//
// Which aggregation of an event a BPF program of the kernel's computes (bpf_counter.hpp), and how
// that lies in its table. As with its histograms (pushdown_event.hpp): only what comes out the
// same, to the last digit, as if each record had come here.
//
// A key is what records are told apart by, piece for piece. A value has a word for how many records
// there are, then those of each call.
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
    stored_location place{};
    bool has_state = false;  // a word in front says whether there is a value
    std::uint32_t begin = 0;
    std::uint32_t size = 0;  // with the word, a multiple of 8
};

struct bpf_call {
    aggregate_function what{};
    bool taken = false;          // the event has what it asks for
    bool has_own_count = false;  // not every record has it: its first word counts those that do
    stored_location place{};
    std::uint32_t begin = 0;  // word of the value
    /// Of a distribution: so many words, the first for the bucket of that index.
    std::uint32_t buckets = 0;
    std::int64_t first = 0;
    std::uint64_t step = 1;

    /// Behind the count.
    [[nodiscard]] std::uint32_t numbers() const noexcept { return begin + (has_own_count ? 1 : 0); }
};

struct bpf_plan {
    std::optional<folded_predicate> wanted{};  // nothing: all records
    std::vector<bpf_key> keys{};               // those that are not the same for all records
    std::vector<bpf_call> calls{};
    eventlog::tracefs::location text_base = eventlog::tracefs::location::rel_loc;
    std::uint32_t key_size = 8;
    std::uint32_t words = 1;  // of a value
    std::uint32_t keys_max = 1;
    std::uint64_t bytes = 0;  // that the kernel takes for it, about
    std::string by{};         // in words
};

struct bpf_plan_result {
    std::shared_ptr<const bpf_plan> plan{};  // nothing: it does not
    std::string reason{};  // why not, as a sentence without its end; empty: of such events never
};

/// How much memory tables may take in the kernel, all together.
inline constexpr std::uint64_t bpf_bytes_max = std::uint64_t{128} << 20U;

/// `where` is the predicate, or nullptr. The kernel keeps a value for each of so many CPUs.
[[nodiscard]] bpf_plan_result plan_bpf(const aggregation& asked, std::size_t keys_max,
                                       const kernel_trace_event& event, const predicate* where,
                                       std::int64_t reference_time, std::uint32_t cpus);

}  // namespace elog
