// SPDX-License-Identifier: MIT
#include "record/run_coalescer.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr std::size_t batch_size_max = std::size_t{256} << 10U;
constexpr std::size_t all_batches_max = std::size_t{128} << 20U;

/// Removes and returns the first records of a run, up to `size_max` bytes, but at least one.
record_run take_first(record_run& rest, std::size_t size_max) {
    record_run first = rest;
    first.count = 0;
    std::span<const std::uint8_t> bytes = rest.bytes;
    std::size_t size = 0;
    while (!bytes.empty()) {
        static_cast<void>(take_record(bytes));
        const std::size_t next = rest.bytes.size() - bytes.size();
        if (first.count != 0 && next > size_max) {
            break;
        }
        size = next;
        ++first.count;
    }
    first.bytes = rest.bytes.first(size);
    rest.bytes = rest.bytes.subspan(size);
    rest.count -= first.count;
    rest.sequence += first.count;
    rest.lost_before = 0;
    rest.overwritten = false;
    return first;
}

}  // namespace

run_coalescer::run_coalescer(std::uint32_t ring_count)
    : batches_(ring_count),
      size_max_(std::clamp<std::size_t>(all_batches_max / std::max(ring_count, 1U),
                                        EVENTLOG_RECORD_SIZE_MAX, batch_size_max)) {}

void run_coalescer::add(const record_run& run, clock::time_point now, const write_run& write) {
    batch& kept = batches_[run.ring];
    // A block begins behind a gap: its header has the loss.
    if (run.lost_before != 0 || kept.bytes.size() + run.bytes.size() > size_max_) {
        flush_ring(kept, write);
    }
    if (run.bytes.size() > size_max_ / 2) {
        flush_ring(kept, write);
        write_split(run, write);
        return;
    }
    if (kept.bytes.empty()) {
        kept.run = run;
        kept.run.count = 0;
        kept.since = now;
    }
    kept.bytes.insert(kept.bytes.end(), run.bytes.begin(), run.bytes.end());
    kept.run.count += run.count;
}

void run_coalescer::flush(clock::time_point kept_since, const write_run& write) {
    for (batch& kept : batches_) {
        if (!kept.bytes.empty() && kept.since <= kept_since) {
            flush_ring(kept, write);
        }
    }
}

void run_coalescer::flush_ring(batch& kept, const write_run& write) {
    if (!kept.bytes.empty()) {
        kept.run.bytes = kept.bytes;
        write(kept.run);
        kept.run.bytes = {};
        kept.bytes.clear();
    }
}

void run_coalescer::write_split(record_run run, const write_run& write) const {
    while (run.bytes.size() > size_max_) {
        write(take_first(run, size_max_));
    }
    if (!run.bytes.empty()) {
        write(run);
    }
}

}  // namespace elog
