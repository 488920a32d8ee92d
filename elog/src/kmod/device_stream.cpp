// SPDX-License-Identifier: MIT
#include "kmod/device_stream.hpp"

#include <optional>

#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

[[noreturn]] void throw_invalid_stream() {
    throw user_error(
        "{} gives what is no record: it is of another version of the kernel module. Load "
        "the one that belongs to this elog.",
        EVENTLOG_DEVICE_PATH);
}

}  // namespace

/// Returns the ring of the records behind the marker. Markers of unknown types change nothing.
std::uint32_t device_stream::take_marker(const stream_marker& marker, std::uint32_t ring) {
    if (marker.type != EVENTLOG_MARKER_RUN) {
        if (marker.type >= EVENTLOG_MARKER_REQUIRED) {
            throw_invalid_stream();
        }
        return ring;
    }
    const std::optional<eventlog_run> run = run_of(marker);
    if (!run || run->ring + std::size_t{1} >= rings_.size()) {
        throw_invalid_stream();
    }
    trailing_losses& unreported = rings_[run->ring].unreported;
    unreported.lost += run->lost;
    unreported.overwritten += run->overwritten;
    totals_[run->ring].lost += run->lost;
    totals_[run->ring].overwritten += run->overwritten;
    return run->ring;
}

void device_stream::deliver(record_run run, const run_handler& take) {
    ring_state& state = rings_[run.ring];
    run.lost_before = state.unreported.lost + state.unreported.overwritten;
    run.overwritten = state.unreported.overwritten != 0;
    run.sequence = state.next + run.lost_before;
    state.unreported = {};
    state.next = run.sequence + run.count;
    totals_[run.ring].read += run.count;
    totals_[run.ring].bytes += usual_size(run);
    take(run);
}

void device_stream::deliver_wanted(const record_run& all, const is_wanted& wanted,
                                   const run_handler& take) {
    record_run run = all;
    run.count = 0;
    kept_.clear();
    run_reader records(all);
    for (record_view record; records.next(record);) {
        if (wanted(record)) {
            records.append_last_to(kept_);
            ++run.count;
        }
    }
    rings_[all.ring].filtered_out += all.count - run.count;
    if (run.count != 0) {
        run.bytes = kept_;
        run.context = 0;
        deliver(run, take);
    }
}

void device_stream::take(std::span<const std::uint8_t> bytes, const is_wanted& wanted,
                         const run_handler& take) {
    // A read begins with a marker of a run. Until it names a ring, there is none.
    const auto no_ring = static_cast<std::uint32_t>(rings_.size());
    record_run run;
    run.ring = no_ring;
    run.events = events_;
    while (!bytes.empty()) {
        if (const std::optional<stream_marker> marker = peek_marker(bytes)) {
            run.ring = take_marker(*marker, run.ring);
            run.context = marker->context;
            bytes = bytes.subspan(marker->size);
            continue;
        }
        const checked_records checked = check_records(bytes, run.context);
        if (checked.count == 0 || run.ring == no_ring) {
            throw_invalid_stream();
        }
        run.bytes = bytes.first(checked.size);
        run.count = checked.count;
        if (wanted) {
            deliver_wanted(run, wanted, take);
        } else {
            deliver(run, take);
        }
        run.context = checked.context;
        bytes = bytes.subspan(checked.size);
    }
}

bool device_stream::has_read_up_to(std::uint32_t ring,
                                   const eventlog_statistics& counts) const noexcept {
    const ring_totals& totals = totals_[ring];
    return totals.read + rings_[ring].filtered_out + totals.overwritten >= counts.recorded &&
           totals.lost >= counts.lost;
}

}  // namespace elog
