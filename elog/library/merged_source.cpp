// SPDX-License-Identifier: MIT
#include "merged_source.hpp"

#include <linux/eventlog.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "base/saturating.hpp"
#include "event_info.hpp"

namespace elog {
namespace library {
namespace {

/// The time by which a record is ordered among other sources: its own, or, for a program with a
/// clock of its own, the time at which it was emitted, as far as known. The merge does not wait for
/// times of such clocks.
timestamp order_time_of(const record& head) noexcept {
    const record_parts& parts = head.parts();
    if ((parts.flags & EVENTLOG_RECORD_CUSTOM_TIME) == 0) {
        return head.time();
    }
    return parts.place == 0 ? timestamp::min()
                            : timestamp(std::chrono::nanoseconds(
                                  parts.event->from->clock->realtime(parts.place)));
}

}  // namespace

merged_source::merged_source(std::vector<source> parts) {
    parts_.reserve(parts.size());
    for (source& from : parts) {
        parts_.push_back({std::move(from)});
    }
}

bool merged_source::may_precede(const part& other, timestamp time) const noexcept {
    const source_state& state = other.from.state();
    return !other.head && !state.is_over() && state.watermark() < time;
}

std::optional<record> merged_source::next() {
    if (current_part_) {
        parts_[*current_part_].head.reset();
        current_part_.reset();
    }
    std::size_t earliest = parts_.size();
    timestamp earliest_time = timestamp::max();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        part& each = parts_[i];
        if (each.head) {
            each.from.state().prefetch();
        } else {
            each.head = each.from.state().next();
        }
        const timestamp place = each.head ? order_time_of(*each.head) : timestamp::max();
        if (each.head && (earliest == parts_.size() || place < earliest_time)) {
            earliest = i;
            earliest_time = place;
        }
    }
    const bool is_first = std::none_of(parts_.begin(), parts_.end(), [&](const part& each) {
        return may_precede(each, earliest_time);
    });
    if (earliest == parts_.size() || !is_first) {
        return std::nullopt;
    }
    current_part_ = earliest;
    return parts_[earliest].head;
}

/// Waits for the first part that blocks the others; prefetch() limits the time until the others
/// have to be polled.
void merged_source::wait(std::chrono::nanoseconds at_most) {
    at_most = std::min(at_most, prefetch());
    for (const part& each : parts_) {
        if (!each.head && !each.from.is_over()) {
            each.from.state().wait(at_most);
            return;
        }
    }
}

bool merged_source::is_over() const noexcept {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const bool has_more = (parts_[i].head && current_part_ != i) || !parts_[i].from.is_over();
        if (has_more) {
            return false;
        }
    }
    return true;
}

void merged_source::stop() noexcept {
    for (const part& each : parts_) {
        each.from.state().stop();
    }
}

std::chrono::nanoseconds merged_source::prefetch() {
    std::chrono::nanoseconds good_for = std::chrono::nanoseconds::max();
    for (const part& each : parts_) {
        good_for = std::min(good_for, each.from.state().prefetch());
    }
    return good_for;
}

/// A part without a record may block the others; those with one only have to be polled.
std::chrono::steady_clock::time_point merged_source::due() {
    using std::chrono::steady_clock;
    steady_clock::time_point earliest = steady_clock::time_point::max();
    for (const part& each : parts_) {
        source_state& state = each.from.state();
        if (each.head) {
            const std::chrono::nanoseconds good_for = state.prefetch();
            const steady_clock::time_point now = steady_clock::now();
            if (good_for < steady_clock::time_point::max() - now) {
                earliest = std::min(earliest, now + good_for);
            }
        } else if (!each.from.is_over()) {
            earliest = std::min(earliest, state.due());
        }
    }
    return earliest;
}

timestamp merged_source::watermark() const noexcept {
    timestamp earliest = timestamp::max();
    for (const part& each : parts_) {
        if (each.head) {
            earliest = std::min(earliest, order_time_of(*each.head));
        } else if (!each.from.is_over()) {
            earliest = std::min(earliest, each.from.state().watermark());
        }
    }
    return earliest;
}

const event_info* merged_source::find(std::uint64_t origin, std::uint32_t provider,
                                      std::uint16_t event) const noexcept {
    for (const part& each : parts_) {
        if (const event_info* found = each.from.state().find(origin, provider, event)) {
            return found;
        }
    }
    return nullptr;
}

std::vector<event> merged_source::events() const {
    std::vector<event> all;
    for (const part& each : parts_) {
        const std::vector<event> some = each.from.events();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

source_totals merged_source::totals() const noexcept {
    source_totals sum;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const source_totals some = parts_[i].from.totals();
        // A record that is ready has not been given out.
        add_saturating(sum.records, some.records - (parts_[i].head && current_part_ != i ? 1 : 0));
        add_saturating(sum.lost, some.lost);
        add_saturating(sum.not_understood, some.not_understood);
        add_saturating(sum.left_out, some.left_out);
        add_saturating(sum.omitted_by_sampling, some.omitted_by_sampling);
        add_saturating(sum.omitted_by_rate, some.omitted_by_rate);
    }
    return sum;
}

std::vector<std::string> merged_source::complaints() const {
    std::vector<std::string> all;
    for (const part& each : parts_) {
        for (std::string& sentence : each.from.complaints()) {
            all.push_back(std::move(sentence));
        }
    }
    return all;
}

}  // namespace library

source merge(std::vector<source> sources) {
    return source(std::make_unique<library::merged_source>(std::move(sources)));
}

}  // namespace elog
