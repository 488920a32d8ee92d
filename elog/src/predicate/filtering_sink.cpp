// SPDX-License-Identifier: MIT
#include "predicate/filtering_sink.hpp"

#include "record/ring_records.hpp"
#include "ring/clock.hpp"

namespace elog {
void filtering_sink::start(const region_view& source) {
    clock_ = clock_converter(source.header.clock);
    rings_.assign(source.geometry.ring_count, {});
    if (sampler_ != nullptr) {
        sampler_->start(rings_.size(), source.header.clock_start.clock);
    }
    downstream_.start(source);
}

void filtering_sink::take_clock(const eventlog_clock_sample& pair) {
    clock_.add(pair);
    downstream_.take_clock(pair);
}

void filtering_sink::take_provider(const provider_instance& provider) {
    try {
        if (filter_ != nullptr) {
            filter_->add(provider);
        }
    } catch (const user_error& error) {
        mismatches_.add(error.what());
    }
    if (sampler_ != nullptr) {
        sampler_->add(provider);
    }
    downstream_.take_provider(provider);
}

/// A region's first reading gives no rate of its ticks, which the limit of events per second needs.
void filtering_sink::calibrate_clock() {
    if (sampler_ != nullptr && clock_.pairs().size() == 1) {
        clock_.add(eventlog::core::read_clock_sample(clock_.clock()));
    }
}

bool filtering_sink::is_kept(const record_view& record, std::uint32_t ring) {
    return sampler_ == nullptr || sampler_->keeps(record, ring, clock_);
}

/// Reduces the run to the records that pass. Its bytes are valid until the next call.
void filtering_sink::filter_run(record_run& run) {
    kept_.clear();
    run.count = 0;
    run_reader records(run);
    for (record_view record; records.next(record);) {
        if (filter_ != nullptr && !filter_->matches(record, clock_)) {
            continue;
        }
        ++wanted_;
        if (is_kept(record, run.ring) && passed_ + run.count < limit_) {
            records.append_last_to(kept_);
            ++run.count;
        }
    }
    run.bytes = kept_;
    run.context = 0;
}

void filtering_sink::take_run(const record_run& run) {
    calibrate_clock();
    ring_state& ring = rings_[run.ring];
    record_run passing = run;
    passing.lost_before += ring.unreported;
    passing.overwritten |= ring.overwritten;
    if (filter_ == nullptr && sampler_ == nullptr && run.count <= limit_ - passed_) {
        wanted_ += run.count;  // all records pass unread and uncopied
    } else {
        filter_run(passing);
    }
    if (passing.count == 0) {
        ring.unreported = passing.lost_before;
        ring.overwritten = passing.overwritten;
        return;
    }
    // Records that do not pass have no number, so the only gaps between the others are losses.
    passing.sequence = ring.next + passing.lost_before;
    ring = {0, passing.sequence + passing.count, false};
    passed_ += passing.count;
    downstream_.take_run(passing);
}

void filtering_sink::take_loss(const loss_report& loss) {
    loss_report whole = loss;
    if (loss.scope == loss_scope::ring && loss.index < rings_.size()) {
        ring_state& ring = rings_[loss.index];
        whole.full += ring.unreported;
        whole.overwritten += ring.overwritten ? ring.unreported : 0;
        ring.unreported = 0;
    }
    downstream_.take_loss(whole);
}

void filtering_sink::finish() {
    for (std::uint32_t ring = 0; ring < rings_.size(); ++ring) {
        const std::uint64_t missing = rings_[ring].unreported;
        if (missing != 0) {
            downstream_.take_loss(
                trailing_loss(ring, missing, rings_[ring].overwritten ? missing : 0, 0));
        }
    }
    downstream_.finish();
}

}  // namespace elog
