// SPDX-License-Identifier: MIT
#include "import/repeated_contents.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/saturating.hpp"

namespace elog {
namespace {

/// Of a sampling_report or a sampled_event.
template <class Counts>
void add_counts(Counts& to, const Counts& other) noexcept {
    add_saturating(to.kept, other.kept);
    add_saturating(to.by_sampling, other.by_sampling);
    add_saturating(to.by_rate, other.by_rate);
}

}  // namespace

void repeated_contents::add_omitted(const sampling_report& other) {
    sampling_report& to = notes_.omitted ? *notes_.omitted : notes_.omitted.emplace();
    add_counts(to, other);
    to.max_rate = std::max(to.max_rate, other.max_rate);
    for (const sampled_event& each : other.events) {
        const std::tuple key(each.provider, each.event, each.every);
        if (const auto known = omitted_.find(key); known != omitted_.end()) {
            add_counts(known->second, each);
        } else if (omitted_.size() < omitted_events_max) {
            omitted_.emplace(key, each);
        }
    }
}

/// Pauses get different numbers. Parts of one recording repeat the begin of a pause.
std::optional<recording_mark> repeated_contents::take_mark(std::uint32_t file,
                                                           const recording_mark& mark) {
    const recording_key& recording = recordings_[file];
    if (!known_marks_.emplace(recording, mark).second) {
        return std::nullopt;
    }
    const std::pair source(recording, mark.number);
    recording_mark taken = mark;
    taken.number = pauses_.try_emplace(source, pauses_.size() + 1).first->second;
    return taken;
}

/// The later files of a recording repeat what the providers have lost in the earlier ones.
void repeated_contents::subtract_counted(std::uint32_t file, loss_report& loss) {
    loss_report& counted = counted_[{recordings_[file], loss.index}];
    for (const auto count :
         {&loss_report::full, &loss_report::too_large, &loss_report::busy, &loss_report::unattached,
          &loss_report::refused, &loss_report::no_memory}) {
        const std::uint64_t all = std::max(loss.*count, counted.*count);
        loss.*count = all - counted.*count;
        counted.*count = all;
    }
}

void repeated_contents::add_file(std::uint64_t recording, std::uint32_t part) {
    const auto number = static_cast<std::uint32_t>(recordings_.size() + 1);
    recordings_.emplace_back(recording, recording == 0 ? number : 0);
    whole_files_[recordings_.back()] += part == 0 ? 1U : 0U;
}

bool repeated_contents::is_split(const recording_key& recording) const {
    const auto found = whole_files_.find(recording);
    return found != whole_files_.end() && found->second > 1;
}

void repeated_contents::subtract_counted(std::uint32_t file, merged_record& record) {
    const recording_key& recording = recordings_[file];
    if (record.lost_before == 0 || !is_split(recording)) {
        return;
    }
    ring_losses& ring = rings_[{recording, record.ring}];
    std::uint64_t& of_file = ring.by_file[file];
    add_saturating(of_file, record.lost_before);
    const std::uint64_t all = std::max(of_file, ring.counted);
    record.lost_before = all - ring.counted;
    ring.counted = all;
}

bool repeated_contents::take_end(std::uint32_t file, const loss_report& loss) {
    const recording_key& recording = recordings_[file];
    if (!is_split(recording)) {
        return false;
    }
    ring_losses& ring = rings_[{recording, loss.index}];
    const std::uint64_t missing = saturating_sum(ring.by_file[file], loss.full);
    if (missing > ring.end.full) {
        ring.end.full = missing;
        ring.end.overwritten = overwritten_count(loss);
    }
    ring.end.damaged = std::max(ring.end.damaged, loss.damaged);
    add_saturating(ring.end.unwritten, loss.unwritten);  // different records
    return true;
}

std::vector<loss_report> repeated_contents::losses_at_end() const {
    std::vector<loss_report> losses;
    for (const auto& [key, ring] : rings_) {
        loss_report& loss = losses.emplace_back(ring.end);
        loss.index = key.second;
        loss.full -= std::min(loss.full, ring.counted);
    }
    return losses;
}

/// Of several files of a recording, one has the counts, or all have the same.
void repeated_contents::take_notes(std::uint32_t file, const recording_notes& notes) {
    if ((!notes.omitted && !notes.scope) || !noted_.insert(recordings_[file]).second) {
        return;
    }
    if (notes.omitted) {
        add_omitted(*notes.omitted);
    }
    if (notes.scope) {
        command_scope_counts& scope = notes_.scope ? *notes_.scope : notes_.scope.emplace();
        add_saturating(scope.outside, notes.scope->outside);
        add_saturating(scope.undecided, notes.scope->undecided);
        add_saturating(scope.undecided_processes, notes.scope->undecided_processes);
    }
}

recording_notes repeated_contents::notes() const {
    recording_notes notes = notes_;
    for (const auto& [key, each] : omitted_) {
        notes.omitted->events.push_back(each);
    }
    return notes;
}

}  // namespace elog
