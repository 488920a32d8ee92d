// SPDX-License-Identifier: MIT
#include "time_merger.hpp"

#include <cstddef>
#include <cstring>
#include <queue>
#include <utility>

namespace elog {

time_merger::time_merger(std::uint32_t ring_count, fetch_run fetch)
    : streams_(ring_count), fetch_(std::move(fetch)) {}

void time_merger::add_rings(std::uint32_t count) {
    streams_.resize(streams_.size() + count);
}

void time_merger::add(const record_run& run) {
    streams_[run.ring].runs.push_back(
        {run.lost_before, std::vector<std::uint8_t>(run.bytes.begin(), run.bytes.end()),
         run.overwritten});
}

std::optional<std::uint64_t> time_merger::head_time(std::uint32_t ring) {
    stream& from = streams_[ring];
    // A run is dropped when the next record is asked for, not before: views into it were given out.
    if (from.begun && from.rest.empty()) {
        from.runs.pop_front();
        from.begun = false;
    }
    if (from.runs.empty() && fetch_) {
        if (std::optional<owned_run> fetched = fetch_(ring)) {
            from.runs.push_back(std::move(*fetched));
        }
    }
    if (from.runs.empty()) {
        return std::nullopt;
    }
    const std::span<const std::uint8_t> bytes = from.begun ? from.rest : from.runs.front().bytes;
    std::uint64_t time = 0;
    std::memcpy(&time, bytes.data() + offsetof(eventlog_record, time), sizeof time);
    return time;
}

merged_record time_merger::take_head(std::uint32_t ring) {
    stream& from = streams_[ring];
    merged_record merged;
    merged.ring = ring;
    if (!from.begun) {
        from.begun = true;
        from.rest = from.runs.front().bytes;
        merged.lost_before = from.runs.front().lost_before;
        merged.overwritten = from.runs.front().overwritten;
    }
    merged.record = elog::take_record(from.rest);
    return merged;
}

void time_merger::merge(std::uint64_t limit, std::uint64_t present, const take_record& take) {
    using head = std::pair<std::uint64_t, std::uint32_t>;
    std::priority_queue<head, std::vector<head>, std::greater<>> heads;
    const auto is_due = [&](std::uint64_t time) { return time <= limit || time > present; };
    for (std::uint32_t ring = 0; ring < streams_.size(); ++ring) {
        const std::optional<std::uint64_t> time = head_time(ring);
        if (time && is_due(*time)) {
            heads.emplace(*time, ring);
        }
    }
    while (!heads.empty()) {
        const std::uint32_t ring = heads.top().second;
        heads.pop();
        take(take_head(ring));
        // Records of a ring often come in company: as long as nobody's is earlier, no heap is
        // asked.
        std::optional<std::uint64_t> time = head_time(ring);
        while (time && is_due(*time) && (heads.empty() || head(*time, ring) < heads.top())) {
            take(take_head(ring));
            time = head_time(ring);
        }
        if (time && is_due(*time)) {
            heads.emplace(*time, ring);
        }
    }
}

}  // namespace elog
