// SPDX-License-Identifier: MIT
#include "scope/scope_sink.hpp"

#include <algorithm>

#include "record/ring_records.hpp"

namespace elog {

void scope_sink::start(const region_view& source) {
    rings_.assign(source.geometry.ring_count, {});
    downstream_.start(source);
}

/// A provider without a process is one of the kernel, whose events belong to the thread that caused
/// them. A start time without a number is that of a process in an outer pid namespace.
void scope_sink::take_provider(const provider_instance& provider) {
    known_provider& known = providers_[provider.id];
    known = {std::nullopt, provider.pid, provider.start_time};
    if (provider.pid != 0 || provider.start_time != 0) {
        known.verdict = scope_.decide(provider.pid, provider.start_time, provider.parent);
    }
    all_inside_ = all_inside_ && known.verdict == scope_verdict::inside;
    if (known.verdict == scope_verdict::outside) {
        outside_providers_.insert_or_assign(provider.id, provider);
    } else {
        outside_providers_.erase(provider.id);
        downstream_.take_provider(provider);
    }
}

void scope_sink::count_undecided(std::uint32_t pid, std::uint64_t start_time) {
    ++undecided_;
    undecided_processes_.emplace(pid, start_time);
}

bool scope_sink::passes(const record_view& record) {
    const auto found = providers_.find(record.provider);
    if (found == providers_.end()) {  // its entry was unreadable
        count_undecided(0, record.provider);
        return true;
    }
    const known_provider& provider = found->second;
    switch (provider.verdict ? *provider.verdict : scope_.decide_thread(record.thread)) {
        case scope_verdict::outside:
            return false;
        case scope_verdict::undecided:
            count_undecided(provider.pid != 0 ? provider.pid : record.thread, provider.start_time);
            break;
        case scope_verdict::inside:
            break;
    }
    return true;
}

/// Reduces the run to the records that pass. Its bytes are valid until the next call.
void scope_sink::filter_run(record_run& run, ring_state& ring) {
    kept_.clear();
    std::uint64_t count = 0;
    run_reader records(run);
    for (record_view record; records.next(record);) {
        if (passes(record)) {
            records.append_last_to(kept_);
            ++count;
        } else {
            ++ring.outside;
            ring.outside_bytes += usual_ring_size(record);
        }
    }
    outside_ += run.count - count;
    run.count = count;
    run.bytes = kept_;
    run.context = 0;
}

void scope_sink::take_run(const record_run& run) {
    ring_state& ring = rings_[run.ring];
    record_run passing = run;
    passing.lost_before += ring.unreported;
    passing.overwritten |= ring.overwritten;
    if (!all_inside_ || providers_.empty()) {
        filter_run(passing, ring);
    }
    if (passing.count == 0) {
        ring.unreported = passing.lost_before;
        ring.overwritten = passing.overwritten;
        return;
    }
    // Records that do not pass have no number, so the only gaps between the others are losses.
    passing.sequence = ring.next + passing.lost_before;
    ring.unreported = 0;
    ring.overwritten = false;
    ring.next = passing.sequence + passing.count;
    downstream_.take_run(passing);
}

/// A loss follows its provider, also one of another process.
void scope_sink::pass_provider_of(const loss_report& loss) {
    const auto outside = loss.scope == loss_scope::provider ? outside_providers_.find(loss.index)
                                                            : outside_providers_.end();
    if (outside != outside_providers_.end()) {
        downstream_.take_provider(outside->second);
        outside_providers_.erase(outside);
    }
}

/// Of a provider that has not attached, the process is known as well.
bool scope_sink::is_outside(const loss_report& loss) {
    const auto found = providers_.find(loss.index);
    if (found != providers_.end()) {
        return found->second.verdict == scope_verdict::outside;
    }
    return (loss.pid != 0 || loss.start_time != 0) &&
           scope_.decide(loss.pid, loss.start_time, 0) == scope_verdict::outside;
}

/// Nothing if another process has counted all of it.
std::optional<loss_report> scope_sink::passing_part(const loss_report& loss) {
    if (loss.scope != loss_scope::provider || !is_outside(loss)) {
        return loss;
    }
    outside_losses_.insert_or_assign(loss.index, loss);
    loss_report part = loss;
    part.too_large = part.busy = part.unattached = part.refused = 0;
    return part.full != 0 ? std::optional(part) : std::nullopt;
}

void scope_sink::take_loss(const loss_report& loss) {
    const std::optional<loss_report> passing = passing_part(loss);
    if (!passing) {
        return;
    }
    loss_report whole = *passing;
    if (loss.scope == loss_scope::ring && loss.index < rings_.size()) {
        ring_state& ring = rings_[loss.index];
        whole.full += ring.unreported;
        whole.overwritten += ring.overwritten ? ring.unreported : 0;
        ring.unreported = 0;
    }
    pass_provider_of(loss);
    downstream_.take_loss(whole);
}

void scope_sink::note_loss(const loss_report& loss) {
    if (const std::optional<loss_report> passing = passing_part(loss)) {
        pass_provider_of(loss);
        downstream_.note_loss(*passing);
    }
}

void scope_sink::finish() {
    for (std::uint32_t ring = 0; ring < rings_.size(); ++ring) {
        const ring_state& state = rings_[ring];
        if (state.unreported != 0) {
            downstream_.take_loss(
                trailing_loss(ring, state.unreported, state.overwritten ? state.unreported : 0, 0));
        }
    }
    downstream_.finish();
}

std::uint64_t scope_sink::lost_outside() const noexcept {
    std::uint64_t sum = 0;
    for (const auto& [provider, loss] : outside_losses_) {
        add_saturating(sum, lost_count(loss));
    }
    return sum;
}

void scope_sink::subtract_outside(recording_summary& summary) const {
    const auto subtract = [](std::uint64_t& from, std::uint64_t count) {
        from -= std::min(from, count);
    };
    for (const auto& [provider, loss] : outside_losses_) {
        subtract(summary.too_large, loss.too_large);
        subtract(summary.busy, loss.busy);
        subtract(summary.unattached, loss.unattached);
        subtract(summary.refused, loss.refused);
        for (lossy_provider& each : summary.lossy_providers) {
            if (each.provider == loss.provider && each.pid == loss.pid) {
                each.lost = {.full = each.lost.full, .no_memory = each.lost.no_memory};
            }
        }
    }
    subtract(summary.lost, lost_outside());
    std::erase_if(summary.lossy_providers, [](const lossy_provider& each) {
        const provider_losses& lost = each.lost;
        return lost.full + lost.too_large + lost.busy + lost.unattached + lost.refused == 0;
    });
    subtract(summary.events, outside_);
    for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
        subtract(summary.bytes, rings_[ring].outside_bytes);
        if (ring < summary.rings.size()) {
            subtract(summary.rings[ring].read, rings_[ring].outside);
            subtract(summary.rings[ring].bytes, rings_[ring].outside_bytes);
        }
    }
}

}  // namespace elog
