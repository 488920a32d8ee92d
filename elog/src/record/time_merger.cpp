// SPDX-License-Identifier: MIT
#include "record/time_merger.hpp"

#include <algorithm>
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
         run.overwritten, 0, run.ring, run.context, run.events});
    held_bytes_ += run.bytes.size();
}

/// The place of the stream's head: see order_time_of.
std::uint64_t time_merger::place_of_head(const stream& from) {
    return has_custom_time(from.next) ? std::max(from.last, from.runs.front().not_before)
                                      : from.next.time;
}

/// Decodes the ring's next record into its head; returns false if there is none.
bool time_merger::load_head(std::uint32_t ring) {
    stream& from = streams_[ring];
    if (from.has_next) {
        return true;
    }
    // An exhausted run is released only now, with the request for the next record: the caller has
    // used views into it until then.
    if (from.begun && from.rest.is_at_end()) {
        held_bytes_ -= from.runs.front().bytes.size();
        from.runs.pop_front();
        from.begun = false;
    }
    if (from.runs.empty() && fetch_) {
        if (std::optional<owned_run> fetched = fetch_(ring)) {
            held_bytes_ += fetched->bytes.size();
            from.runs.push_back(std::move(*fetched));
        }
    }
    if (from.runs.empty()) {
        return false;
    }
    from.is_first = !from.begun;
    if (from.is_first) {
        from.begun = true;
        from.rest = from.runs.front().records();
    }
    from.has_next = from.rest.next(from.next);
    if (from.has_next && from.runs.front().is_ordered && from.next.time < from.last) {
        from.next.flags |= EVENTLOG_RECORD_CUSTOM_TIME;
    }
    return from.has_next;
}

merged_record time_merger::take_head(std::uint32_t ring) {
    stream& from = streams_[ring];
    merged_record merged;
    merged.ring = ring;
    if (from.is_first) {
        merged.lost_before = from.runs.front().lost_before;
        merged.overwritten = from.runs.front().overwritten;
    }
    merged.record = from.next;
    merged.place = place_of_head(from);
    if (!has_custom_time(from.next)) {
        from.last = merged.place;
    }
    from.has_next = false;
    return merged;
}

std::optional<time_merger::head> time_merger::due_head(std::uint32_t ring) {
    if (!load_head(ring)) {
        return std::nullopt;
    }
    const stream& from = streams_[ring];
    const std::uint64_t place = place_of_head(from);
    const bool is_due = place <= limit_ || place > present_;
    return is_due ? std::optional(head(place, from.next.time, ring)) : std::nullopt;
}

void time_merger::begin(std::uint64_t limit, std::uint64_t present) {
    limit_ = limit;
    present_ = present;
    current_.reset();
    heads_ = {};
    for (std::uint32_t ring = 0; ring < streams_.size(); ++ring) {
        if (const std::optional<head> due = due_head(ring)) {
            heads_.push(*due);
        }
    }
}

std::optional<merged_record> time_merger::next() {
    if (current_) {
        // Consecutive records are often of one ring. While its head is the earliest, the heap is
        // not changed.
        const std::optional<head> due = due_head(*current_);
        if (due && (heads_.empty() || *due < heads_.top())) {
            return take_head(*current_);
        }
        current_.reset();
        if (due) {
            heads_.push(*due);
        }
    }
    if (heads_.empty()) {
        return std::nullopt;
    }
    current_ = std::get<std::uint32_t>(heads_.top());
    heads_.pop();
    return take_head(*current_);
}

void time_merger::merge(std::uint64_t limit, std::uint64_t present, const take_record& take) {
    begin(limit, present);
    while (const std::optional<merged_record> record = next()) {
        take(*record);
    }
}

}  // namespace elog
