// SPDX-License-Identifier: MIT
#include "record/run_coalescer.hpp"

#include <algorithm>

#include "record/ring_records.hpp"

namespace elog {
namespace {

constexpr std::size_t batch_size_max = std::size_t{256} << 10U;
constexpr std::size_t all_batches_max = std::size_t{128} << 20U;

}  // namespace

run_coalescer::run_coalescer(std::uint32_t ring_count)
    : batches_(ring_count),
      size_max_(std::clamp<std::size_t>(all_batches_max / std::max(ring_count, 1U),
                                        ring_size(payload_size_max), batch_size_max)) {}

void run_coalescer::add(const record_run& run, clock::time_point now, const write_run& write) {
    batch& kept = batches_[run.ring];
    // A block begins behind a gap: its header has the loss. All event numbers of a run are of one
    // recording.
    if (run.lost_before != 0 || kept.run.events != run.events ||
        kept.bytes.size() + appended_size(run) > size_max_) {
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
        kept.run.context = 0;  // append_run makes all of it independent of earlier records
        kept.since = now;
    }
    append_run(kept.bytes, run);
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
        write(take_first_records(run, size_max_));
    }
    if (!run.bytes.empty()) {
        write(run);
    }
}

}  // namespace elog
