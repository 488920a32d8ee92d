// SPDX-License-Identifier: MIT
#include "record/merged_timeline.hpp"

#include <algorithm>

#include "record/ring_records.hpp"

namespace elog {

std::uint64_t merged_timeline::time(std::uint64_t clock) const noexcept {
    if (clock_) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(clock_->monotonic(clock), 0));
    }
    // Saturates: a damaged file may contain any time.
    const auto later = static_cast<std::uint64_t>(offset_);
    if (offset_ >= 0) {
        return clock > UINT64_MAX - later ? UINT64_MAX : clock + later;
    }
    return clock < 0 - later ? 0 : clock + later;
}

void merged_timeline::move(owned_run& run) const {
    if (rings_of_file_ == 0) {
        return;
    }
    run.not_before = run.not_before == 0 ? 0 : time(run.not_before);
    run.bytes = map_times(run.records(), [this](std::uint64_t clock) { return time(clock); });
    run.context = 0;
}

clock_converter merged_timeline::readings(const clock_converter& of_file) const {
    if (rings_of_file_ == 0) {
        return of_file;
    }
    clock_converter moved(EVENTLOG_CLOCK_MONOTONIC);
    for (const eventlog_clock_sample& pair : of_file.pairs()) {
        const std::uint64_t moved_time = time(pair.clock);
        moved.add({moved_time, moved_time, pair.realtime});
    }
    for (clock_offsets offsets : of_file.offsets()) {
        offsets.clock = time(offsets.clock);
        moved.add_offsets(offsets);
    }
    return moved;
}

std::optional<std::uint32_t> merged_timeline::ring_of_file(std::uint32_t ring) const noexcept {
    if (rings_of_file_ == 0) {
        return ring;
    }
    if (ring == rings_ - 1) {
        return rings_of_file_ - 1;
    }
    return ring < rings_of_file_ - 1 ? std::optional(ring) : std::nullopt;
}

std::uint32_t merged_timeline::ring(std::uint32_t of_file) const noexcept {
    const bool is_moved = rings_of_file_ != 0 && of_file >= rings_of_file_ - 1;
    return is_moved ? rings_ - 1 : of_file;
}

}  // namespace elog
