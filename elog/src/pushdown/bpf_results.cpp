// SPDX-License-Identifier: MIT
#include "pushdown/bpf_results.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "aggregate/histogram.hpp"

namespace elog {
namespace {

using eventlog::tracefs::bpf_entry;
using word_span = std::span<const std::uint64_t>;

constexpr std::size_t counted_word_size = sizeof(std::uint64_t);

/// A record that contains the values of a key and nothing else.
class synthetic_record {
  public:
    explicit synthetic_record(const bpf_results& counts)
        : keys_(counts.plan->keys),
          payload_(counts.event->schema->events[counts.event->position].fixed_size) {
        record_.provider = counts.provider;
        record_.event = counts.event->position;
    }

    [[nodiscard]] record_view of(std::span<const std::uint8_t> key) {
        for (const bpf_key& each : keys_) {
            put(each, key.subspan(each.begin, each.size));
        }
        record_.payload = payload_;
        return record_;
    }

  private:
    void put(const bpf_key& key, std::span<const std::uint8_t> bytes) {
        if (key.has_state) {
            payload_[key.location.presence] = bytes[0];
            bytes = bytes.subspan(counted_word_size);
        }
        std::uint64_t number = 0;
        std::memcpy(&number, bytes.data(), sizeof number);
        switch (key.location.source) {
            case field_source::thread:
                record_.thread = static_cast<std::uint32_t>(number);
                return;
            case field_source::cpu:
                record_.cpu = static_cast<std::uint16_t>(number);
                return;
            default:
                // Little-endian, as on all supported machines.
                std::memcpy(payload_.data() + key.location.offset, bytes.data(), key.location.size);
        }
    }

    const std::vector<bpf_key>& keys_;
    record_view record_{};
    std::vector<std::uint8_t> payload_;
};

wide_integer wide_of(std::uint64_t bits, bool is_signed) noexcept {
    return is_signed ? wide_integer{static_cast<std::int64_t>(bits)} : wide_integer{bits};
}

wide_unsigned wide_at(word_span value, std::size_t at) noexcept {
    return wide_unsigned{value[at + 1]} << 64U | value[at];
}

/// A number that belongs to the bucket.
wide_integer number_in(const bpf_call& call, std::uint32_t bucket) noexcept {
    const std::int64_t index = call.first + std::int64_t{bucket};
    if (call.what == aggregate_function::hist) {
        return wide_integer{index} * static_cast<wide_integer>(call.step);
    }
    wide_integer begin = 0;
    wide_integer end = 0;
    histogram::log2_bucket_bounds(static_cast<int>(index), begin, end);
    return begin;
}

void add_buckets(const bpf_call& call, word_span value, partial_aggregate& into) {
    for (std::uint32_t i = 0; i < call.buckets; ++i) {
        if (const std::uint64_t times = value[call.numbers() + i]) {
            into.numbers.emplace_back(number_in(call, i), times);
        }
    }
}

/// Adds the value of one CPU.
void add_value(const bpf_call& call, word_span value, partial_aggregate& into) {
    const std::uint64_t count = value[call.has_own_count ? call.begin : 0];
    if (!call.taken || count == 0) {
        return;
    }
    const bool is_first = into.count == 0;
    into.count += count;
    const std::uint32_t at = call.numbers();
    switch (call.what) {
        case aggregate_function::count:
            return;
        case aggregate_function::sum:
        case aggregate_function::avg:
            into.sum += static_cast<wide_integer>(wide_at(value, at));
            return;
        case aggregate_function::stddev: {
            const wide_unsigned squares = wide_at(value, at + 2);
            into.sum += static_cast<wide_integer>(wide_at(value, at));
            into.squares += squares;
            into.squares_high += value[at + 4] + (into.squares < squares ? 1U : 0U);
            return;
        }
        case aggregate_function::min:
        case aggregate_function::max: {
            const wide_integer found = wide_of(value[at], call.location.is_signed);
            const bool is_further =
                call.what == aggregate_function::min ? found < into.extreme : found > into.extreme;
            into.extreme = is_first || is_further ? found : into.extreme;
            return;
        }
        default:
            add_buckets(call, value, into);
    }
}

std::uint64_t records_of(const bpf_plan& plan, const bpf_entry& entry) noexcept {
    std::uint64_t records = 0;
    for (std::size_t at = 0; at < entry.words.size(); at += plan.words) {
        records += entry.words[at];
    }
    return records;
}

struct ranked_bpf_entry {
    const bpf_results* counts = nullptr;
    const bpf_entry* entry = nullptr;
    std::uint64_t records = 0;
};

void add_entry(aggregator& computed, const ranked_bpf_entry& each) {
    if (each.records == 0) {
        return;
    }
    const bpf_plan& plan = *each.counts->plan;
    std::vector<partial_aggregate> values(plan.calls.size());
    for (std::size_t at = 0; at + plan.words <= each.entry->words.size(); at += plan.words) {
        const word_span value = word_span(each.entry->words).subspan(at, plan.words);
        for (std::size_t i = 0; i < plan.calls.size(); ++i) {
            add_value(plan.calls[i], value, values[i]);
        }
    }
    synthetic_record like(*each.counts);
    computed.merge_partial(like.of(each.entry->key), clock_converter(), each.records, values);
}

}  // namespace

void merge_bpf_results(aggregator& computed, const std::vector<bpf_results>& all) {
    std::vector<ranked_bpf_entry> ranked;
    for (const bpf_results& counts : all) {
        for (const bpf_entry& entry : counts.table.entries) {
            ranked.push_back({&counts, &entry, records_of(*counts.plan, entry)});
        }
        computed.note_overflowed(counts.table.losses.table_full);
        computed.note_missing({counts.table.losses.refused + counts.table.missed, 0});
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& one, const auto& other) {
        return one.records > other.records;
    });
    for (const ranked_bpf_entry& each : ranked) {
        add_entry(computed, each);
    }
}

}  // namespace elog
